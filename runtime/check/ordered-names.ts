import type { NamePlace } from "./names.ts"

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const yieldEvery = 1_024
const firstBytes = 1 << 10
const firstNames = 64

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
  #bytes = new Uint8Array(firstBytes)
  #used = 0
  /** By the order in which they came: where each begins; the next begins where it ends. */
  #starts = new Int32Array(firstNames)
  #count = 0
  /** The heap first, then what is in order, backwards. */
  #order = new Int32Array(0)
  #heap = 0

  constructor(after: string) {
    this.#after = utf8.encode(after)
  }

  get count(): number {
    return this.#count
  }

  /** Bytes it takes. */
  get bytes(): number {
    return this.#bytes.length + 4 * (this.#starts.length + this.#order.length)
  }

  /** Are all names after this one in here? */
  reaches(after: string): boolean {
    return Buffer.compare(this.#after, utf8.encode(after)) <= 0
  }

  /** Before `seal`. */
  add({ bytes, start, end }: NamePlace, suffix: Uint8Array): void {
    const need = end - start + suffix.length
    if (this.#used + need > this.#bytes.length) this.#bytes = grown(this.#bytes, this.#used + need)
    if (this.#count + 2 > this.#starts.length) {
      const starts = new Int32Array(2 * this.#starts.length)
      starts.set(this.#starts)
      this.#starts = starts
    }
    let at = this.#used
    const own = this.#bytes
    for (let from = start; from < end; from++) own[at++] = bytes[from] as number
    for (let from = 0; from < suffix.length; from++) own[at++] = suffix[from] as number
    this.#used = at
    this.#starts[++this.#count] = at
  }

  /** All have come. */
  *seal(): Generator<void> {
    this.#bytes = this.#bytes.slice(0, this.#used)
    this.#starts = this.#starts.slice(0, this.#count + 1)
    this.#order = new Int32Array(this.#count)
    for (let at = 0; at < this.#count; at++) this.#order[at] = at
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

  /** The name at a place of the order, which must be below `count`. */
  #text(place: number): string {
    while (this.#count - this.#heap <= place) this.#take()
    const name = this.#order[this.#count - 1 - place] as number
    return fromUtf8.decode(this.#bytes.subarray(this.#starts[name], this.#starts[name + 1]))
  }

  /** The place of the first name after this one. */
  *#placeAfter(name: string): Generator<void, number> {
    if (name === "") return 0
    const bytes = utf8.encode(name)
    for (let taken = 1; this.#heap > 0 && !this.#isAfter(this.#lastInOrder, bytes); taken++) {
      this.#take()
      if (taken % yieldEvery === 0) yield
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
    const starts = this.#starts
    return this.#compareWith(one, this.#bytes, starts[other] as number, starts[other + 1] as number)
  }

  #compareWith(name: number, others: Uint8Array, otherStart: number, otherEnd: number): number {
    const bytes = this.#bytes
    const start = this.#starts[name] as number
    const length = (this.#starts[name + 1] as number) - start
    const otherLength = otherEnd - otherStart
    const common = Math.min(length, otherLength)
    for (let at = 0; at < common; at++) {
      const difference = (bytes[start + at] as number) - (others[otherStart + at] as number)
      if (difference !== 0) return difference
    }
    return length - otherLength
  }
}

function grown(bytes: Uint8Array, need: number): Uint8Array<ArrayBuffer> {
  let { length } = bytes
  while (length < need) length *= 2
  const made = new Uint8Array(length)
  made.set(bytes)
  return made
}
