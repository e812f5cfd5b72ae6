import type { Span } from "../core/source.ts"
import { type Cell, cellsOf } from "./width.ts"

/** A source line and the marks under it. `marks` is empty for a line that represents omitted lines. */
export interface FrameLine {
  readonly source: string
  readonly marks: string
}

const columnsMax = 100
/** Number of columns that stay visible before the marked part of a cut line. */
const context = 24
/** UTF-16 units to examine on each side of a place: several times the visible width, because some characters take no column. */
const reach = 400

/**
 * The lines of a span, with `mark` under its characters. For a span of several lines, shows the first and the last. Long lines are cut
 * around the marked part. Marks stay aligned with tabs and wide characters.
 */
export function frameOf(span: Span, mark: string): FrameLine[] {
  const { file } = span
  const first = file.position(span.start)
  const last = file.position(Math.max(span.start, span.end - 1))
  if (first.line === last.line) return [frameLine(file.line(first.line), first.column - 1, last.column, mark)]
  const begin = file.line(first.line)
  const end = file.line(last.line)
  const lines = [frameLine(begin, first.column - 1, begin.length, mark)]
  if (last.line - first.line > 1) lines.push({ source: "…", marks: "" })
  lines.push(frameLine(end, end.length - end.trimStart().length, last.column, mark))
  return lines
}

/** `from` and `to` are offsets in the line; at least one column is marked. */
function frameLine(line: string, from: number, to: number, mark: string): FrameLine {
  const { start, end } = around(line, from, to)
  const cells = cellsOf(line.slice(start, end))
  const before = cells.filter((cell) => cell.offset < from - start)
  const marked = cells.filter((cell) => cell.offset >= from - start && cell.offset < to - start)
  const after = cells.slice(before.length + marked.length)
  const width = columns(before) + columns(marked) + columns(after)
  const whole = start === 0 && end === line.length
  if (whole && width <= columnsMax) return compose("", before, marked, after, "", mark)
  const shownBefore = lastColumns(before, Math.max(context, columnsMax - columns(marked) - columns(after)))
  const shownMarked = firstColumns(marked, columnsMax - columns(shownBefore))
  const shownAfter = firstColumns(after, columnsMax - columns(shownBefore) - columns(shownMarked))
  const cutBefore = start > 0 || shownBefore.length < before.length ? "…" : ""
  const shownAll = shownMarked.length === marked.length && shownAfter.length === after.length
  const cutAfter = end < line.length || !shownAll ? "…" : ""
  return compose(cutBefore, shownBefore, shownMarked, shownAfter, cutAfter, mark)
}

/** The part of a line that a frame can show. Only this part is split into cells, because a minified file is one line of megabytes. */
function around(line: string, from: number, to: number): { readonly start: number; readonly end: number } {
  const start = Math.max(0, from - reach)
  const end = Math.min(line.length, Math.min(to, from + reach) + reach)
  return { start: start - (splitsPair(line, start) ? 1 : 0), end: end + (splitsPair(line, end) ? 1 : 0) }
}

/** Whether an offset splits a surrogate pair. */
function splitsPair(line: string, at: number): boolean {
  return at > 0 && at < line.length && /[\udc00-\udfff]/.test(line.charAt(at))
}

function compose(
  head: string,
  before: readonly Cell[],
  marked: readonly Cell[],
  after: readonly Cell[],
  tail: string,
  mark: string,
): FrameLine {
  const source = `${head}${show(before)}${show(marked)}${show(after)}${tail}`.trimEnd()
  const marks = `${" ".repeat(head.length + columns(before))}${mark.repeat(Math.max(1, columns(marked)))}`
  return { source, marks }
}

function show(cells: readonly Cell[]): string {
  return cells.map((cell) => cell.shown).join("")
}

function columns(cells: readonly Cell[]): number {
  return cells.reduce((sum, cell) => sum + cell.columns, 0)
}

function firstColumns(cells: readonly Cell[], max: number): Cell[] {
  const shown: Cell[] = []
  let width = 0
  for (const cell of cells) {
    width += cell.columns
    if (width > max) break
    shown.push(cell)
  }
  return shown
}

function lastColumns(cells: readonly Cell[], max: number): Cell[] {
  return firstColumns([...cells].reverse(), max).reverse()
}
