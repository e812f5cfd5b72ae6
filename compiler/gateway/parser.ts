import { EmbeddedActionsParser, type IToken } from "chevrotain"
import type { DiagnosticCode } from "../core/catalogue.ts"
import { compactList, compactText } from "../core/compact.ts"
import type { Report } from "../core/diagnostic.ts"
import { numberOf, oddCharacterAt } from "../core/odd-characters.ts"
import { unseen } from "../core/shown.ts"
import type { SourceFile } from "../core/source.ts"
import type { Block, Comment, Document, Statement } from "./ast.ts"
import { Builder, type ElsePart } from "./build.ts"
import { layout } from "./layout.ts"
import { checkTokens } from "./lexical.ts"
import { Mistakes } from "./mistakes.ts"
import type { TokenProblem } from "./scan.ts"
import { Close, Else, End, endOf, Item, Open, tokenize, tokenTypes } from "./tokens.ts"

/**
 * The grammar of gateway.conf. It accepts every sequence of tokens that the layout pass emits, so it needs no error recovery, and its own
 * messages never appear.
 */
export class GatewayParser extends EmbeddedActionsParser {
  builder: Builder | undefined

  /** @param skipValidations skips the validation of the grammar. A test creates a parser that validates it. */
  constructor(skipValidations = true) {
    super(tokenTypes, {
      maxLookahead: 1,
      recoveryEnabled: false,
      nodeLocationTracking: "none",
      skipValidations,
    })
    this.performSelfAnalysis()
  }

  /** document := (statement End)* */
  readonly document = this.RULE("document", (): readonly Statement[] => this.SUBRULE(this.statements))

  /** statements := (statement End)* */
  readonly statements = this.RULE("statements", (): readonly Statement[] => {
    const statements: Statement[] = []
    this.MANY(() => {
      statements.push(this.SUBRULE(this.statement))
      this.CONSUME(End)
    })
    return compactList(statements)
  })

  /** statement := Item* (block (Else Item* block?)*)?, with at least one item or a block */
  readonly statement = this.RULE("statement", (): Statement => {
    const items: IToken[] = []
    const elses: ElsePart[] = []
    let block: Block | undefined
    this.MANY(() => items.push(this.CONSUME(Item)))
    this.OPTION(() => {
      block = this.SUBRULE(this.block)
      this.MANY2(() => elses.push(this.SUBRULE(this.otherwise)))
    })
    return this.ACTION(() => (this.builder as Builder).statement(items, block, elses))
  })

  /** otherwise := Else Item* block? */
  readonly otherwise = this.RULE("otherwise", (): ElsePart => {
    const keyword = this.CONSUME(Else)
    const items: IToken[] = []
    let block: Block | undefined
    this.MANY(() => items.push(this.CONSUME(Item)))
    this.OPTION(() => {
      block = this.SUBRULE(this.block)
    })
    return { keyword, items, block }
  })

  /** block := `{` statements `}` */
  readonly block = this.RULE("block", (): Block => {
    const open = this.CONSUME(Open)
    const statements = this.SUBRULE(this.statements)
    const close = this.CONSUME(Close)
    return this.ACTION(() => (this.builder as Builder).block(open, statements, close))
  })
}

const parser = new GatewayParser()

/**
 * Parses a file of gateway.conf to its syntax tree. Mistakes in the file never throw: they are added to `report` (SP1xxx, at most one per
 * line). The tree has everything that was understood. Statements that were not or only partly understood are marked `broken`. The grammar
 * is in the README of this folder.
 *
 * @example
 * const report = new Report()
 * const document = parseGateway(new SourceFile("gateway.conf", "api orders { path \"/orders\" }"), report)
 */
export function parseGateway(file: SourceFile, report: Report): Document {
  return parseWithCodes(file, report).document
}

/** As `parseGateway`, with the codes of all mistakes: a line has only one finding, but can have several mistakes. */
export function parseWithCodes(
  file: SourceFile,
  report: Report,
): { readonly document: Document; readonly codes: ReadonlySet<DiagnosticCode> } {
  const mistakes = new Mistakes(file, report)
  const { tokens, comments } = tokenize(file.text)
  checkCharacters(file.text, mistakes)
  checkTokens(tokens, mistakes)
  const statements = parseTokens(layout(tokens, mistakes), new Builder(mistakes))
  const document = { file, statements, comments: comments.map((token) => commentOf(file, token)) }
  return { document, codes: mistakes.codes }
}

/** The parser object is made once, because chevrotain analyses the grammar in its constructor. It is used by one call at a time. */
function parseTokens(tokens: IToken[], builder: Builder): readonly Statement[] {
  parser.input = tokens
  parser.builder = builder
  try {
    const statements = parser.document()
    const error = parser.errors[0]
    if (error !== undefined) throw new Error(`the grammar does not fit its input: ${error.message}`)
    return statements
  } finally {
    // Release the tokens, which keep the file's text in memory.
    parser.input = []
    parser.builder = undefined
  }
}

function commentOf(file: SourceFile, token: IToken): Comment {
  const lineStart = file.text.lastIndexOf("\n", token.startOffset - 1) + 1
  const ownLine = file.text.slice(lineStart, token.startOffset).trim() === ""
  return {
    text: compactText(token.image.trimEnd()),
    ownLine,
    span: file.span(token.startOffset, endOf(token)),
  }
}

const unwanted = unseen("g")

/** Reports invisible characters everywhere, including texts, comments and expressions. */
function checkCharacters(text: string, mistakes: Mistakes): void {
  unwanted.lastIndex = 0
  for (let found = unwanted.exec(text); found !== null; found = unwanted.exec(text))
    mistakes.add(problemOf(found[0], found.index))
}

/** A character that no text may contain. Invisible ones could make a text look different from what it means. */
function problemOf(sign: string, start: number): TokenProblem {
  const end = start + 1
  if (sign === "\r")
    return {
      ...{ code: "SP1032", start, end, detail: "no newline follows this carriage return" },
      fix: [{ start, end, put: "\n" }],
    }
  const code = sign.charCodeAt(0)
  const odd = oddCharacterAt(sign, 0)
  if (odd === undefined)
    return { code: "SP1030", start, end, detail: `there is a control character ${numberOf(code)} here` }
  const help = `Remove it. In a string, write it as \`\\u{${code.toString(16).toUpperCase()}}\`.`
  const detail = `there is an invisible character ${odd.name} here`
  return { code: "SP1031", start, end, detail, help, fix: [{ start, end, put: "" }] }
}
