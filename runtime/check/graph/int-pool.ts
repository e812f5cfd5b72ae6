const chunkBits = 20
const chunkInts = 1 << chunkBits
const chunkMask = chunkInts - 1
/** Addresses are below 2^30, because a list's reference (id-lists.ts) has another meaning from there on. */
const poolChunksMax = 2 ** 30 / chunkInts
/** The first chunk is small, so that a store of a few hundred tuples takes only kilobytes. */
const firstChunkInts = 1024
/** Size classes are powers of two: 4 to 65,536 ints. */
const classMin = 2
const classMax = 16
const nothing = -1
const nowhere = new Int32Array(0)

/** One chunk: its integers, one bit per four of them that marks the start of a free stretch, and the number of free integers. */
interface Chunk {
  array: Int32Array
  starts: Int32Array
  free: number
}

/**
 * Allocates stretches of 32-bit integers in chunks of 4 MB: a buddy allocator. A stretch's class follows from its length, so no stretch
 * stores its capacity. Free neighbours join again, and a chunk that is entirely free is returned to the system, so that churn does not
 * waste memory. A free stretch stores its list's links and its class in its own first integers.
 */
export class IntPool {
  readonly #chunks: (Chunk | undefined)[] = []
  /** The integers of the chunks again, because they are read a million times a second. */
  readonly #arrays: Int32Array[] = []
  /** First free stretch per class. */
  readonly #heads = new Int32Array(classMax + 1).fill(nothing)
  #used = 0
  #reserved = 0
  readonly #chunksMax: number

  constructor(chunksMax = poolChunksMax) {
    this.#chunksMax = chunksMax
    this.#addChunk(firstChunkInts)
    // Address 0 means "none", so the first integers are never allocated.
    this.allocate(1)
  }

  /** Bytes of the stretches in use, at their allocated size. */
  get bytes(): number {
    return 4 * this.#used
  }

  /** Allocated bytes, in use or not. */
  get reservedBytes(): number {
    return 4 * this.#reserved
  }

  /** Whether `allocate` will soon refuse. */
  get isNearlyFull(): boolean {
    return this.#reserved > 0.9 * this.#chunksMax * chunkInts
  }

  array(address: number): Int32Array {
    return this.#arrays[address >>> chunkBits] as Int32Array
  }

  offset(address: number): number {
    return address & chunkMask
  }

  /** Whether a stretch of `used` integers has no room for `need`. */
  isFull(used: number, need: number): boolean {
    return classOf(used) !== classOf(need)
  }

  /** @throws RangeError above 65,536 integers, or when all stretches would take more than 4 GB */
  allocate(ints: number): number {
    const size = classOf(ints)
    if (size > classMax) throw new RangeError(`a stretch of ${ints} integers`)
    let from = size
    while (from <= classMax && this.#heads[from] === nothing) from++
    if (from > classMax) {
      this.#grow(size)
      return this.allocate(ints)
    }
    const address = this.#heads[from] as number
    this.#unlink(address, from)
    // Free the upper halves of a stretch that is larger than needed.
    while (from > size) this.#link(address + (1 << --from), from)
    this.#used += 1 << size
    ;(this.#chunks[address >>> chunkBits] as Chunk).free -= 1 << size
    return address
  }

  free(address: number, ints: number): void {
    const size = classOf(ints)
    const index = address >>> chunkBits
    const chunk = this.#chunks[index] as Chunk
    this.#used -= 1 << size
    chunk.free += 1 << size
    this.#join(address, size)
    if (chunk.free === chunkInts && index > 0) this.#drop(index)
  }

  copy(from: number, to: number, ints: number): void {
    const source = this.offset(from)
    this.array(to).set(this.array(from).subarray(source, source + ints), this.offset(to))
  }

  /** Returns a free stretch, joined with its free neighbours. */
  #join(address: number, size: number): void {
    const { array, starts } = this.#chunks[address >>> chunkBits] as Chunk
    let start = address & chunkMask
    let joined = size
    while (joined < classMax) {
      const buddy = start ^ (1 << joined)
      if (buddy >= array.length || !isStart(starts, buddy) || array[buddy + 2] !== joined) break
      this.#unlink((address & ~chunkMask) | buddy, joined)
      start &= ~(1 << joined)
      joined++
    }
    this.#link((address & ~chunkMask) | start, joined)
  }

  #link(address: number, size: number): void {
    const { array, starts } = this.#chunks[address >>> chunkBits] as Chunk
    const at = address & chunkMask
    const next = this.#heads[size] as number
    array[at] = next
    array[at + 1] = nothing
    array[at + 2] = size
    starts[at >>> 7] = (starts[at >>> 7] as number) | (1 << ((at >>> 2) & 31))
    if (next !== nothing) this.array(next)[(next & chunkMask) + 1] = address
    this.#heads[size] = address
  }

  #unlink(address: number, size: number): void {
    const { array, starts } = this.#chunks[address >>> chunkBits] as Chunk
    const at = address & chunkMask
    const next = array[at] as number
    const previous = array[at + 1] as number
    starts[at >>> 7] = (starts[at >>> 7] as number) & ~(1 << ((at >>> 2) & 31))
    if (next !== nothing) this.array(next)[(next & chunkMask) + 1] = previous
    if (previous === nothing) this.#heads[size] = next
    else this.array(previous)[previous & chunkMask] = next
  }

  /** Adds memory for a stretch of the class: the first chunk doubles up to its full size, then whole chunks follow. */
  #grow(size: number): void {
    const [first] = this.#chunks
    if (this.#chunks.length > 1 || first === undefined || first.array.length === chunkInts) {
      this.#addChunk(chunkInts)
      return
    }
    const before = first.array.length
    const length = Math.min(chunkInts, Math.max(2 * before, 2 << size))
    first.array = copied(first.array, length)
    this.#arrays[0] = first.array
    first.starts = copied(first.starts, length >>> 7)
    this.#reserved += length - before
    this.#addFree(0, before, length)
  }

  #addChunk(length: number): void {
    let index = this.#chunks.indexOf(undefined)
    if (index < 0) index = this.#chunks.length
    if (index >= this.#chunksMax) throw new RangeError("the lists of a store take more than 4 GB")
    const array = new Int32Array(length)
    this.#chunks[index] = { array, starts: new Int32Array(length >>> 7), free: 0 }
    this.#arrays[index] = array
    this.#reserved += length
    this.#addFree(index, 0, length)
  }

  /** Frees the integers [from, to) of a chunk, as stretches as large as their alignment allows. */
  #addFree(index: number, from: number, to: number): void {
    ;(this.#chunks[index] as Chunk).free += to - from
    for (let at = from; at < to; ) {
      const aligned = at === 0 ? classMax : Math.min(classMax, 31 - Math.clz32(at & -at))
      const size = Math.min(aligned, 31 - Math.clz32(to - at))
      this.#join(index * chunkInts + at, size)
      at += 1 << size
    }
  }

  /** Removes an unused chunk. */
  #drop(index: number): void {
    for (let at = 0; at < chunkInts; at += 1 << classMax) this.#unlink(index * chunkInts + at, classMax)
    this.#chunks[index] = undefined
    this.#arrays[index] = nowhere
    this.#reserved -= chunkInts
  }
}

/** The smallest power of two, as exponent and at least 2, that holds this many integers. */
function classOf(ints: number): number {
  return ints <= 4 ? classMin : 32 - Math.clz32(ints - 1)
}

function isStart(starts: Int32Array, at: number): boolean {
  return (((starts[at >>> 7] as number) >>> ((at >>> 2) & 31)) & 1) === 1
}

function copied(array: Int32Array, length: number): Int32Array {
  const grown = new Int32Array(length)
  grown.set(array)
  return grown
}
