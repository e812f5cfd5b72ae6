import type { IntPool } from "./int-pool.ts"

/** A longer list has an array of its own, because every change moves a list in the pool. */
const pooledMax = 16_383
/** References from this value on name a list with an array of its own. */
const bigBase = 0x4000_0000
/** Changes of a large list are kept apart from its array until there are this many. */
const pendingMax = 4_096

/** Ids of a list as a stretch of an array. While work is in progress the array is never changed, so it can be read safely. */
export interface Stretch {
  array: Int32Array
  start: number
  end: number
}

/**
 * A large list: an array that is never changed once it is sorted, and the changes since then. Merging creates a new array. So a change
 * costs the same for any length, and readers of the old array can continue.
 */
interface BigList {
  array: Int32Array
  count: number
  /** Sorted ids that are not in the array. */
  added: number[]
  /** Ids in the array that are no longer in the list. */
  dropped: Set<number>
}

/**
 * Sorted lists of two or more ids. References are negative: `~address` in the pool, where the count precedes the ids, or `~(2^30 + index)`
 * for a list with an array of its own.
 */
export class IdLists {
  /** Work may be reading: a changed list is written to a new place, and its old place is kept until `reclaim`. */
  shared = false
  readonly #pool: IntPool
  readonly #big: (BigList | undefined)[] = []
  readonly #bigFree: number[] = []
  #bigInts = 0
  /** Pairs of address and length that are unused, but that work may be reading. */
  #retired: number[] = []
  readonly #place: Stretch = { array: new Int32Array(0), start: 0, end: 0 }

  constructor(pool: IntPool) {
    this.#pool = pool
  }

  /** Bytes of the large lists; the others belong to the pool. */
  get bytes(): number {
    return 4 * this.#bigInts + 64 * this.#big.length
  }

  /** The place of the ids. The next call reuses the object. */
  stretch(value: number): Stretch {
    const place = this.#place
    const reference = ~value
    if (reference >= bigBase) {
      const big = this.#bigAt(reference)
      if (big.added.length + big.dropped.size > 0) this.#merge(big)
      place.array = big.array
      place.start = 0
      place.end = big.count
    } else {
      place.array = this.#pool.array(reference)
      place.start = this.#pool.offset(reference) + 1
      place.end = place.start + (place.array[place.start - 1] as number)
    }
    return place
  }

  has(value: number, id: number): boolean {
    const reference = ~value
    if (reference >= bigBase) return this.#bigHas(this.#bigAt(reference), id)
    const array = this.#pool.array(reference)
    const start = this.#pool.offset(reference) + 1
    return search(array, start, start + (array[start - 1] as number), id) >= 0
  }

  length(value: number): number {
    const reference = ~value
    if (reference < bigBase) return this.#pool.array(reference)[this.#pool.offset(reference)] as number
    const { count, added, dropped } = this.#bigAt(reference)
    return count + added.length - dropped.size
  }

  /** A new list of two different ids. */
  pair(one: number, other: number): number {
    const address = this.#pool.allocate(3)
    const array = this.#pool.array(address)
    const start = this.#pool.offset(address)
    array[start] = 2
    array[start + 1] = Math.min(one, other)
    array[start + 2] = Math.max(one, other)
    return ~address
  }

  /** The list's value with the id added, which changes when the list moves; undefined when the id was already in it. */
  insert(value: number, id: number): number | undefined {
    const reference = ~value
    if (reference >= bigBase) return this.#insertBig(value, this.#bigAt(reference), id)
    const { array, start, end } = this.stretch(value)
    const found = search(array, start, end, id)
    return found >= 0 ? undefined : this.#insertAt(value, -(found + 1) - start, id)
  }

  /**
   * The list's value without the id, which changes when the list moves. A single remaining id becomes the value itself. Undefined when the
   * id was not in the list.
   */
  remove(value: number, id: number): number | undefined {
    const reference = ~value
    if (reference >= bigBase) return this.#removeBig(value, this.#bigAt(reference), id)
    const { array, start, end } = this.stretch(value)
    const found = search(array, start, end, id)
    if (found < 0) return undefined
    const count = end - start - 1
    if (this.shared || count === 1 || this.#pool.isFull(count + 1, count + 2)) {
      const ids = new Int32Array(count)
      ids.set(array.subarray(start, found))
      ids.set(array.subarray(found + 1, end), found - start)
      return this.replace(value, ids)
    }
    array.copyWithin(found, found + 1, end)
    array[start - 1] = count
    return value
  }

  /** Replaces the ids by others: sorted, and at least one. Takes ownership of the array. Returns the list's new value. */
  replace(value: number, ids: Int32Array): number {
    this.drop(value)
    return this.of(ids)
  }

  /** Frees a list. */
  drop(value: number): void {
    const reference = ~value
    if (reference >= bigBase) {
      this.#bigInts -= this.#bigAt(reference).array.length
      this.#big[reference - bigBase] = undefined
      this.#bigFree.push(reference - bigBase)
    } else {
      const ints = this.length(value) + 1
      if (this.shared) this.#retired.push(reference, ints)
      else this.#pool.free(reference, ints)
    }
  }

  /** Places retired so far; pass them to `reclaim` when no work reads them any more. */
  takeRetired(): readonly number[] {
    const retired = this.#retired
    this.#retired = []
    return retired
  }

  reclaim(retired: readonly number[]): void {
    for (let at = 0; at < retired.length; at += 2)
      this.#pool.free(retired[at] as number, retired[at + 1] as number)
  }

  /** The value of sorted ids, at least one. Takes ownership of the array. */
  of(ids: Int32Array): number {
    if (ids.length === 1) return ids[0] as number
    if (ids.length > pooledMax) {
      const index = this.#bigFree.pop() ?? this.#big.length
      this.#big[index] = { array: ids, count: ids.length, added: [], dropped: new Set() }
      this.#bigInts += ids.length
      return ~(bigBase + index)
    }
    const address = this.#pool.allocate(ids.length + 1)
    const array = this.#pool.array(address)
    const start = this.#pool.offset(address)
    array[start] = ids.length
    array.set(ids, start + 1)
    return ~address
  }

  /** The value of two or more sorted ids, which are every other integer from `start` on. */
  ofPairs(pairs: Int32Array, start: number, end: number): number {
    const count = (end - start + 1) >> 1
    if (count > pooledMax) {
      const ids = new Int32Array(count)
      for (let at = 0; at < count; at++) ids[at] = pairs[start + 2 * at] as number
      return this.of(ids)
    }
    const address = this.#pool.allocate(count + 1)
    const array = this.#pool.array(address)
    let place = this.#pool.offset(address)
    array[place++] = count
    for (let at = start; at < end; at += 2) array[place++] = pairs[at] as number
    return ~address
  }

  #insertAt(value: number, at: number, id: number): number {
    const { array, start, end } = this.stretch(value)
    const count = end - start
    if (!this.shared && count < pooledMax && !this.#pool.isFull(count + 1, count + 2)) {
      array[start - 1] = count + 1
      array.copyWithin(start + at + 1, start + at, end)
      array[start + at] = id
      return value
    }
    const ids = new Int32Array(count + 1)
    ids.set(array.subarray(start, start + at))
    ids[at] = id
    ids.set(array.subarray(start + at, end), at + 1)
    return this.replace(value, ids)
  }

  #bigAt(reference: number): BigList {
    return this.#big[reference - bigBase] as BigList
  }

  #bigHas({ array, count, added, dropped }: BigList, id: number): boolean {
    if (added.length > 0 && placeIn(added, id) >= 0) return true
    return search(array, 0, count, id) >= 0 && !dropped.has(id)
  }

  #insertBig(value: number, big: BigList, id: number): number | undefined {
    if (big.dropped.delete(id)) return value
    if (search(big.array, 0, big.count, id) >= 0) return undefined
    const at = placeIn(big.added, id)
    if (at >= 0) return undefined
    big.added.splice(-(at + 1), 0, id)
    if (big.added.length > pendingMax) this.#merge(big)
    return value
  }

  #removeBig(value: number, big: BigList, id: number): number | undefined {
    const at = placeIn(big.added, id)
    if (at >= 0) big.added.splice(at, 1)
    else if (search(big.array, 0, big.count, id) < 0 || big.dropped.has(id)) return undefined
    else big.dropped.add(id)
    // Half of the threshold, so that a list near it does not move with every change.
    const left = big.count + big.added.length - big.dropped.size
    if (left <= pooledMax >> 1) {
      this.#merge(big)
      return this.replace(value, big.array)
    }
    if (big.dropped.size > pendingMax) this.#merge(big)
    return value
  }

  /** Merges array, added and dropped into one sorted array; copies the stretches between changes whole. */
  #merge(big: BigList): void {
    const { array, count, added, dropped } = big
    const merged = new Int32Array(count + added.length - dropped.size)
    const out = [...dropped].sort((one, other) => one - other)
    let from = 0
    let to = 0
    const copyUntil = (end: number) => {
      merged.set(array.subarray(from, end), to)
      to += end - from
      from = end
    }
    for (let add = 0, drop = 0; add < added.length || drop < out.length; ) {
      const next = added[add] ?? Number.POSITIVE_INFINITY
      const gone = out[drop] ?? Number.POSITIVE_INFINITY
      if (next < gone) {
        copyUntil(-(search(array, from, count, next) + 1))
        merged[to++] = next
        add++
      } else {
        copyUntil(search(array, from, count, gone))
        from++
        drop++
      }
    }
    copyUntil(count)
    this.#bigInts += merged.length - array.length
    big.array = merged
    big.count = merged.length
    big.added = []
    big.dropped = new Set()
  }
}

/** Index of `wanted` in the sorted ids from `start` to `end`, or -(where it belongs) - 1. */
export function search(ids: Int32Array, start: number, end: number, wanted: number): number {
  let low = start
  let high = end - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const value = ids[middle] as number
    if (value === wanted) return middle
    if (value < wanted) low = middle + 1
    else high = middle - 1
  }
  return -(low + 1)
}

/** The same for an array of numbers. Separate, so that the search of typed arrays stays monomorphic. */
function placeIn(ids: readonly number[], wanted: number): number {
  let low = 0
  let high = ids.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const value = ids[middle] as number
    if (value === wanted) return middle
    if (value < wanted) low = middle + 1
    else high = middle - 1
  }
  return -(low + 1)
}
