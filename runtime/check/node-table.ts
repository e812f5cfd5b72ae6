/** Beyond this many pairs the table is split, so that no rehash moves more than some thousands of them and holds the event loop. */
const splitAt = 16_384
const segmentBits = 6
const slotBits = 24
const slotMask = (1 << slotBits) - 1

/** Open addressing; entries carry the generation they belong to, so that emptying takes no time. */
class Segment {
  size = 0
  mask: number
  keys: Int32Array
  generations: Int32Array
  /** Pairs of state and extra. */
  values: Int32Array

  constructor(capacity: number) {
    this.mask = capacity - 1
    this.keys = new Int32Array(2 * capacity)
    this.generations = new Int32Array(capacity)
    this.values = new Int32Array(2 * capacity)
  }

  place(object: number, relation: number, hash: number, generation: number): number {
    let at = hash & this.mask
    while (this.generations[at] === generation) at = (at + 1) & this.mask
    this.generations[at] = generation
    this.keys[2 * at] = object
    this.keys[2 * at + 1] = relation
    this.size++
    return at
  }
}

/**
 * A hash table from pairs of integers (object, relation) to two integers, a state and an extra.
 * A position that `find` or `add` gave is valid until the next `add`.
 */
export class NodeTable {
  #segments: Segment[] = [new Segment(64)]
  #generation = 1
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Position of the pair, -1 when it is not there. */
  find(object: number, relation: number): number {
    const hash = hashOf(object, relation)
    const index = this.#segments.length === 1 ? 0 : hash >>> (32 - segmentBits)
    const { keys, generations, mask } = this.#segments[index] as Segment
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      if (generations[at] !== this.#generation) return -1
      if (keys[2 * at] === object && keys[2 * at + 1] === relation) return (index << slotBits) | at
    }
  }

  /** Adds a pair that is not there; returns its position. */
  add(object: number, relation: number, state: number, extra: number): number {
    if (this.#size === splitAt && this.#segments.length === 1) this.#split()
    this.#size++
    return this.#insert(object, relation, state, extra)
  }

  state(at: number): number {
    return (this.#segments[at >> slotBits] as Segment).values[2 * (at & slotMask)] as number
  }

  extra(at: number): number {
    return (this.#segments[at >> slotBits] as Segment).values[2 * (at & slotMask) + 1] as number
  }

  set(at: number, state: number, extra: number): void {
    const { values } = this.#segments[at >> slotBits] as Segment
    values[2 * (at & slotMask)] = state
    values[2 * (at & slotMask) + 1] = extra
  }

  each(visit: (object: number, relation: number) => void): void {
    for (const { keys, generations, mask } of this.#segments)
      for (let at = 0; at <= mask; at++)
        if (generations[at] === this.#generation) visit(keys[2 * at] as number, keys[2 * at + 1] as number)
  }

  /** Empties the table. One that has grown large gives its memory back. */
  clear(): void {
    this.#size = 0
    const [only] = this.#segments
    if (this.#segments.length > 1 || only === undefined || this.#generation === 0x7fff_ffff) {
      this.#segments = [new Segment(64)]
      this.#generation = 1
      return
    }
    only.size = 0
    this.#generation++
  }

  #insert(object: number, relation: number, state: number, extra: number): number {
    const hash = hashOf(object, relation)
    const index = this.#segments.length === 1 ? 0 : hash >>> (32 - segmentBits)
    let segment = this.#segments[index] as Segment
    // Between 56 and 80 % full, each at another time: all at once would hold the event loop.
    if (64 * segment.size >= (36 + (index & 15)) * (segment.mask + 1)) segment = this.#grow(index)
    const at = segment.place(object, relation, hash, this.#generation)
    segment.values[2 * at] = state
    segment.values[2 * at + 1] = extra
    return (index << slotBits) | at
  }

  #grow(index: number): Segment {
    const old = this.#segments[index] as Segment
    const grown = new Segment(2 * (old.mask + 1))
    this.#segments[index] = grown
    this.#copy(old, grown)
    return grown
  }

  #copy(old: Segment, into: Segment | undefined): void {
    for (let slot = 0; slot <= old.mask; slot++) {
      if (old.generations[slot] !== this.#generation) continue
      const object = old.keys[2 * slot] as number
      const relation = old.keys[2 * slot + 1] as number
      const state = old.values[2 * slot] as number
      const extra = old.values[2 * slot + 1] as number
      if (into === undefined) this.#insert(object, relation, state, extra)
      else {
        const at = into.place(object, relation, hashOf(object, relation), this.#generation)
        into.values[2 * at] = state
        into.values[2 * at + 1] = extra
      }
    }
  }

  #split(): void {
    const old = this.#segments[0] as Segment
    this.#segments = Array.from({ length: 1 << segmentBits }, () => new Segment(512))
    this.#copy(old, undefined)
  }
}

/** Mixes all bits down: ids differ in few of them, and a mask that drops the high ones fills one corner of the table. */
function hashOf(object: number, relation: number): number {
  let hash = Math.imul(object, 0x9e37_79b1) ^ Math.imul(relation + 1, 0x85eb_ca6b)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x7feb_352d)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x846c_a68b)
  return hash ^ (hash >>> 16)
}
