import { asItLooks, tellOdd } from "./odd-characters.ts"

/**
 * The candidate that a misspelt `name` most likely means, for "did you mean". Uses the Damerau-Levenshtein distance (a swap of neighbours
 * is one mistake) and ignores case and the difference between `-` and `_`. Undefined if no candidate is close: at most one mistake per
 * three characters, and at most three. Among equally close candidates the first one wins.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const wanted = fold(name)
  let best: string | undefined
  let bestDistance = Math.min(3, Math.floor((wanted.length + 1) / 3)) + 1
  // A text this long is not a misspelt name, and the table below is quadratic in its length.
  if (wanted.length > 64) return undefined
  for (const candidate of candidates) {
    if (candidate === name) continue
    const distance = distanceBelow(wanted, fold(candidate), bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The only candidate that is one slip away from a misspelt `name`; undefined if there is none, or several. */
export function soleNearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length < 3 || name.length > 64) return undefined
  const wanted = fold(name)
  const near = [...candidates].filter((each) => distanceBelow(wanted, fold(each), 2) < 2)
  return near.length === 1 && near[0] !== name ? near[0] : undefined
}

/** ` did you mean `x`?` as the end of a detail, or an empty text. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  const found = nearest(name, candidates)
  if (found === undefined) return ""
  // If two names look the same, it suffices to name the character that differs.
  const odd = asItLooks(name) === name ? undefined : [...name].map((sign) => tellOdd(sign, 0)).find(Boolean)
  return `; did you mean \`${found}\`?${odd === undefined ? "" : ` ${odd.detail}`}`
}

function fold(name: string): string {
  return asItLooks(name).toLowerCase().replaceAll("_", "-")
}

/** The distance (optimal string alignment) of two words, or `bound` if it is not smaller. */
function distanceBelow(a: string, b: string, bound: number): number {
  if (Math.abs(a.length - b.length) >= bound) return bound
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let smallest = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(
        (previous[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (previous[j - 1] as number) + (same ? 0 : 1),
      )
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] as number) + 1)
      row.push(cost)
      smallest = Math.min(smallest, cost)
    }
    if (smallest >= bound) return bound
    before = previous
    previous = row
  }
  return Math.min(bound, previous[b.length] as number)
}
