import { nearest } from "../core/nearest.ts"
import { indentOf, lineEnd, lineOf, quotable, type ScanState, type TokenProblem } from "./scan.ts"
import { scanContent, type TextScan } from "./texts.ts"

/** A scanned heredoc. `indent` is the number of spaces before its closing tag. */
export interface HeredocScan extends TextScan {
  readonly tag: string
  readonly indent: number
}

const tagPattern = /[A-Za-z][A-Za-z0-9_]*/y
const wordCharacter = /[A-Za-z0-9_.:/*@%+~[\]-]/

/**
 * Scans `<<TAG` … `TAG` from its `<<`. Undefined when no tag follows. The heredoc ends at the first line whose first word is TAG. Without a
 * closing tag it is cut before the first line that is not indented deeper than its first line.
 */
export function scanHeredoc(state: ScanState, start: number): HeredocScan | undefined {
  const { text } = state
  tagPattern.lastIndex = start + 2
  const tag = tagPattern.exec(text)?.[0]
  if (tag === undefined) return undefined
  const afterTag = start + 2 + tag.length
  const firstLineEnd = lineOf(state, afterTag).end
  const rest = text.slice(afterTag, firstLineEnd)
  const closing = closingAfter(state, tag, firstLineEnd)
  if (closing === undefined) return unclosed(state, start, tag, rest)
  const content = text.indexOf("\n", firstLineEnd) + 1
  const closingLine = text.lastIndexOf("\n", closing - 1) + 1
  const scan = scanContent(text, content, closingLine)
  let problem = scan.problem
  if (/\S/.test(rest)) {
    const detail = `\`${quotable(rest.trim())}\` follows the tag \`${tag}\``
    const at = afterTag + rest.length - rest.trimStart().length
    problem = { code: "SP1026", start: at, end: afterTag + rest.trimEnd().length, detail }
  }
  return { tag, indent: closing - closingLine, end: closing + tag.length, pieces: scan.pieces, problem }
}

/** A heredoc without its closing tag. */
function unclosed(state: ScanState, start: number, tag: string, rest: string): HeredocScan {
  const { text } = state
  const afterTag = start + 2 + tag.length
  const problem: TokenProblem = {
    code: "SP1006",
    start,
    end: afterTag,
    detail: `no line begins with \`${tag}\` after this one`,
  }
  const meant = /\S/.test(rest) ? undefined : misspeltClosing(text, start, afterTag, tag)
  if (meant !== undefined) {
    const word = text.slice(meant.start, meant.end)
    const detail = `${problem.detail}; \`${word}\` does not close it`
    const fix = [{ ...meant, put: tag }]
    return {
      tag,
      indent: 0,
      end: meant.end,
      pieces: [],
      problem: { ...problem, detail, help: `Write \`${tag}\` instead of \`${word}\`.`, fix },
    }
  }
  // Text follows the tag: continue on this line, because it is unknown which of the lines below belong to the heredoc.
  const end = !/\S/.test(rest) ? endByIndentation(text, start, afterTag) : afterTag
  return { tag, indent: 0, end, pieces: [], problem }
}

/** The word on a line of its own, where the heredoc ends by its indentation, that is nearly the tag. */
function misspeltClosing(
  text: string,
  start: number,
  from: number,
  tag: string,
): { readonly start: number; readonly end: number } | undefined {
  const next = text.indexOf("\n", endByIndentation(text, start, from))
  if (next === -1) return undefined
  const line = /^[ \t]*([A-Za-z][A-Za-z0-9_]*)[ \t]*\r?$/.exec(text.slice(next + 1, lineEnd(text, next + 1)))
  const word = line?.[1]
  if (line === null || word === undefined || nearest(word, [tag]) === undefined) return undefined
  const at = next + 1 + line[0].indexOf(word)
  return { start: at, end: at + word.length }
}

/** End of the last line before the first non-empty line that is not indented deeper than the line of `start`. */
function endByIndentation(text: string, start: number, from: number): number {
  const own = indentOf(text, start)
  let end = lineEnd(text, from)
  for (;;) {
    const next = text.indexOf("\n", end)
    if (next === -1) return end
    const limit = lineEnd(text, next + 1)
    const first = /[^ \t\r]/.exec(text.slice(next + 1, limit))
    if (first !== null && indentOf(text, next + 1 + first.index) <= own) return end
    end = limit
  }
}

/** Offset of the first word `tag` that begins a line after `from`. Uses binary search in the index of such words. */
function closingAfter(state: ScanState, tag: string, from: number): number | undefined {
  state.closings ??= indexClosings(state.text)
  const offsets = state.closings.get(tag)
  if (offsets === undefined) return undefined
  let low = 0
  let high = offsets.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((offsets[middle] as number) < from) low = middle + 1
    else high = middle
  }
  return offsets[low]
}

/** The words at the beginnings of lines, with their offsets. One index for the file keeps the search for closing tags linear. */
function indexClosings(text: string): Map<string, number[]> {
  const index = new Map<string, number[]>()
  const lines = /^[ \t]*([A-Za-z][A-Za-z0-9_]*)/gm
  for (let found = lines.exec(text); found !== null; found = lines.exec(text)) {
    const word = found[1] as string
    const end = found.index + found[0].length
    if (wordCharacter.test(text[end] ?? "")) continue
    const offsets = index.get(word)
    if (offsets === undefined) index.set(word, [end - word.length])
    else offsets.push(end - word.length)
  }
  return index
}
