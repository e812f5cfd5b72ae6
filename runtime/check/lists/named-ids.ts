import { IntList } from "../evaluate/int-list.ts"
import type { EngineQuestion } from "../evaluate/question.ts"
import type { NamePlace } from "../graph/names.ts"
import { firstTemporaryId } from "../graph/overlay.ts"

const utf8 = new TextEncoder()
const fromUtf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const chunkBytes = 1 << 16
const newline = 10
const noBytes = new Uint8Array(0)

/** The bytes of names by id: those of the graph in place, and those that a request brought. All may have the same suffix (`#member`). */
export class NameBytes {
  readonly suffix: Uint8Array
  readonly #suffixText: string
  readonly #question: EngineQuestion
  readonly #temporary = new Map<number, Uint8Array>()
  readonly #one: NamePlace = { bytes: noBytes, start: 0, end: 0 }
  readonly #other: NamePlace = { bytes: noBytes, start: 0, end: 0 }

  constructor(question: EngineQuestion, suffix = "") {
    this.#question = question
    this.#suffixText = suffix
    this.suffix = utf8.encode(suffix)
  }

  /** The name without its suffix; valid until the next call. */
  of(id: number): NamePlace {
    return this.#place(id, this.#one)
  }

  /** The name with its suffix. */
  text(id: number): string {
    return `${this.#question.nameOf(id)}${this.#suffixText}`
  }

  /** Negative, 0 or positive when the first name is before, equal to or after the second, byte by byte. */
  order(id: number, other: number): number {
    return orderOf(this.#place(id, this.#one), this.suffix, this.#place(other, this.#other), this.suffix)
  }

  /** The same for a whole name without an id. */
  orderOf(id: number, name: Uint8Array): number {
    const other = this.#other
    other.bytes = name
    other.start = 0
    other.end = name.length
    return orderOf(this.#place(id, this.#one), this.suffix, other, noBytes)
  }

  #place(id: number, into: NamePlace): NamePlace {
    if (id < firstTemporaryId) return this.#question.graph.names.place(id, into)
    let bytes = this.#temporary.get(id)
    if (bytes === undefined) {
      bytes = utf8.encode(this.#question.nameOf(id))
      this.#temporary.set(id, bytes)
    }
    into.bytes = bytes
    into.start = 0
    into.end = bytes.length
    return into
  }
}

function orderOf(one: NamePlace, suffix: Uint8Array, other: NamePlace, otherSuffix: Uint8Array): number {
  const { bytes, start } = one
  const { bytes: others, start: otherStart } = other
  const length = one.end - start
  const otherLength = other.end - otherStart
  let at = 0
  for (const common = Math.min(length, otherLength); at < common; at++) {
    const difference = (bytes[start + at] as number) - (others[otherStart + at] as number)
    if (difference !== 0) return difference
  }
  for (const whole = Math.max(length + suffix.length, otherLength + otherSuffix.length); at < whole; at++) {
    const byte = at < length ? (bytes[start + at] as number) : (suffix[at - length] ?? -1)
    const beside =
      at < otherLength ? (others[otherStart + at] as number) : (otherSuffix[at - otherLength] ?? -1)
    if (byte !== beside) return byte - beside
  }
  return 0
}

/** Returns ids in order of their names, of which often only the first few are needed: a heap with four bytes per id and no copied names. */
export class NameHeap {
  readonly #names: NameBytes
  readonly #ids = new IntList()
  readonly #after: Uint8Array | undefined

  /** Accepts only ids of names after `after`. */
  constructor(names: NameBytes, after: string | undefined) {
    this.#names = names
    this.#after = after === undefined ? undefined : utf8.encode(after)
  }

  get size(): number {
    return this.#ids.length
  }

  /** The first remaining id; -1 when the heap is empty. */
  get first(): number {
    return this.#ids.length === 0 ? -1 : this.#ids.get(0)
  }

  /** Whether an id's name is after the heap's `after`. */
  takes(id: number): boolean {
    return this.#after === undefined || this.#names.orderOf(id, this.#after) > 0
  }

  add(id: number): void {
    if (!this.takes(id)) return
    const ids = this.#ids
    let at = ids.length
    ids.push(id)
    while (at > 0) {
      const above = (at - 1) >> 1
      const parent = ids.get(above)
      if (this.#names.order(id, parent) >= 0) break
      ids.set(at, parent)
      at = above
    }
    ids.set(at, id)
  }

  /** Removes the first id. */
  shift(): number {
    const ids = this.#ids
    const first = this.first
    if (ids.length === 0) return first
    const last = ids.pop()
    if (ids.length > 0) this.#sink(last)
    return first
  }

  #sink(id: number): void {
    const ids = this.#ids
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= ids.length) break
      const right = child + 1
      if (right < ids.length && this.#names.order(ids.get(right), ids.get(child)) < 0) child = right
      if (this.#names.order(id, ids.get(child)) <= 0) break
      ids.set(at, ids.get(child))
      at = child
    }
    ids.set(at, id)
  }
}

/**
 * Many names for callers that need strings. They are collected as bytes and decoded by thousands, because one decoding is cheaper than
 * many. Names contain no white space, so a newline separates them.
 */
export class PackedNames {
  readonly #strings: string[] = []
  #chunk = new Uint8Array(1 << 10)
  #used = 0

  add({ bytes, start, end }: NamePlace, suffix: Uint8Array): void {
    const need = end - start + suffix.length + 1
    if (this.#used + need > this.#chunk.length) this.#makeRoom(need)
    const chunk = this.#chunk
    let at = this.#used
    for (let from = start; from < end; from++) chunk[at++] = bytes[from] as number
    for (let from = 0; from < suffix.length; from++) chunk[at++] = suffix[from] as number
    chunk[at++] = newline
    this.#used = at
  }

  all(): readonly string[] {
    this.#flush()
    return this.#strings
  }

  #makeRoom(need: number): void {
    const { length } = this.#chunk
    if (length >= chunkBytes || this.#used + need > 8 * length) {
      this.#flush()
      this.#chunk = new Uint8Array(Math.max(chunkBytes, need))
      return
    }
    const grown = new Uint8Array(8 * length)
    grown.set(this.#chunk.subarray(0, this.#used))
    this.#chunk = grown
  }

  #flush(): void {
    if (this.#used === 0) return
    const full = this.#chunk.subarray(0, this.#used)
    this.#used = 0
    for (const name of namesIn(full)) this.#strings.push(name)
  }
}

function namesIn(bytes: Uint8Array): string[] {
  return fromUtf8.decode(bytes.subarray(0, bytes.length - 1)).split("\n")
}
