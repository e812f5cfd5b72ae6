const chunkBits = 20
const chunkInts = 1 << chunkBits
const chunkMask = chunkInts - 1
/** A first chunk this small lets a store of a few hundred tuples cost kilobytes. */
const firstChunkInts = 1024
/** Size classes are powers of two; longer lists have an array of their own. */
const classMax = 16
/** References at or above this name a list with an own array. */
const bigBase = 0x4000_0000

interface BigList {
  array: Int32Array
  count: number
}

interface ListPlace {
  array: Int32Array
  start: number
  end: number
}

/**
 * Memory for blocks and lists of 32-bit integers, in chunks of 4 MB with free lists per size class. A stretch's class follows from its length alone,
 * so that no stretch stores its capacity. Lists are referred to by negative values: `~address`, or `~(2^30 + index)` when they have an own array.
 */
export class IntPool {
  readonly #chunks: Int32Array[] = [new Int32Array(firstChunkInts)]
  // Address 0 means "none", so the first ints are never given out.
  #used = 4
  readonly #free: number[][] = Array.from({ length: classMax + 1 }, () => [])
  readonly #big: (BigList | undefined)[] = []
  readonly #bigFree: number[] = []
  readonly #place: ListPlace = { array: new Int32Array(0), start: 0, end: 0 }

  array(address: number): Int32Array {
    return this.#chunks[address >>> chunkBits] as Int32Array
  }

  offset(address: number): number {
    return address & chunkMask
  }

  /** Does a stretch of `used` ints have no room for `need`? */
  isFull(used: number, need: number): boolean {
    return classOf(used) !== classOf(need)
  }

  allocate(ints: number): number {
    const size = classOf(ints)
    if (size > classMax) throw new RangeError(`a stretch of ${ints} integers`)
    const reused = this.#free[size]?.pop()
    if (reused !== undefined) return reused
    const need = 1 << size
    let index = this.#chunks.length - 1
    let chunk = this.#chunks[index] as Int32Array
    if (this.#used + need > chunk.length) {
      if (chunk.length < chunkInts && this.#used + need <= chunkInts) {
        let length = chunk.length
        while (length < this.#used + need) length *= 2
        const grown = new Int32Array(length)
        grown.set(chunk)
        this.#chunks[index] = chunk = grown
      } else {
        chunk = new Int32Array(chunkInts)
        this.#chunks.push(chunk)
        index++
        this.#used = 0
      }
    }
    const address = index * chunkInts + this.#used
    this.#used += need
    return address
  }

  free(address: number, ints: number): void {
    this.#free[classOf(ints)]?.push(address)
  }

  copy(from: number, to: number, ints: number): void {
    const source = this.offset(from)
    this.array(to).set(this.array(from).subarray(source, source + ints), this.offset(to))
  }

  /** Where the ids of a list lie. One object, reused by every call. */
  list(value: number): ListPlace {
    const place = this.#place
    const reference = ~value
    if (reference >= bigBase) {
      const big = this.#bigAt(reference)
      place.array = big.array
      place.start = 0
      place.end = big.count
    } else {
      place.array = this.array(reference)
      place.start = this.offset(reference) + 1
      place.end = place.start + (place.array[place.start - 1] as number)
    }
    return place
  }

  /** A new list of two. */
  pairList(first: number, second: number): number {
    const address = this.allocate(3)
    const array = this.array(address)
    const start = this.offset(address)
    array[start] = 2
    array[start + 1] = first
    array[start + 2] = second
    return ~address
  }

  /** Inserts before position `at`; returns the list's value, which changes when it moves. */
  insert(value: number, at: number, id: number): number {
    const reference = ~value
    if (reference >= bigBase) {
      const big = this.#bigAt(reference)
      if (big.count === big.array.length) big.array = resized(big.array, 2 * big.count)
      insertInto(big.array, at, big.count++, id)
      return value
    }
    const { array, start, end } = this.list(value)
    const count = end - start
    if (classOf(count + 1) === classOf(count + 2)) {
      array[start - 1] = count + 1
      insertInto(array, start + at, end, id)
      return value
    }
    const ids = new Int32Array(count + 1)
    ids.set(array.subarray(start, start + at))
    ids[at] = id
    ids.set(array.subarray(start + at, end), at + 1)
    return this.#rewrite(value, ids)
  }

  /** Removes the id at position `at`. A list of one becomes that id. */
  remove(value: number, at: number): number {
    const { array, start, end } = this.list(value)
    array.copyWithin(start + at, start + at + 1, end)
    return this.shrink(value, end - start - 1)
  }

  /** Keeps the first `count` ids. */
  shrink(value: number, count: number): number {
    const { array, start, end } = this.list(value)
    const reference = ~value
    if (reference >= bigBase) {
      const big = this.#bigAt(reference)
      big.count = count
      // Half of the class below, so that a list at the border does not move with every change.
      if (count > 1 << (classMax - 1)) {
        if (4 * count < big.array.length) big.array = resized(big.array, 2 * count)
        return value
      }
    } else if (count > 1 && classOf(count + 1) === classOf(end - start + 1)) {
      array[start - 1] = count
      return value
    }
    return this.#rewrite(value, array.slice(start, start + count))
  }

  #rewrite(value: number, ids: Int32Array): number {
    const reference = ~value
    if (reference >= bigBase) {
      this.#big[reference - bigBase] = undefined
      this.#bigFree.push(reference - bigBase)
    } else {
      this.free(reference, (this.array(reference)[this.offset(reference)] as number) + 1)
    }
    if (ids.length === 1) return ids[0] as number
    if (classOf(ids.length + 1) > classMax) {
      const index = this.#bigFree.pop() ?? this.#big.length
      this.#big[index] = { array: resized(ids, 2 * ids.length), count: ids.length }
      return ~(bigBase + index)
    }
    const address = this.allocate(ids.length + 1)
    const array = this.array(address)
    array[this.offset(address)] = ids.length
    array.set(ids, this.offset(address) + 1)
    return ~address
  }

  #bigAt(reference: number): BigList {
    return this.#big[reference - bigBase] as BigList
  }
}

/** The smallest power of two, as exponent and at least 2, that holds so many ints. */
function classOf(ints: number): number {
  return ints <= 4 ? 2 : 32 - Math.clz32(ints - 1)
}

function insertInto(array: Int32Array, at: number, end: number, id: number): void {
  array.copyWithin(at + 1, at, end)
  array[at] = id
}

function resized(array: Int32Array, length: number): Int32Array {
  const grown = new Int32Array(length)
  grown.set(array.length > length ? array.subarray(0, length) : array)
  return grown
}
