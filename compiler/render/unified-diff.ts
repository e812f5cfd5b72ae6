import { visible } from "./width.ts"

const contextLines = 3
/** Above this many comparisons, the changed part is shown as a whole. */
const comparisonsMax = 4_000_000

/** A line of a difference: kept, removed or added. */
type Line = readonly [sign: " " | "-" | "+", text: string]

/** The difference of two texts of a file, as `diff -u` prints it; empty if they are equal. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return ""
  const lines = differencesOf(linesOf(before), linesOf(after))
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
function endOfHunk(lines: readonly Line[], start: number): number {
  let last = start
  for (let at = start; at < lines.length && at - last <= 2 * contextLines; at++)
    if (lines[at]?.[0] !== " ") last = at
  return Math.min(lines.length, last + contextLines + 1)
}

function linesOf(text: string): string[] {
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

/** The shortest difference: equal lines at both ends, and between them the longest common subsequence. */
function differencesOf(before: readonly string[], after: readonly string[]): Line[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  const kept = (lines: readonly string[]): Line[] => lines.map((text) => [" ", text])
  return [
    ...kept(before.slice(0, head)),
    ...middleOf(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...kept(tail === 0 ? [] : before.slice(-tail)),
  ]
}

function middleOf(before: readonly string[], after: readonly string[]): Line[] {
  if (before.length * after.length > comparisonsMax)
    return [...before.map((text): Line => ["-", text]), ...after.map((text): Line => ["+", text])]
  // lengths[i][j]: the longest common subsequence of what is left from line i of one and line j of the other.
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1))
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    const row = lengths[i] as Uint32Array
    for (let j = after.length - 1; j >= 0; j--)
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push([" ", before[i++] as string])
      j++
    } else if (i < before.length && (j >= after.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push(["-", before[i++] as string])
    else lines.push(["+", after[j++] as string])
  }
  return lines
}
