import { IntColumn } from "./int-column.ts"
import { TripleTable } from "./triple-table.ts"

/** Which of the two adjacencies a page is of. */
export type Direction = "forward" | "reverse"

/** What a page takes beside its tuples and names. */
const bytesPerPage = 64

/** Pages one piece of work has touched; they stay in memory until it has ended. */
export class Pins {
  readonly pages: number[] = []
  readonly mark: number

  constructor(mark: number) {
    this.mark = mark
  }
}

/**
 * Which pages of a graph are in memory: a page is what stands on an object under one relation, or where a subject stands with one relation of its
 * own. Those least used go first, found by a hand that goes round and spares once what was touched since it last came by.
 */
export class Pages {
  readonly #table = new TripleTable()
  readonly #ids = new IntColumn()
  readonly #relations = new IntColumn()
  readonly #directions = new IntColumn()
  /** 1: touched since the hand came by; 0: not; -1: no page. */
  readonly #touched = new IntColumn()
  readonly #pinned = new IntColumn()
  readonly #marks = new IntColumn()
  /** The graph's epoch when the page was installed. */
  readonly #since = new IntColumn()
  readonly #vacant: number[] = []
  #end = 0
  #hand = 0
  #marksGiven = 0
  #recording: Pins | undefined

  get size(): number {
    return this.#end - this.#vacant.length
  }

  get bytes(): number {
    return this.#table.bytes + bytesPerPage * this.size
  }

  /** A list for the pages a piece of work touches. */
  newPins(): Pins {
    this.#marksGiven = (this.#marksGiven + 1) & 0x7fff_ffff
    return new Pins(this.#marksGiven)
  }

  /** From now on what is touched is pinned for this work; for none with undefined. */
  record(pins: Pins | undefined): void {
    this.#recording = pins
  }

  unpin({ pages }: Pins): void {
    for (const page of pages) this.#pinned.set(page, this.#pinned.get(page) - 1)
    pages.length = 0
  }

  /** Is the page in memory, and was it installed by then? Then it is touched. */
  has(id: number, relation: number, direction: Direction, epoch: number): boolean {
    const page = this.#table.get(id, relation, direction === "forward" ? 0 : 1)
    if (page < 0 || this.#since.get(page) > epoch) return false
    this.#touch(page)
    return true
  }

  /** The same without being a use of it. */
  holds(id: number, relation: number, direction: Direction): boolean {
    return this.#table.get(id, relation, direction === "forward" ? 0 : 1) >= 0
  }

  add(id: number, relation: number, direction: Direction, epoch: number): void {
    const page = this.#vacant.pop() ?? this.#end++
    const side = direction === "forward" ? 0 : 1
    this.#table.set(id, relation, side, page)
    this.#ids.set(page, id)
    this.#relations.set(page, relation)
    this.#directions.set(page, side)
    this.#since.set(page, epoch)
    this.#pinned.set(page, 0)
    this.#marks.set(page, 0)
    this.#touched.set(page, 1)
    this.#touch(page)
  }

  /** Takes the least used page that nobody has pinned out, and tells what it was; false when there is none. */
  evict(onEvicted: (id: number, relation: number, direction: Direction) => void): boolean {
    // Twice round: once to forget what was touched.
    for (let tried = 0; tried <= 2 * this.#end; tried++) {
      const page = this.#hand
      this.#hand = this.#hand + 1 >= this.#end ? 0 : this.#hand + 1
      const touched = this.#touched.get(page)
      if (touched < 0 || this.#end === 0 || this.#pinned.get(page) > 0) continue
      if (touched > 0) {
        this.#touched.set(page, 0)
        continue
      }
      const id = this.#ids.get(page)
      const relation = this.#relations.get(page)
      const side = this.#directions.get(page)
      this.#table.delete(id, relation, side)
      this.#touched.set(page, -1)
      this.#vacant.push(page)
      onEvicted(id, relation, side === 0 ? "forward" : "reverse")
      return true
    }
    return false
  }

  #touch(page: number): void {
    this.#touched.set(page, 1)
    const recording = this.#recording
    if (recording === undefined || this.#marks.get(page) === recording.mark) return
    this.#marks.set(page, recording.mark)
    this.#pinned.set(page, this.#pinned.get(page) + 1)
    recording.pages.push(page)
  }
}
