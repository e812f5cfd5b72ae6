import type { Token } from "./lexer.ts"
import { CsharpMistake, tooLarge, workMax } from "./source.ts"
import type { BlockSyntax, ExpressionSyntax, PatternSyntax, StatementSyntax } from "./syntax-tree.ts"

/** Brackets, operators and statements inside each other. */
const depthMax = 120

/** The rules that call each other across files: put together by `parser.ts`. */
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

/** Words that go on with a query, and are names everywhere else. */
const queryWords = new Set(
  "from where select group into orderby join let in on equals by ascending descending".split(" "),
)

/** The tokens and the place among them. */
export class Parser {
  readonly tokens: readonly Token[]
  readonly rules: Rules
  at = 0
  /** Queries that are being read, one inside the other. */
  queries = 0
  #depth: number
  readonly #made: { nodes: number }

  /** `outer` reads the text in whose hole these tokens stand: its bounds are theirs. */
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
  /** The end of the token before. */
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
  /** Whether a clause of a query goes on here: no operand, and no name for what a pattern found. */
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
  wrong(wanted: string): CsharpMistake {
    const { token } = this
    const shown = token.kind === "end" ? "the end of the expression" : `\`${token.text.slice(0, 40)}\``
    return new CsharpMistake(
      "syntax",
      `expected ${wanted}, found ${shown}`,
      token.start,
      token.end,
      "Write the expression as C# 7 has it.",
    )
  }
  /** Counts nodes which the text does not have: each clause of a query repeats the names before it. @throws CsharpMistake when there were too many */
  makes(nodes: number, place: { readonly start: number; readonly end: number }): void {
    this.#made.nodes += nodes
    if (this.#made.nodes > workMax) throw tooLarge(place)
  }
  /** Runs a rule one level deeper. */
  nested<T>(rule: () => T): T {
    if (this.#depth >= depthMax)
      throw new CsharpMistake(
        "limit",
        "the expression is nested too deeply",
        this.token.start,
        this.token.end,
        "Set variables for its parts.",
      )
    this.#depth++
    try {
      return rule()
    } finally {
      this.#depth--
    }
  }
  /** Runs a rule and goes back to where it began when it finds no reading. */
  attempt<T>(rule: () => T | undefined): T | undefined {
    const before = this.at
    const found = rule()
    if (found === undefined) this.at = before
    return found
  }
}
