/** Positions of equal items in both lists, in ascending order: a longest common subsequence. */
export type Alignment = readonly (readonly [before: number, after: number])[]

/** Above this number of comparisons, equal items are taken greedily in the order of the first list. This may report more items as moved. */
const cellsMax = 250_000

/** Aligns two lists so that as many items as possible keep their position. */
export function align(before: readonly string[], after: readonly string[]): Alignment {
  let head = 0
  // Common beginnings and ends first: most edits are local, and the quadratic part then sees a few items.
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  while (
    tail < Math.min(before.length, after.length) - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail += 1
  const inside = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)] as const
  const middle = inside[0].length * inside[1].length > cellsMax ? greedy(...inside) : longestCommon(...inside)
  return [
    ...Array.from({ length: head }, (_, at) => [at, at] as const),
    ...middle.map(([a, b]) => [a + head, b + head] as const),
    ...Array.from(
      { length: tail },
      (_, at) => [before.length - tail + at, after.length - tail + at] as const,
    ),
  ]
}

/** Longest common subsequence by dynamic programming: quadratic, so longer lists use `greedy`. */
function longestCommon(before: readonly string[], after: readonly string[]): [number, number][] {
  const width = after.length + 1
  // `Uint16` is enough: `cellsMax` bounds the shorter list to 500 items.
  const lengths = new Uint16Array((before.length + 1) * width)
  const at = (a: number, b: number) => lengths[a * width + b] as number
  for (let a = before.length - 1; a >= 0; a -= 1)
    for (let b = after.length - 1; b >= 0; b -= 1)
      lengths[a * width + b] =
        before[a] === after[b] ? at(a + 1, b + 1) + 1 : Math.max(at(a + 1, b), at(a, b + 1))
  const pairs: [number, number][] = []
  for (let a = 0, b = 0; a < before.length && b < after.length; ) {
    if (before[a] === after[b]) {
      pairs.push([a, b])
      a += 1
      b += 1
    } else if (at(a + 1, b) >= at(a, b + 1)) a += 1
    else b += 1
  }
  return pairs
}

/** Pairs equal items from left to right. Not the longest alignment, but linear. */
function greedy(before: readonly string[], after: readonly string[]): [number, number][] {
  const places = new Map<string, number[]>()
  after.forEach((item, at) => {
    const known = places.get(item)
    if (known === undefined) places.set(item, [at])
    else known.push(at)
  })
  const pairs: [number, number][] = []
  let next = 0
  before.forEach((item, a) => {
    const b = places.get(item)?.find((place) => place >= next)
    if (b === undefined) return
    pairs.push([a, b])
    next = b + 1
  })
  return pairs
}
