import type { IToken } from "chevrotain"
import type { Mistakes } from "./mistakes.ts"
import { brace0, type IndentedLine, repairByCount, reportStray, reportUnclosed } from "./repair-by-count.ts"
import { indentOf } from "./scan.ts"
import { Close, endOf, Newline, Open } from "./tokens.ts"

/** Whether every `{` has its `}`. The indentation of a balanced file is never checked. */
export function balanced(tokens: readonly IToken[]): boolean {
  let depth = 0
  for (const token of tokens) {
    if (token.tokenType === Open) depth++
    else if (token.tokenType === Close && --depth < 0) return false
  }
  return depth === 0
}

/**
 * Balances braces with as few insertions and removals as the indentation suggests, and reports each. Without indentation, or if indentation
 * would need far more repairs than counting (mixed tabs and spaces), it counts braces instead.
 */
export function repairBraces(tokens: readonly IToken[], mistakes: Mistakes): IToken[] {
  const lines = splitLines(tokens, mistakes.file.text)
  if (!isIndented(lines)) return repairByCount(lines, mistakes)
  const byIndent = mistakes.trial((trial) => new Repair(trial).run(lines))
  const byCount = mistakes.trial((trial) => repairByCount(lines, trial))
  return byIndent > 2 * byCount + 2 ? repairByCount(lines, mistakes) : new Repair(mistakes).run(lines)
}

/** Lines with their indentation. Empty lines and comments do not count. */
function splitLines(tokens: readonly IToken[], text: string): IndentedLine[] {
  const lines: IndentedLine[] = []
  let current: IToken[] = []
  const finish = (): void => {
    const first = current[0]
    if (first !== undefined) lines.push({ tokens: current, indent: indentOf(text, first.startOffset) })
    current = []
  }
  for (const token of tokens) {
    if (token.tokenType === Newline) finish()
    else current.push(token)
  }
  finish()
  return lines
}

/** Whether nearly all lines after a `{` at the end of a line are indented deeper. */
function isIndented(lines: readonly IndentedLine[]): boolean {
  let opened = 0
  let deeper = 0
  for (const [index, line] of lines.entries()) {
    const next = lines[index + 1]
    if (line.tokens.at(-1)?.tokenType !== Open || next === undefined || startsWithClose(next)) continue
    opened++
    if (next.indent > line.indent) deeper++
  }
  return deeper >= 0.5 * opened
}

function startsWithClose(line: IndentedLine): boolean {
  return line.tokens[0]?.tokenType === Close
}

interface OpenBlock {
  readonly brace: IToken
  readonly line: number
  readonly indent: number
}

/** A line without `{` that is followed by deeper lines: a `{` may be missing. `at` is the index in the output. */
interface Suspect {
  readonly at: number
  readonly offset: number
  readonly indent: number
}

/** Closes blocks by indentation. Only used for files in which braces do not balance. */
class Repair {
  readonly #mistakes: Mistakes
  readonly #out: IToken[] = []
  readonly #open: OpenBlock[] = []
  #suspects: Suspect[] = []
  readonly #inserted = new Map<number, IToken>()

  constructor(mistakes: Mistakes) {
    this.#mistakes = mistakes
  }

  /** Inserted braces are merged at the end, because their place is known only after later lines. */
  run(lines: readonly IndentedLine[]): IToken[] {
    for (const [index, line] of lines.entries()) this.#line(index, line, lines[index + 1], lines[index - 1])
    while (this.#open.length > 0) this.#closeTop()
    const out: IToken[] = []
    for (const [index, token] of this.#out.entries()) {
      const before = this.#inserted.get(index)
      if (before !== undefined) out.push(before)
      out.push(token)
    }
    return out
  }

  /** One line. A `}` at its beginning closes the block with the same indentation, one inside of it the block that was opened last. */
  #line(
    number: number,
    line: IndentedLine,
    next: IndentedLine | undefined,
    before: IndentedLine | undefined,
  ): void {
    this.#beginLine(line, before)
    for (const [index, token] of line.tokens.entries()) {
      if (token.tokenType === Open) this.#open.push({ brace: token, line: number, indent: line.indent })
      if (token.tokenType !== Close) this.#out.push(token)
      else if (index === 0) this.#closeAtStart(token, line, next)
      else this.#closeInside(token, number, next)
    }
    this.#out.push(newlineAfter(line))
  }

  /**
   * Closes the blocks that end before this line according to its indentation. If this line is deeper than expected, records the line before
   * as a suspect.
   */
  #beginLine(line: IndentedLine, before: IndentedLine | undefined): void {
    const closing = startsWithClose(line)
    const over = (block: OpenBlock | undefined): boolean =>
      block !== undefined && (closing ? block.indent > line.indent : block.indent >= line.indent)
    while (over(this.#open.at(-1))) this.#closeTop()
    if (closing) return
    while ((this.#suspects.at(-1)?.indent ?? -1) >= line.indent) this.#suspects.pop()
    const last = before?.tokens.at(-1)
    if (before === undefined || last === undefined || line.indent <= before.indent) return
    if (last.tokenType === Open || line.tokens[0]?.tokenType === Open) return
    // In the output, the line before ends with its newline. The brace goes before that newline.
    this.#suspects.push({ at: this.#out.length - 1, offset: endOf(last), indent: before.indent })
  }

  /** A `}` at the start of a line closes the block that began on a line with the same indentation. */
  #closeAtStart(token: IToken, line: IndentedLine, next: IndentedLine | undefined): void {
    const top = this.#open.at(-1)
    if (top !== undefined && top.indent === line.indent) {
      this.#open.pop()
      this.#out.push(token)
      return
    }
    const suspect = this.#takeSuspect(line.indent)
    if (suspect !== undefined) {
      const { offset } = suspect
      const detail = "the block that follows has no opening `{`"
      this.#mistakes.add({ code: "SP1002", start: Math.max(0, offset - 1), end: offset, detail })
      this.#inserted.set(suspect.at, brace0(Open, offset))
      this.#out.push(token)
    } else this.#closeIfOver(token, next)
  }

  /**
   * A `}` elsewhere closes a block opened on its line. Otherwise it only closes blocks that end according to the next line's indentation.
   */
  #closeInside(token: IToken, number: number, next: IndentedLine | undefined): void {
    if (this.#open.at(-1)?.line === number) {
      this.#open.pop()
      this.#out.push(token)
    } else this.#closeIfOver(token, next)
  }

  #closeIfOver(token: IToken, next: IndentedLine | undefined): void {
    const top = this.#open.at(-1)
    const nextCloses = next !== undefined && startsWithClose(next) && next.indent === top?.indent
    if (top !== undefined && !nextCloses && (next?.indent ?? -1) <= top.indent) {
      this.#open.pop()
      this.#out.push(token)
    } else reportStray(token, this.#mistakes)
  }

  #takeSuspect(indent: number): Suspect | undefined {
    while ((this.#suspects.at(-1)?.indent ?? -1) > indent) this.#suspects.pop()
    return this.#suspects.at(-1)?.indent === indent ? this.#suspects.pop() : undefined
  }

  /** Closes the innermost block where its last line ends. */
  #closeTop(): void {
    const block = this.#open.pop() as OpenBlock
    reportUnclosed(block.brace, this.#mistakes)
    // After the last token, before the newline that ends its line.
    const newline = this.#out.at(-1)?.tokenType === Newline ? this.#out.pop() : undefined
    const last = this.#out.at(-1) as IToken
    this.#out.push(brace0(Close, endOf(last)))
    if (newline !== undefined) this.#out.push(newline)
  }
}

function newlineAfter(line: IndentedLine): IToken {
  return brace0(Newline, endOf(line.tokens.at(-1) as IToken))
}
