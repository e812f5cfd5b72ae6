import { compareBytes } from "#platform"
import type { NamePlace } from "../graph/names.ts"

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const chunkBits = 20
const chunkBytes = 1 << chunkBits
const firstChunkBytes = 1 << 10
const headBytes = 2
const yieldEvery = 1_024
/** Removing an item walks through the whole heap. */
const takenBetween = 128

/** Candidates in order of name, taken one by one. */
export interface Candidates {
  readonly size: number
  shift(): number
}

/**
 * Names with their bytes, sorted only as far as they are read, because pages of a long list are mostly not read to the end. It is a heap
 * whose removed items stay behind it, as in heapsort. The sorted part is searched by binary search.
 */
export class OrderedNames {
  /** Contains only names after it; empty: all names. */
  readonly #after: Uint8Array
  /** Names, each after its length in two bytes. */
  readonly #chunks: Uint8Array[] = [new Uint8Array(firstChunkBytes)]
  #used = 0
  /** Addresses of names: first the heap, then the sorted part, backwards. */
  readonly #order: Int32Array
  #count = 0
  #heap = 0

  /** For at most this many names. */
  constructor(after: string, most: number) {
    this.#after = utf8.encode(after)
    this.#order = new Int32Array(most)
  }

  get count(): number {
    return this.#count
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, 4 * this.#order.length)
  }

  /** Whether it contains all names after this one. */
  reaches(after: string): boolean {
    return compareBytes(this.#after, utf8.encode(after)) <= 0
  }

  /** Call it before `seal`. */
  add({ bytes, start, end }: NamePlace, suffix: Uint8Array): void {
    const length = end - start + suffix.length
    const chunk = this.#chunkFor(length + headBytes)
    this.#order[this.#count++] = (this.#chunks.length - 1) * chunkBytes + this.#used
    let at = this.#used
    chunk[at++] = length & 0xff
    chunk[at++] = length >>> 8
    for (let from = start; from < end; from++) chunk[at++] = bytes[from] as number
    for (let from = 0; from < suffix.length; from++) chunk[at++] = suffix[from] as number
    this.#used = at
  }

  /** Call it when all names are added. */
  *seal(): Generator<void> {
    this.#heap = this.#count
    for (let at = (this.#heap >> 1) - 1; at >= 0; at--) {
      this.#sink(at, this.#order[at] as number)
      if (at % yieldEvery === 0) yield
    }
  }

  /** The names after a name, which need not be among them, one by one; `take` turns a name into the returned value. */
  *from(after: string, take: (name: string) => number): Generator<void, Candidates> {
    const { count } = this
    let place = yield* this.#placeAfter(after)
    return {
      get size() {
        return count - place
      },
      shift: () => take(this.#text(place++)),
    }
  }

  #chunkFor(need: number): Uint8Array {
    const last = this.#chunks.length - 1
    const chunk = this.#chunks[last] as Uint8Array
    if (this.#used + need <= chunk.length) return chunk
    if (this.#used + need > chunkBytes) {
      const next = new Uint8Array(chunkBytes)
      this.#chunks.push(next)
      this.#used = 0
      return next
    }
    let { length } = chunk
    while (length < this.#used + need) length *= 2
    const grown = new Uint8Array(length)
    grown.set(chunk)
    this.#chunks[last] = grown
    return grown
  }

  /** The name at a position of the order, which must be below `count`. */
  #text(place: number): string {
    while (this.#count - this.#heap <= place) this.#take()
    const name = this.#order[this.#count - 1 - place] as number
    const chunk = this.#chunks[name >>> chunkBits] as Uint8Array
    const start = name & (chunkBytes - 1)
    return fromUtf8.decode(chunk.subarray(start + headBytes, start + headBytes + lengthAt(chunk, start)))
  }

  /** The position of the first name after this one. */
  *#placeAfter(name: string): Generator<void, number> {
    if (name === "") return 0
    const bytes = utf8.encode(name)
    for (let taken = 1; this.#heap > 0 && !this.#isAfter(this.#lastInOrder, bytes); taken++) {
      this.#take()
      if (taken % takenBetween === 0) yield
    }
    let low = 0
    let high = this.#count - this.#heap
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#isAfter(this.#order[this.#count - 1 - middle] as number, bytes)) high = middle
      else low = middle + 1
    }
    return low
  }

  /** -1 while nothing is sorted. */
  get #lastInOrder(): number {
    return this.#heap === this.#count ? -1 : (this.#order[this.#heap] as number)
  }

  #isAfter(name: number, bytes: Uint8Array): boolean {
    return name >= 0 && this.#compareWith(name, bytes, 0, bytes.length) > 0
  }

  /** Moves the next name into the sorted part. */
  #take(): void {
    const order = this.#order
    const first = order[0] as number
    this.#heap--
    const last = order[this.#heap] as number
    order[this.#heap] = first
    if (this.#heap > 0) this.#sink(0, last)
  }

  #sink(from: number, name: number): void {
    const order = this.#order
    const end = this.#heap
    let at = from
    for (;;) {
      let child = 2 * at + 1
      if (child >= end) break
      const right = child + 1
      if (right < end && this.#compare(order[right] as number, order[child] as number) < 0) child = right
      if (this.#compare(name, order[child] as number) <= 0) break
      order[at] = order[child] as number
      at = child
    }
    order[at] = name
  }

  #compare(one: number, other: number): number {
    const chunk = this.#chunks[other >>> chunkBits] as Uint8Array
    const start = other & (chunkBytes - 1)
    return this.#compareWith(one, chunk, start + headBytes, lengthAt(chunk, start))
  }

  #compareWith(name: number, others: Uint8Array, otherStart: number, otherLength: number): number {
    const bytes = this.#chunks[name >>> chunkBits] as Uint8Array
    const head = name & (chunkBytes - 1)
    const length = lengthAt(bytes, head)
    const start = head + headBytes
    const common = Math.min(length, otherLength)
    for (let at = 0; at < common; at++) {
      const difference = (bytes[start + at] as number) - (others[otherStart + at] as number)
      if (difference !== 0) return difference
    }
    return length - otherLength
  }
}

function lengthAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8)
}
