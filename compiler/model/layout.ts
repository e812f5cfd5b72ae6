import type { IToken, TokenType } from "chevrotain"
import { numberOf, tellOdd } from "../core/odd-characters.ts"
import type { ModelMistakes } from "./mistakes.ts"
import {
  body,
  close,
  closeList,
  condition,
  define,
  endOf,
  extend,
  module,
  name,
  newline,
  open,
  openList,
  relations,
  type StrangeText,
  type,
} from "./tokens.ts"

/** One statement: the tokens of a line and of its continuation lines. */
export interface StatementLine {
  readonly tokens: readonly IToken[]
  /** Part of it was reported already, so only its first words may be used. */
  readonly broken: boolean
}

/** Maximum nesting of parentheses. The parser is recursive, and no readable model needs more. */
export const nestingMax = 64

/**
 * Splits the tokens into statements. A statement is one line; lists in brackets and the header of a condition may span lines. An opening
 * bracket without its closing one is reported here. It ends before the next line that begins a statement, so that only one statement is lost.
 */
export function layout(
  tokens: readonly IToken[],
  strange: readonly StrangeText[],
  mistakes: ModelMistakes,
): StatementLine[] {
  const lines: StatementLine[] = []
  const rows = physicalLines(tokens, strange)
  for (let at = 0; at < rows.length; ) {
    const statement = new Statement(rows[at++] as Row)
    while (at < rows.length && statement.goesOn(rows[at] as Row)) statement.join(rows[at++] as Row)
    lines.push({ tokens: statement.tokens, broken: statement.report(mistakes) })
  }
  return lines
}

interface Row {
  readonly tokens: IToken[]
  readonly strange: StrangeText[]
}

/** Lines that are not empty. */
function physicalLines(tokens: readonly IToken[], strange: readonly StrangeText[]): Row[] {
  const rows: Row[] = []
  let row: Row = { tokens: [], strange: [] }
  let next = 0
  const finish = (offset: number) => {
    for (let each = strange[next]; each !== undefined && each.start < offset; each = strange[++next])
      row.strange.push(each)
    if (row.tokens.length > 0 || row.strange.length > 0) rows.push(row)
    row = { tokens: [], strange: [] }
  }
  for (const token of tokens) {
    if (token.tokenType === newline) finish(token.startOffset)
    else row.tokens.push(token)
  }
  finish(Number.POSITIVE_INFINITY)
  return rows
}

const closers = new Map<TokenType, TokenType>([
  [close, open],
  [closeList, openList],
])

/** A statement and the lines that continue it. Open brackets continue it, and so does a deeper `{ … }`. */
class Statement {
  readonly tokens: IToken[] = []
  #strange: readonly StrangeText[] = []
  /** Opening brackets without a closing one so far. */
  readonly #open: IToken[] = []
  #mismatched = false
  #tooDeep: IToken | undefined
  /** A parenthesis of a relation that is still open at the end of a line. */
  #acrossLines: IToken | undefined

  constructor(row: Row) {
    this.#take(row)
  }

  /** Whether this line continues the statement. */
  goesOn({ tokens: [first, second] }: Row): boolean {
    if (first === undefined) return this.#open.length > 0
    if (this.#isHeader && first.tokenType === body) return this.tokens.at(-1)?.tokenType !== body
    return this.#open.length > 0 && !beginsStatement(first, second)
  }

  join(row: Row): void {
    const last = this.#open.at(-1)
    if (last?.tokenType === open && this.tokens[0]?.tokenType === define) this.#acrossLines ??= last
    this.#take(row)
  }

  /** Reports mistakes of the statement as a whole. Returns true when it can't be parsed. */
  report(mistakes: ModelMistakes): boolean {
    const { file } = mistakes
    // Only the first is reported: a text in quotes, for example, has two.
    for (const { start, end } of this.#strange) {
      const odd = tellOdd(file.text, start)
      const detail = odd?.detail ?? `unexpected \`${printable(file.text.slice(start, end))}\``
      mistakes.add("SP4006", file.span(start, end), detail, odd === undefined ? {} : { help: odd.help })
    }
    const unclosed = this.#open.at(-1)
    if (this.#tooDeep !== undefined) {
      const { startOffset } = this.#tooDeep
      mistakes.add(
        "SP4005",
        file.span(startOffset, startOffset + 1),
        `parentheses are nested more than ${nestingMax} levels deep`,
      )
    } else if (unclosed !== undefined && !this.#mismatched) {
      const closer = unclosed.tokenType === open ? ")" : "]"
      const span = file.span(unclosed.startOffset, unclosed.startOffset + 1)
      mistakes.add("SP4007", span, `this \`${unclosed.image}\` has no \`${closer}\``, {
        help: `Add the missing \`${closer}\`.`,
      })
      return true
    } else if (this.#acrossLines !== undefined) {
      const { startOffset } = this.#acrossLines
      mistakes.add("SP4010", file.span(startOffset, startOffset + 1), "this `(` is closed on a later line")
    }
    return this.#strange.length > 0 || this.#tooDeep !== undefined
  }

  get #isHeader(): boolean {
    return this.tokens[0]?.tokenType === condition
  }

  /** Adds the tokens of a line and follows the brackets. */
  #take(row: Row): void {
    if (this.#strange.length === 0) this.#strange = row.strange.slice(0, 1)
    for (const token of row.tokens) {
      this.tokens.push(token)
      if (token.tokenType === open || token.tokenType === openList) {
        this.#open.push(token)
        if (this.#open.length > nestingMax) this.#tooDeep ??= token
      }
      const opener = closers.get(token.tokenType)
      if (opener === undefined) continue
      if (this.#open.at(-1)?.tokenType === opener) this.#open.pop()
      else this.#mismatched = true
    }
  }
}

/** Whether the words can only begin a statement, even inside brackets, where `type` and `model` may be names. */
function beginsStatement(first: IToken, second: IToken | undefined): boolean {
  const kind = first.tokenType
  if (kind === define || kind === relations || kind === condition) return true
  if (second === undefined || endOf(first) === second.startOffset) return false
  if (kind === extend) return second.tokenType === type
  return (kind === type || kind === module) && isName(second)
}

function isName(token: IToken): boolean {
  return token.tokenType.CATEGORIES?.includes(name) ?? false
}

/** A short printable form of characters that may be invisible. */
function printable(text: string): string {
  const shown = [...text]
    .slice(0, 20)
    .map((sign) => (/[\p{C}\p{Z}]/u.test(sign) ? numberOf(sign.codePointAt(0) ?? 0) : sign))
  return shown.join("") + (text.length > 20 ? "…" : "")
}
