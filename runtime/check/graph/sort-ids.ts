/** Ids sorted or merged between two yields: about two milliseconds. */
const run = 16_384

/**
 * The ids of a stretch, sorted and without duplicates, in a new array. Yields every few thousand ids, because sorting millions at once
 * would block the event loop for a tenth of a second. Runs are sorted and then merged two by two.
 */
export function* sortedIds(array: Int32Array, start: number, end: number): Generator<void, Int32Array> {
  let ids = array.slice(start, end)
  const { length } = ids
  if (!(yield* isAscending(ids))) {
    for (let at = 0; at < length; at += run) {
      ids.subarray(at, at + run).sort()
      yield
    }
    let other = new Int32Array(length > run ? length : 0)
    for (let width = run; width < length; width *= 2) {
      yield* mergeRuns(ids, other, width)
      ;[ids, other] = [other, ids]
    }
  }
  const count = yield* dropRepetitions(ids)
  return count === length ? ids : ids.slice(0, count)
}

function* isAscending(ids: Int32Array): Generator<void, boolean> {
  for (let at = 1; at < ids.length; at++) {
    if ((ids[at - 1] as number) >= (ids[at] as number)) return false
    if ((at & 0xffff) === 0) yield
  }
  return true
}

function* mergeRuns(from: Int32Array, to: Int32Array, width: number): Generator<void> {
  const { length } = from
  let done = 0
  for (let low = 0; low < length; low += 2 * width) {
    const middle = Math.min(low + width, length)
    const high = Math.min(middle + width, length)
    for (let left = low, right = middle; done < high; done++) {
      const takeLeft = left < middle && (right >= high || (from[left] as number) <= (from[right] as number))
      to[done] = from[takeLeft ? left++ : right++] as number
      if ((done & (run - 1)) === 0) yield
    }
  }
}

/** Returns the number of remaining ids, at the front. */
function* dropRepetitions(ids: Int32Array): Generator<void, number> {
  let kept = 0
  for (let at = 0; at < ids.length; at++) {
    if (kept === 0 || ids[at] !== ids[kept - 1]) ids[kept++] = ids[at] as number
    if ((at & 0xffff) === 0) yield
  }
  return kept
}
