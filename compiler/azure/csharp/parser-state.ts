import type { Token } from "./lexer.ts"
import { CsharpMistake, tooLarge, workMax } from "./source.ts"
import type { BlockSyntax, ExpressionSyntax, PatternSyntax, StatementSyntax } from "./syntax-tree.ts"

/** Maximum nesting of brackets, operators and statements. */
const depthMax = 120

/** Rules that call each other across files. `parser.ts` combines them. */
export interface Rules {
  readonly expression: (parser: Parser) => ExpressionSyntax
  readonly literal: (parser: Parser) => ExpressionSyntax | undefined
  readonly pattern: (parser: Parser) => PatternSyntax
  readonly creation: (parser: Parser) => ExpressionSyntax
  readonly interpolated: (parser: Parser) => ExpressionSyntax
  readonly query: (parser: Parser) => ExpressionSyntax | undefined
  readonly block: (parser: Parser) => BlockSyntax
  readonly statement: (parser: Parser) => StatementSyntax
}

/** Words that continue a query. Elsewhere they are ordinary names. */
const queryWords = new Set(
  "from where select group into orderby join let in on equals by ascending descending".split(" "),
)

/** The tokens and the current position. */
export class Parser {
  readonly tokens: readonly Token[]
  readonly rules: Rules
  at = 0
  /** Nesting depth of the queries being parsed. */
  queries = 0
  #depth: number
  readonly #made: { nodes: number }

  /** `outer` parses the string whose hole contains these tokens: both share their limits. */
  constructor(tokens: readonly Token[], rules: Rules, outer?: Parser) {
    this.tokens = tokens
    this.rules = rules
    this.#depth = outer === undefined ? 0 : outer.#depth
    this.#made = outer === undefined ? { nodes: 0 } : outer.#made
  }
  get token(): Token {
    return this.tokens[this.at] as Token
  }
  peek(distance: number): Token {
    return this.tokens[Math.min(this.at + distance, this.tokens.length - 1)] as Token
  }
  /** The end of the previous token. */
  get end(): number {
    return this.tokens[this.at - 1]?.end ?? 0
  }
  isSign(text: string, distance = 0): boolean {
    const token = this.peek(distance)
    return token.kind === "sign" && token.text === text
  }
  isWord(text: string, distance = 0): boolean {
    const token = this.peek(distance)
    return token.kind === "name" && token.text === text
  }
  /** Whether a clause of a query continues here, so that the word is neither an operand nor a name declared by a pattern. */
  goesOn(): boolean {
    return this.queries > 0 && this.token.kind === "name" && queryWords.has(this.token.text)
  }
  take(): Token {
    const { token } = this
    if (token.kind !== "end") this.at++
    return token
  }
  tryTake(text: string): boolean {
    const { token } = this
    if ((token.kind !== "sign" && token.kind !== "name") || token.text !== text) return false
    this.at++
    return true
  }
  expect(text: string): Token {
    const { token } = this
    if ((token.kind !== "sign" && token.kind !== "name") || token.text !== text)
      throw this.wrong(`\`${text}\``)
    this.at++
    return token
  }
  name(): Token {
    const { token } = this
    if (token.kind !== "name") throw this.wrong("a name")
    this.at++
    return token
  }
  /** A finding at the current token. `wanted` completes “expected …”. */
  wrong(wanted: string): CsharpMistake {
    const { token } = this
    const shown = token.kind === "end" ? "the end of the expression" : `\`${token.text.slice(0, 40)}\``
    return new CsharpMistake(
      "syntax",
      `expected ${wanted}, found ${shown}`,
      token.start,
      token.end,
      "Write the expression in the syntax of C# 7.",
    )
  }
  /** Counts nodes that are not in the source: each clause of a query repeats the previous names. @throws CsharpMistake when there are too many */
  makes(nodes: number, place: { readonly start: number; readonly end: number }): void {
    this.#made.nodes += nodes
    if (this.#made.nodes > workMax) throw tooLarge(place)
  }
  /** Runs a rule with the depth increased by one. */
  nested<T>(rule: () => T): T {
    if (this.#depth >= depthMax)
      throw new CsharpMistake(
        "limit",
        "the expression is nested too deeply",
        this.token.start,
        this.token.end,
        "Use variables for its parts.",
      )
    this.#depth++
    try {
      return rule()
    } finally {
      this.#depth--
    }
  }
  /** Runs a rule and returns to its start when it finds nothing. */
  attempt<T>(rule: () => T | undefined): T | undefined {
    const before = this.at
    const found = rule()
    if (found === undefined) this.at = before
    return found
  }
}
