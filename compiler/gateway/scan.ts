import type { DiagnosticCode } from "../core/catalogue.ts"

/** A mistake inside one raw token: what the scanner found, and where. */
export interface TokenProblem {
  readonly code: DiagnosticCode
  readonly start: number
  readonly end: number
  readonly detail: string
  /** Replaces the help of the catalogue. */
  readonly help?: string
  /** The remedy as edits of the file: `put` replaces the text from `start` to `end`. Only if it is safe, see `Diagnostic`. */
  readonly fix?: readonly { readonly start: number; readonly end: number; readonly put: string }[]
}

/** Maximum length of an expression, in characters and lines. */
export const celCharactersMax = 16 * 1024
const celLinesMax = 200

/**
 * The state of one lexing run. A scanner that finds its token unclosed returns most of what it read to the lexer, so a file with 100,000
 * unclosed parentheses would be read 100,000 times. Therefore characters that are read without result are subtracted from a budget. Once
 * the budget is used up, no scanner reads beyond its own line.
 */
export interface ScanState {
  readonly text: string
  /** Remaining characters that scanners may read without result. */
  budget: number
  /** First words of lines that could close a heredoc, with their offsets in order. Built for the first heredoc. */
  closings: Map<string, number[]> | undefined
  /** The most recent line. Searching its ends for every token of a very long line would be quadratic. */
  line: { readonly start: number; readonly end: number }
}

/** The initial state for one file. */
export function scanState(text: string): ScanState {
  return { text, budget: 1024 * 1024 + 4 * text.length, closings: undefined, line: { start: 0, end: -1 } }
}

/** End of the line that contains `offset`: the offset of its `\n` (or of the `\r` before it), or the end of the text. */
export function lineEnd(text: string, offset: number): number {
  const at = text.indexOf("\n", offset)
  if (at === -1) return text.length
  return at > offset && text.charCodeAt(at - 1) === 13 ? at - 1 : at
}

/** Both ends of a line with a cache, for scanners that need them for every token. */
export function lineOf(state: ScanState, offset: number): ScanState["line"] {
  if (offset < state.line.start || offset > state.line.end)
    state.line = { start: state.text.lastIndexOf("\n", offset - 1) + 1, end: lineEnd(state.text, offset) }
  return state.line
}

/** A user's text for a message: its first line, cut if it is too long. */
export function quotable(text: string): string {
  const head = text.slice(0, 41)
  const end = head.search(/[\r\n]/)
  const line = end === -1 ? head : head.slice(0, end)
  return line.length > 40 ? `${line.slice(0, 40)}…` : line
}

/** Indentation of the line of `offset`, in columns. A tab advances to the next multiple of eight. */
export function indentOf(text: string, offset: number): number {
  let at = text.lastIndexOf("\n", offset - 1) + 1
  let width = 0
  for (; at < offset; at++) {
    const code = text.charCodeAt(at)
    if (code === 9) width += 8 - (width % 8)
    else if (code === 32) width++
    else break
  }
  return width
}

/** Result of `scanCel`: `end` is the offset of the closing bracket, or of the character that ended the search. */
export interface CelScan {
  readonly end: number
  readonly failed: undefined | "bracket" | "text" | "semicolon" | "end"
}

const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" }

// All other characters of an expression do not affect where it ends.
const celSpecial = /["'()[\]{};/]/g

/**
 * Finds the bracket that closes an expression. Brackets balance by kind; CEL's strings (both quotes, triple, raw) and `//` comments are
 * skipped. `start` is the offset after the opening bracket, `closer` the closing bracket, `limit` the offset to stop at. A `;` outside of
 * strings ends the search, because CEL has none.
 */
export function scanCel(text: string, start: number, limit: number, closer: ")" | "}"): CelScan {
  const stack: string[] = [closer]
  let at = start
  for (;;) {
    celSpecial.lastIndex = at
    const found = celSpecial.exec(text)
    if (found === null || found.index >= limit) return { end: limit, failed: "end" }
    at = found.index
    const sign = found[0]
    if (sign === '"' || sign === "'") {
      const end = celTextEnd(text, at, limit)
      if (end === -1) return { end: at, failed: "text" }
      at = end
    } else if (sign === "/") {
      at = text[at + 1] === "/" ? Math.min(limit, lineEnd(text, at)) : at + 1
    } else if (sign === ";") {
      return { end: at, failed: "semicolon" }
    } else {
      const opened = closers[sign]
      if (opened !== undefined) stack.push(opened)
      else if (stack.pop() !== sign) return { end: at, failed: "bracket" }
      else if (stack.length === 0) return { end: at, failed: undefined }
      at++
    }
  }
}

/** Offset after the CEL string that opens at `at`, or -1 when it does not close before `limit`. */
function celTextEnd(text: string, at: number, limit: number): number {
  const quote = text[at] as string
  const triple = text.startsWith(quote.repeat(3), at)
  const raw = isRaw(text, at)
  const close = triple ? quote.repeat(3) : quote
  for (let i = at + close.length; i < limit; i++) {
    const sign = text[i]
    if (sign === "\\" && !raw) i++
    else if (sign === "\n" && !triple) return -1
    else if (sign === quote && (!triple || text.startsWith(close, i)))
      return i + close.length <= limit ? i + close.length : -1
  }
  return -1
}

/** Whether the quote at `at` has a prefix with `r` (`r`, `rb`, `br` in any case) that is not the end of a longer name. */
function isRaw(text: string, at: number): boolean {
  const prefix = /(?:^|[^A-Za-z0-9_])([rRbB]{1,2})$/.exec(text.slice(Math.max(0, at - 3), at))?.[1]
  return prefix !== undefined && /r/i.test(prefix)
}

/** The problem of an expression that is too long; `open` and `close` are the offsets of its brackets. */
export function lengthProblem(text: string, open: number, close: number): TokenProblem | undefined {
  const length = close - open - 1
  const lines = length < celLinesMax ? 1 : text.slice(open, close).split("\n").length
  if (length <= celCharactersMax && lines <= celLinesMax) return undefined
  const size =
    length > celCharactersMax
      ? `${length} characters; the limit is ${celCharactersMax}`
      : `${lines} lines; the limit is ${celLinesMax}`
  return { code: "SP1024", start: open, end: open + 1, detail: `this expression has ${size}` }
}
