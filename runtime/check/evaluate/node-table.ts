/** The table is split beyond this many pairs, so that a rehash moves only some thousands of them and does not block the event loop. */
const splitAt = 16_384
const segmentBits = 6
const slotBits = 24
const slotMask = (1 << slotBits) - 1
const capacityMin = 64
/** Integers of an entry: generation, object, relation, state and extra. They are stored together because they are read together. */
const stride = 5
/**
 * Segments up to this capacity are pooled, up to this many per size: small questions come by the million, and creating a segment costs more
 * than filling it.
 */
const pooledCapacityMax = 4_096
const pooledMax = 32
const generationMax = 0x7fff_ffff

/** Open addressing. Clearing takes no time: it starts a new generation, and entries of other generations do not count. */
class Segment {
  size = 0
  generation = 1
  readonly mask: number
  readonly cells: Int32Array

  constructor(capacity: number) {
    this.mask = capacity - 1
    this.cells = new Int32Array(stride * capacity)
  }

  empty(): void {
    this.size = 0
    if (this.generation === generationMax) {
      this.cells.fill(0)
      this.generation = 0
    }
    this.generation++
  }

  place(object: number, relation: number, hash: number): number {
    const { cells, mask, generation } = this
    let at = hash & mask
    while (cells[stride * at] === generation) at = (at + 1) & mask
    const cell = stride * at
    cells[cell] = generation
    cells[cell + 1] = object
    cells[cell + 2] = relation
    this.size++
    return at
  }
}

/** Index: the logarithm of the capacity. */
const pool: Segment[][] = Array.from({ length: 32 }, () => [])

function segmentOf(capacity: number): Segment {
  const used = pool[31 - Math.clz32(capacity)]?.pop()
  if (used === undefined) return new Segment(capacity)
  used.empty()
  return used
}

function giveBack(segment: Segment): void {
  const capacity = segment.mask + 1
  const same = pool[31 - Math.clz32(capacity)] as Segment[]
  if (segment !== nothing && capacity <= pooledCapacityMax && same.length < pooledMax) same.push(segment)
}

/**
 * A hash table from pairs of integers (object, relation) to two integers, a state and an extra. A position returned by `find` or `add` is
 * valid until the next `add`.
 */
export class NodeTable {
  #segments: Segment[] = [segmentOf(capacityMin)]
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Position of the pair; -1 when it is absent. */
  find(object: number, relation: number): number {
    const hash = hashOf(object, relation)
    const index = this.#segments.length === 1 ? 0 : hash >>> (32 - segmentBits)
    const { cells, generation, mask } = this.#segments[index] as Segment
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const cell = stride * at
      if (cells[cell] !== generation) return -1
      if (cells[cell + 1] === object && cells[cell + 2] === relation) return (index << slotBits) | at
    }
  }

  /** Adds a pair that is absent; returns its position. */
  add(object: number, relation: number, state: number, extra: number): number {
    if (this.#size === splitAt && this.#segments.length === 1) this.#split()
    this.#size++
    return this.#insert(object, relation, state, extra)
  }

  state(at: number): number {
    return (this.#segments[at >> slotBits] as Segment).cells[stride * (at & slotMask) + 3] as number
  }

  extra(at: number): number {
    return (this.#segments[at >> slotBits] as Segment).cells[stride * (at & slotMask) + 4] as number
  }

  set(at: number, state: number, extra: number): void {
    const { cells } = this.#segments[at >> slotBits] as Segment
    cells[stride * (at & slotMask) + 3] = state
    cells[stride * (at & slotMask) + 4] = extra
  }

  each(visit: (object: number, relation: number) => void): void {
    for (const { cells, generation } of this.#segments)
      for (let cell = 0; cell < cells.length; cell += stride)
        if (cells[cell] === generation) visit(cells[cell + 1] as number, cells[cell + 2] as number)
  }

  /** Empties the table. A large one frees its memory. */
  clear(): void {
    this.#size = 0
    const [only] = this.#segments
    if (this.#segments.length > 1 || only === undefined) this.#segments = [segmentOf(capacityMin)]
    else if (only !== nothing) only.empty()
  }

  /** Empties the table for good and returns its segments to the pool. */
  release(): void {
    this.#size = 0
    for (const segment of this.#segments) giveBack(segment)
    this.#segments = [nothing]
  }

  #insert(object: number, relation: number, state: number, extra: number): number {
    const hash = hashOf(object, relation)
    const index = this.#segments.length === 1 ? 0 : hash >>> (32 - segmentBits)
    let segment = this.#segments[index] as Segment
    // Grow between 56 and 80 % full, at a different level for each segment: growing all at once would block the event loop.
    if (64 * segment.size >= (36 + (index & 15)) * (segment.mask + 1)) segment = this.#grow(index)
    const at = segment.place(object, relation, hash)
    segment.cells[stride * at + 3] = state
    segment.cells[stride * at + 4] = extra
    return (index << slotBits) | at
  }

  #grow(index: number): Segment {
    const old = this.#segments[index] as Segment
    const grown = segmentOf(Math.max(2 * (old.mask + 1), capacityMin))
    this.#segments[index] = grown
    this.#copy(old, grown)
    giveBack(old)
    return grown
  }

  #copy(old: Segment, into: Segment | undefined): void {
    const { cells, generation } = old
    for (let cell = 0; cell < cells.length; cell += stride) {
      if (cells[cell] !== generation) continue
      const object = cells[cell + 1] as number
      const relation = cells[cell + 2] as number
      const state = cells[cell + 3] as number
      const extra = cells[cell + 4] as number
      if (into === undefined) this.#insert(object, relation, state, extra)
      else {
        const at = into.place(object, relation, hashOf(object, relation))
        into.cells[stride * at + 3] = state
        into.cells[stride * at + 4] = extra
      }
    }
  }

  #split(): void {
    const old = this.#segments[0] as Segment
    this.#segments = Array.from({ length: 1 << segmentBits }, () => segmentOf(512))
    this.#copy(old, undefined)
  }
}

/** The content of a released table: one entry that is never used. It counts as full. */
const nothing = new Segment(1)
nothing.size = 1

/** Mixes all bits: ids differ in few of them, and a mask that drops the high bits would fill one corner of the table. */
function hashOf(object: number, relation: number): number {
  let hash = Math.imul(object, 0x9e37_79b1) ^ Math.imul(relation + 1, 0x85eb_ca6b)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x7feb_352d)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x846c_a68b)
  return hash ^ (hash >>> 16)
}
