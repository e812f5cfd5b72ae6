import { IntColumn } from "./int-column.ts"
import { TripleTable } from "./triple-table.ts"

/**
 * The kind of a page. The first two are all tuples of an object with one relation, and all tuples of a subject with one relation of its
 * own. The next are parts of large ones: the tuples of one base (types and relations; see slots.ts). From `firstPoint` on it is a single
 * tuple of a large one, existing or not: `firstPoint` plus the subject's id.
 */
export type Kind = number
export const forwardPage = 0
export const reversePage = 1
export const forwardPart = 2
export const reversePart = 3
export const firstPoint = 4

/** Identifies a page: `id` is the name's, `of` the number of the relation or of the base. */
export interface PagePlace {
  readonly id: number
  readonly of: number
  readonly kind: Kind
}

/** A page that only records that its content is too large. */
const large = -1

/** Bytes of a page in addition to its tuples and names. */
const bytesPerPage = 64

/** Pages that one piece of work has touched; they stay in memory until it has ended. */
export class Pins {
  readonly pages: number[] = []
  readonly mark: number

  constructor(mark: number) {
    this.mark = mark
  }
}

/**
 * The pages of a graph in memory. Eviction takes the least used ones by the clock algorithm: a hand goes round and spares pages that were
 * touched since its last visit.
 */
export class Pages {
  readonly #table = new TripleTable()
  readonly #ids = new IntColumn()
  readonly #of = new IntColumn()
  readonly #kinds = new IntColumn()
  /** For a single tuple its slot plus 1; 0: it does not exist. */
  readonly #values = new IntColumn()
  /** 1: touched since the hand's last visit; 0: not touched; -1: no page. */
  readonly #touched = new IntColumn()
  readonly #pinned = new IntColumn()
  readonly #marks = new IntColumn()
  /** The graph's epoch when the page was installed. */
  readonly #since = new IntColumn()
  readonly #vacant: number[] = []
  #hasPoints = false
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

  /** Whether there were ever pages of single tuples. */
  get hasPoints(): boolean {
    return this.#hasPoints
  }

  /** A list for the pages that a piece of work touches. */
  newPins(): Pins {
    this.#marksGiven = (this.#marksGiven + 1) & 0x7fff_ffff
    return new Pins(this.#marksGiven)
  }

  /** From now on, touched pages are pinned for this work; undefined: for none. */
  record(pins: Pins | undefined): void {
    this.#recording = pins
  }

  unpin({ pages }: Pins): void {
    for (const page of pages) this.#pinned.set(page, this.#pinned.get(page) - 1)
    pages.length = 0
  }

  /** Whether the page is in memory and was installed by this epoch. Touches it. */
  has(id: number, of: number, kind: Kind, epoch: number): boolean {
    const page = this.#table.get(id, of, kind)
    if (page < 0 || this.#values.get(page) === large || this.#since.get(page) > epoch) return false
    this.#touch(page)
    return true
  }

  /** The same without touching it. */
  holds({ id, of, kind }: PagePlace): boolean {
    const page = this.#table.get(id, of, kind)
    return page >= 0 && this.#values.get(page) !== large
  }

  /** Whether it is known to be too large for a page. Touches that record. */
  isLarge(id: number, of: number, kind: Kind): boolean {
    const page = this.#table.get(id, of, kind)
    if (page < 0 || this.#values.get(page) !== large) return false
    this.#touch(page)
    return true
  }

  /** The slot of a single tuple; -1 when it does not exist. Undefined when that is unknown, or was unknown at this epoch. */
  point(object: number, base: number, subject: number, epoch: number): number | undefined {
    const page = this.#table.get(object, base, firstPoint + subject)
    if (page < 0 || this.#since.get(page) > epoch) return undefined
    this.#touch(page)
    return this.#values.get(page) - 1
  }

  /** Changes the slot. */
  setPoint({ id, of, kind }: PagePlace, slot: number): void {
    this.#values.set(this.#table.get(id, of, kind), slot + 1)
  }

  /** `slot` is that of a single tuple, -1 when it does not exist. Returns false when it replaced a "too large" record. */
  add({ id, of, kind }: PagePlace, epoch: number, slot = -1): boolean {
    return this.#add({ id, of, kind }, epoch, slot + 1)
  }

  /** Records that it is too large for a page. */
  addLarge(place: PagePlace, epoch: number): boolean {
    return this.#add(place, epoch, large)
  }

  #add({ id, of, kind }: PagePlace, epoch: number, value: number): boolean {
    const known = this.#table.get(id, of, kind)
    if (kind >= firstPoint) this.#hasPoints = true
    const page = known >= 0 ? known : (this.#vacant.pop() ?? this.#end++)
    this.#values.set(page, value)
    this.#since.set(page, epoch)
    if (known < 0) {
      this.#table.set(id, of, kind, page)
      this.#ids.set(page, id)
      this.#of.set(page, of)
      this.#kinds.set(page, kind)
      this.#pinned.set(page, 0)
      this.#marks.set(page, 0)
    }
    this.#touch(page)
    return known < 0
  }

  /** Evicts the least used unpinned page and reports it; false when there is none. */
  evict(onEvicted: (place: PagePlace) => void): boolean {
    // Two rounds: the first may only clear the touched flags.
    for (let tried = 0; tried <= 2 * this.#end; tried++) {
      const page = this.#hand
      this.#hand = this.#hand + 1 >= this.#end ? 0 : this.#hand + 1
      const touched = this.#touched.get(page)
      if (touched < 0 || this.#end === 0 || this.#pinned.get(page) > 0) continue
      if (touched > 0) {
        this.#touched.set(page, 0)
        continue
      }
      const place = { id: this.#ids.get(page), of: this.#of.get(page), kind: this.#kinds.get(page) }
      this.#table.delete(place.id, place.of, place.kind)
      this.#touched.set(page, -1)
      this.#vacant.push(page)
      onEvicted(place)
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
