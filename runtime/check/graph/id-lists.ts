import type { IntPool } from "./int-pool.ts"

/** A list longer than this has an array of its own: what lies in the pool is moved by every change. */
const pooledMax = 16_383
/** References at or above this name a list with an own array. */
const bigBase = 0x4000_0000
/** Changes of a large list are kept beside it until there are so many. */
const pendingMax = 4_096

/** Ids of a list as a stretch of an array. Where works are under way it is never changed, so that they may go on reading it. */
export interface Stretch {
  array: Int32Array
  start: number
  end: number
}

/**
 * A large list: an array that is never changed once it is sorted, and what came and went since. Merging them makes another array. So a change
 * costs the same however long the list is, and whoever reads the old array may go on.
 */
interface BigList {
  array: Int32Array
  count: number
  /** Sorted, and not in the array. */
  added: number[]
  /** In the array, but no longer in the list. */
  dropped: Set<number>
}

/**
 * Sorted lists of two and more ids. They are referred to by negative values: `~address` in the pool, where the count comes before the
 * ids, or `~(2^30 + index)` when they have an own array.
 */
export class IdLists {
  /** Somebody may be reading: a list is not changed where it lies, but written anew, and its old place is kept until `reclaim`. */
  shared = false
  readonly #pool: IntPool
  readonly #big: (BigList | undefined)[] = []
  readonly #bigFree: number[] = []
  #bigInts = 0
  /** Pairs of address and length that nobody refers to, but somebody may be reading. */
  #retired: number[] = []
  readonly #place: Stretch = { array: new Int32Array(0), start: 0, end: 0 }

  constructor(pool: IntPool) {
    this.#pool = pool
  }

  /** Bytes of the large lists; the others are the pool's. */
  get bytes(): number {
    return 4 * this.#bigInts + 64 * this.#big.length
  }

  /** Where the ids lie. The object is reused by the next call. */
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

  /** The list's value with the id in it, which changes when it moves; undefined when it was there. */
  insert(value: number, id: number): number | undefined {
    const reference = ~value
    if (reference >= bigBase) return this.#insertBig(value, this.#bigAt(reference), id)
    const { array, start, end } = this.stretch(value)
    const found = search(array, start, end, id)
    return found >= 0 ? undefined : this.#insertAt(value, -(found + 1) - start, id)
  }

  /** Adds at the end, sorted or not: for a first load, which sorts when it has all. */
  append(value: number, id: number): number {
    const reference = ~value
    if (reference < bigBase) return this.#insertAt(value, this.length(value), id)
    const big = this.#bigAt(reference)
    if (big.count === big.array.length) {
      this.#bigInts += big.count
      const grown = new Int32Array(2 * big.count)
      grown.set(big.array)
      big.array = grown
    }
    big.array[big.count++] = id
    return value
  }

  /** The list's value without the id, which changes when it moves; one that is left stands for itself. Undefined when it was not there. */
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

  /** Other ids instead, sorted and at least one; the array may be kept. Returns the list's new value. */
  replace(value: number, ids: Int32Array): number {
    this.drop(value)
    return this.of(ids)
  }

  /** Gives a list up. */
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

  /** What was retired until now, to be given to `reclaim` when nobody reads it any more. */
  takeRetired(): readonly number[] {
    const retired = this.#retired
    this.#retired = []
    return retired
  }

  reclaim(retired: readonly number[]): void {
    for (let at = 0; at < retired.length; at += 2)
      this.#pool.free(retired[at] as number, retired[at + 1] as number)
  }

  /** The value of sorted ids, at least one; the array may be kept. */
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
    // Half of where it began, so that a list at the border does not move with every change.
    const left = big.count + big.added.length - big.dropped.size
    if (left <= pooledMax >> 1) {
      this.#merge(big)
      return this.replace(value, big.array)
    }
    if (big.dropped.size > pendingMax) this.#merge(big)
    return value
  }

  /** Makes array, added and dropped one sorted array: stretches between the changes are copied whole. */
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

/** The same in an array of numbers: apart, so that the search of typed arrays stays one for the compiler. */
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
