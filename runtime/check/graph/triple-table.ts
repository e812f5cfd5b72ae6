/** The table is split beyond this many entries, so that a rehash moves only some thousands of them and does not block the event loop. */
const splitAt = 16_384
const segmentBits = 8
/** Three numbers of the key, and the value plus 1; 0 is an empty place. */
const entryInts = 4

interface Segment {
  entries: Int32Array
  count: number
}

const segmentOf = (capacity: number): Segment => ({ entries: new Int32Array(entryInts * capacity), count: 0 })

/** A hash table from three integers to a non-negative integer. Entries can be removed. */
export class TripleTable {
  #segments: Segment[] = [segmentOf(16)]
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Bytes of the entries, including the free room that open addressing needs. */
  get bytes(): number {
    return 2 * 4 * entryInts * this.#size
  }

  /** Allocated bytes, in use or not. */
  get reservedBytes(): number {
    let bytes = 0
    for (const { entries } of this.#segments) bytes += 4 * entries.length
    return bytes
  }

  /** The value; -1 when there is none. */
  get(a: number, b: number, c: number): number {
    const hash = hashOf(a, b, c)
    const { entries } = this.#segment(hash)
    return (entries[this.#position(entries, hash, a, b, c) + 3] as number) - 1
  }

  set(a: number, b: number, c: number, value: number): void {
    const hash = hashOf(a, b, c)
    let segment = this.#segment(hash)
    const at = this.#position(segment.entries, hash, a, b, c)
    if (segment.entries[at + 3] !== 0) {
      segment.entries[at + 3] = value + 1
      return
    }
    this.#size++
    if (this.#size > splitAt && this.#segments.length === 1) {
      this.#split()
      segment = this.#segment(hash)
    }
    this.#add(segment, hash, a, b, c, value + 1)
  }

  /** Removes an entry; returns its value, -1 when there was none. */
  delete(a: number, b: number, c: number): number {
    const hash = hashOf(a, b, c)
    const segment = this.#segment(hash)
    const { entries } = segment
    let hole = this.#position(entries, hash, a, b, c) / entryInts
    const value = (entries[entryInts * hole + 3] as number) - 1
    if (value < 0) return -1
    const mask = entries.length / entryInts - 1
    for (let slot = (hole + 1) & mask; ; slot = (slot + 1) & mask) {
      const at = entryInts * slot
      if (entries[at + 3] === 0) break
      const home = hashOf(entries[at] as number, entries[at + 1] as number, entries[at + 2] as number) & mask
      if (((slot - home) & mask) < ((slot - hole) & mask)) continue
      entries.copyWithin(entryInts * hole, at, at + entryInts)
      hole = slot
    }
    entries[entryInts * hole + 3] = 0
    segment.count--
    this.#size--
    return value
  }

  #segment(hash: number): Segment {
    return this.#segments[this.#segments.length === 1 ? 0 : hash >>> (32 - segmentBits)] as Segment
  }

  /** The position of the key, or the empty place at which its search ends. */
  #position(entries: Int32Array, hash: number, a: number, b: number, c: number): number {
    const mask = entries.length / entryInts - 1
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const at = entryInts * slot
      if (entries[at + 3] === 0) return at
      if (entries[at] === a && entries[at + 1] === b && entries[at + 2] === c) return at
    }
  }

  #add(segment: Segment, hash: number, a: number, b: number, c: number, stored: number): void {
    if (3 * segment.count >= 2 * (segment.entries.length / entryInts)) {
      const old = segment.entries
      segment.entries = new Int32Array(2 * old.length)
      segment.count = 0
      for (let at = 0; at < old.length; at += entryInts) this.#addEntry(segment, old, at)
    }
    const at = this.#position(segment.entries, hash, a, b, c)
    segment.entries[at] = a
    segment.entries[at + 1] = b
    segment.entries[at + 2] = c
    segment.entries[at + 3] = stored
    segment.count++
  }

  #addEntry(segment: Segment | undefined, from: Int32Array, at: number): void {
    const stored = from[at + 3] as number
    if (stored === 0) return
    const a = from[at] as number
    const b = from[at + 1] as number
    const c = from[at + 2] as number
    const hash = hashOf(a, b, c)
    this.#add(segment ?? this.#segment(hash), hash, a, b, c, stored)
  }

  #split(): void {
    const old = (this.#segments[0] as Segment).entries
    this.#segments = Array.from({ length: 1 << segmentBits }, () => segmentOf(256))
    for (let at = 0; at < old.length; at += entryInts) this.#addEntry(undefined, old, at)
  }
}

/** Mixes all bits: ids differ in few of them, and a mask that drops the high bits would fill one corner of the table. */
function hashOf(a: number, b: number, c: number): number {
  let hash = Math.imul(a, 0x9e37_79b1) ^ Math.imul(b + 1, 0x85eb_ca6b) ^ Math.imul(c + 7, 0xc2b2_ae35)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x7feb_352d)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x846c_a68b)
  return hash ^ (hash >>> 16)
}
