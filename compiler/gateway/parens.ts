import {
  type CelScan,
  celCharactersMax,
  indentOf,
  lengthProblem,
  lineEnd,
  lineOf,
  type ScanState,
  scanCel,
  type TokenProblem,
} from "./scan.ts"
import { type ScannedSegment, scanQuoted } from "./texts.ts"

/** `( … )` as scanned: the source is between `start` and `close`; `end` is the offset after the token. */
export interface ParensScan {
  readonly start: number
  readonly close: number
  readonly end: number
  readonly problem: TokenProblem | undefined
}

/** An argument of a reference as scanned: a word, or a text with its parts. */
export interface CallArgument {
  readonly start: number
  readonly end: number
  readonly pieces: readonly ScannedSegment[] | undefined
}

/** `name( … )` as scanned. `args` is undefined when the parentheses contain anything other than words and texts. */
export interface CallScan extends ParensScan {
  readonly nameEnd: number
  readonly args: readonly CallArgument[] | undefined
}

// Longer expressions are still read to their end, so that "too long" and "unclosed" can be distinguished.
const searchMax = 4 * celCharactersMax

/**
 * Scans `(` … `)` around an expression, from its `(`. A closing bracket is accepted at any indentation. An unclosed expression is cut at
 * the first of these: the bracket that does not balance, ` {` at the end of a line, or a line that is not indented deeper than its first
 * line.
 */
export function scanParens(state: ScanState, open: number): ParensScan {
  const { text } = state
  const exhausted = state.budget < 0
  const ownEnd = lineOf(state, open).end
  const limit = exhausted ? ownEnd : Math.min(text.length, open + searchMax)
  const scan = scanCel(text, open + 1, limit, ")")
  if (scan.failed === undefined) {
    const problem = lengthProblem(text, open, scan.end)
    return { start: open + 1, close: scan.end, end: scan.end + 1, problem }
  }
  const readTo = scan.failed === "text" ? limit : scan.end
  // The cut reads the whole line, including the text before the parenthesis.
  if (!exhausted) state.budget -= readTo - open + ownEnd - text.lastIndexOf("\n", open)
  const cut = exhausted ? Math.max(readTo, open + 1) : cutOf(text, open, scan)
  const problem: TokenProblem = {
    code: "SP1007",
    start: open,
    end: open + 1,
    ...failure(text, scan, cut),
  }
  return { start: open + 1, close: cut, end: cut, problem }
}

function failure(text: string, scan: CelScan, cut: number): Pick<TokenProblem, "detail" | "help"> {
  if (scan.failed === "text" && scan.end <= cut) {
    const detail = "no `)` closes this `(`: a string after it is not closed"
    return { detail, help: "Add the quote that closes the string." }
  }
  if (scan.failed === "bracket" && scan.end <= cut)
    return { detail: `no \`)\` closes this \`(\` before the \`${text[scan.end]}\` that follows` }
  return { detail: "no `)` closes this `(`" }
}

/** The offset where the lexer ends an unclosed `(`, at the latest where its scan failed. */
function cutOf(text: string, open: number, scan: CelScan): number {
  const own = indentOf(text, open)
  for (let from = open; ; ) {
    const limit = lineEnd(text, from)
    const opener = /[ \t]\{[ \t]*(?:#.*)?$/.exec(text.slice(from, limit))
    if (opener !== null && from + opener.index > open) return Math.min(stop(scan, limit), from + opener.index)
    // An unclosed text makes only the rest of its own line unreadable.
    if (stop(scan, limit) <= limit) return stop(scan, limit)
    const next = nextLine(text, limit)
    if (next === undefined || (indentOf(text, next) <= own && !")]}".includes(text[next] as string)))
      return limit
    if (scan.end <= next) return limit
    from = next
  }
}

function stop(scan: CelScan, limit: number): number {
  if (scan.failed === "text") return scan.end < limit ? limit : Number.POSITIVE_INFINITY
  return scan.end
}

/** Offset of the first non-space character after the line end. */
function nextLine(text: string, end: number): number | undefined {
  const found = /\S/g
  found.lastIndex = end
  return found.exec(text)?.index
}

const callWord = /[A-Za-z0-9_.:/*@%+~[\]-]+/y
const callBlank = /[ \t\r\n]*/y

/**
 * Scans `name(` … `)` from the name. The arguments are words and texts, separated by commas. Anything else is scanned like an expression.
 */
export function scanCall(state: ScanState, start: number, nameEnd: number): CallScan {
  const read = readArguments(state, nameEnd + 1)
  if (read !== undefined)
    return { start: nameEnd + 1, close: read.end - 1, nameEnd, problem: undefined, ...read }
  const parens = scanParens(state, nameEnd)
  const name = state.text.slice(start, nameEnd)
  const problem = parens.problem ?? {
    code: "SP1029" as const,
    start,
    end: parens.end,
    detail: `the arguments of \`${name}\` are not words and strings separated by commas`,
  }
  return { ...parens, nameEnd, args: undefined, problem }
}

/** Reads words and texts, separated by commas, up to `)`; undefined if there is anything else. */
function readArguments(state: ScanState, from: number): { args: CallArgument[]; end: number } | undefined {
  const { text } = state
  const args: CallArgument[] = []
  let at = match(callBlank, text, from)
  if (text[at] === ")") return { args, end: at + 1 }
  for (;;) {
    let end: number
    let pieces: readonly ScannedSegment[] | undefined
    if (text[at] === '"') {
      const scan = scanQuoted(state, at)
      if (scan.problem !== undefined) return undefined
      end = scan.end
      pieces = scan.pieces
    } else {
      end = match(callWord, text, at)
      if (end === at) return undefined
    }
    args.push({ start: at, end, pieces })
    at = match(callBlank, text, end)
    if (text[at] === ")") return { args, end: at + 1 }
    if (text[at] !== ",") return undefined
    at = match(callBlank, text, at + 1)
  }
}

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  const found = pattern.exec(text)
  return found === null ? at : at + found[0].length
}
