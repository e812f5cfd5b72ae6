import { type DifferentLine, lineDifference, linesOf } from "./line-difference.ts"
import { visible } from "./width.ts"

const contextLines = 3
/** The difference of two texts of a file, as `diff -u` prints it; empty if they are equal. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return ""
  const lines = lineDifference(linesOf(before), linesOf(after))
  const out = [`--- a/${visible(path)}`, `+++ b/${visible(path)}`]
  let [old, next] = [1, 1]
  let at = 0
  while (at < lines.length) {
    const start = lines.findIndex(([sign], index) => index >= at && sign !== " ")
    if (start === -1) break
    const from = Math.max(at, start - contextLines)
    const to = endOfHunk(lines, start)
    for (const [sign] of lines.slice(at, from)) if (sign === " ") [old, next] = [old + 1, next + 1]
    const hunk = lines.slice(from, to)
    const removed = hunk.filter(([sign]) => sign !== "+").length
    const added = hunk.filter(([sign]) => sign !== "-").length
    out.push(`@@ -${old},${removed} +${next},${added} @@`)
    out.push(...hunk.map(([sign, text]) => `${sign}${visible(text)}`))
    ;[old, next, at] = [old + removed, next + added, to]
  }
  return `${out.join("\n")}\n`
}

/** Where a hunk ends: after the lines that follow its last change, unless another change is near. */
function endOfHunk(lines: readonly DifferentLine[], start: number): number {
  let last = start
  for (let at = start; at < lines.length && at - last <= 2 * contextLines; at++)
    if (lines[at]?.[0] !== " ") last = at
  return Math.min(lines.length, last + contextLines + 1)
}
