/** A line of a difference: kept, removed or added. */
export type DifferentLine = readonly [sign: " " | "-" | "+", text: string]

/** Above this many comparisons, a changed part is cut at lines that both texts have once, and without such lines shown as a whole. */
const comparisonsMax = 4_000_000

/** The lines of a text, without the empty one after its last line feed. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

/**
 * The difference of two texts by lines, removed ones before added ones: the shortest one, but for very large changes. Its kept and removed lines are
 * the first text, its kept and added lines the second.
 */
export function lineDifference(before: readonly string[], after: readonly string[]): DifferentLine[] {
  const found: DifferentLine[] = []
  addDifference(before, after, found)
  return found
}

/** Equal lines at both ends need no comparison. */
function addDifference(before: readonly string[], after: readonly string[], found: DifferentLine[]): void {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  const most = Math.min(before.length, after.length) - head
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++
  for (const text of before.slice(0, head)) found.push([" ", text])
  addMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail), found)
  for (const text of tail === 0 ? [] : before.slice(-tail)) found.push([" ", text])
}

function addMiddle(before: readonly string[], after: readonly string[], found: DifferentLine[]): void {
  if (before.length * after.length <= comparisonsMax) {
    addShortest(before, after, found)
    return
  }
  const anchors = commonAnchors(before, after)
  if (anchors.length === 0) {
    for (const text of before) found.push(["-", text])
    for (const text of after) found.push(["+", text])
    return
  }
  let [old, next] = [0, 0]
  for (const [i, j] of [...anchors, [before.length, after.length] as const]) {
    addDifference(before.slice(old, i), after.slice(next, j), found)
    if (i < before.length) found.push([" ", before[i] as string])
    ;[old, next] = [i + 1, j + 1]
  }
}

/** Places of lines that each text has exactly once, the most that are in the same order in both (patience difference). */
function commonAnchors(before: readonly string[], after: readonly string[]): (readonly [number, number])[] {
  const places = onlyPlaces(after)
  const pairs = [...onlyPlaces(before)].flatMap(([text, i]) => {
    const j = places.get(text)
    return j === undefined ? [] : [{ i, j }]
  })
  // The longest increasing subsequence: `ends` has the pair at which one of each length ends, `previous` what is before a pair.
  const ends: { readonly i: number; readonly j: number }[] = []
  const previous = new Map<number, { readonly i: number; readonly j: number } | undefined>()
  for (const pair of pairs.sort((one, other) => one.i - other.i)) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.j ?? 0) < pair.j) low = middle + 1
      else high = middle
    }
    previous.set(pair.i, ends[low - 1])
    ends[low] = pair
  }
  const chain: (readonly [number, number])[] = []
  for (let pair = ends.at(-1); pair !== undefined; pair = previous.get(pair.i)) chain.push([pair.i, pair.j])
  return chain.reverse()
}

/** The places of lines that occur once. */
function onlyPlaces(lines: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  const repeated = new Set<string>()
  for (const [at, text] of lines.entries()) {
    if (places.has(text)) repeated.add(text)
    places.set(text, at)
  }
  for (const text of repeated) places.delete(text)
  return places
}

/** By the longest common subsequence. */
function addShortest(before: readonly string[], after: readonly string[], found: DifferentLine[]): void {
  // lengths[i][j]: the longest common subsequence of what is left from line i of one and line j of the other.
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1))
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0
  for (let i = before.length - 1; i >= 0; i--) {
    const row = lengths[i] as Uint32Array
    for (let j = after.length - 1; j >= 0; j--)
      row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      found.push([" ", before[i++] as string])
      j++
    } else if (i < before.length && (j >= after.length || at(i + 1, j) >= at(i, j + 1)))
      found.push(["-", before[i++] as string])
    else found.push(["+", after[j++] as string])
  }
}
