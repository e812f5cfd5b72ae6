import type { NamePlace } from "../graph/names.ts"

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const chunkBits = 20
const chunkBytes = 1 << chunkBits
const firstChunkBytes = 1 << 10
const headBytes = 2
const yieldEvery = 1_024
/** Taking one out is a way through the whole heap. */
const takenBetween = 128

/** Candidates in order of name, taken out one by one. */
export interface Candidates {
  readonly size: number
  shift(): number
}

/**
 * Names of their own bytes, put in order only as far as somebody reads: pages of a long list are mostly not read to its end. A heap whose taken-out
 * items stay behind it, as in heapsort; what is in order already is found by halves.
 */
export class OrderedNames {
  /** Only names after it are in here; without bytes: all are. */
  readonly #after: Uint8Array
  /** Names, each behind its length in two bytes. */
  readonly #chunks: Uint8Array[] = [new Uint8Array(firstChunkBytes)]
  #used = 0
  /** Where names lie. The heap first, then what is in order, backwards. */
  readonly #order: Int32Array
  #count = 0
  #heap = 0

  /** For so many names at most. */
  constructor(after: string, most: number) {
    this.#after = utf8.encode(after)
    this.#order = new Int32Array(most)
  }

  get count(): number {
    return this.#count
  }

  /** Bytes it takes. */
  get bytes(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, 4 * this.#order.length)
  }

  /** Are all names after this one in here? */
  reaches(after: string): boolean {
    return Buffer.compare(this.#after, utf8.encode(after)) <= 0
  }

  /** Before `seal`. */
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

  /** All have come. */
  *seal(): Generator<void> {
    this.#heap = this.#count
    for (let at = (this.#heap >> 1) - 1; at >= 0; at--) {
      this.#sink(at, this.#order[at] as number)
      if (at % yieldEvery === 0) yield
    }
  }

  /** Those after a name, which need not be among them, one by one: `take` makes of a name what is given out. */
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

  /** The name at a place of the order, which must be below `count`. */
  #text(place: number): string {
    while (this.#count - this.#heap <= place) this.#take()
    const name = this.#order[this.#count - 1 - place] as number
    const chunk = this.#chunks[name >>> chunkBits] as Uint8Array
    const start = name & (chunkBytes - 1)
    return fromUtf8.decode(chunk.subarray(start + headBytes, start + headBytes + lengthAt(chunk, start)))
  }

  /** The place of the first name after this one. */
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

  /** -1 while nothing is in order. */
  get #lastInOrder(): number {
    return this.#heap === this.#count ? -1 : (this.#order[this.#heap] as number)
  }

  #isAfter(name: number, bytes: Uint8Array): boolean {
    return name >= 0 && this.#compareWith(name, bytes, 0, bytes.length) > 0
  }

  /** Puts the next in order. */
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
