import { IntColumn } from "./int-column.ts"
import { NameArena } from "./names.ts"
import { TripleTable } from "./triple-table.ts"

/** Contexts kept in the parsed form that conditions read. */
const parsedMax = 4_096

/** A condition's context stored with a tuple. */
export type StoredContext = Readonly<Record<string, unknown>>

/** The contexts stored with tuples, as JSON text, each text once; parsed when a condition needs one. */
export class Contexts {
  readonly #ofTuple = new TripleTable()
  readonly #texts = new NameArena()
  readonly #uses = new IntColumn()
  readonly #parsed = new Map<number, StoredContext>()

  get bytes(): number {
    return this.#ofTuple.bytes + this.#texts.bytes
  }

  get reservedBytes(): number {
    return this.#ofTuple.reservedBytes + this.#texts.reservedBytes + this.#uses.bytes
  }

  get(object: number, slot: number, subject: number): StoredContext | undefined {
    const text = this.#ofTuple.get(object, slot, subject)
    if (text < 0) return undefined
    const known = this.#parsed.get(text)
    if (known !== undefined) return known
    const parsed = JSON.parse(this.#texts.text(text)) as StoredContext
    if (this.#parsed.size >= parsedMax) this.#parsed.clear()
    this.#parsed.set(text, parsed)
    return parsed
  }

  /** `text` is `""` for no context. */
  set(object: number, slot: number, subject: number, text: string): void {
    // Nearly all tuples have no context, and most stores have no tuple with one.
    if (text === "" && this.#ofTuple.size === 0) return
    const before = this.#ofTuple.delete(object, slot, subject)
    if (text !== "") {
      const id = this.#texts.intern(text)
      this.#uses.set(id, this.#uses.get(id) + 1)
      this.#ofTuple.set(object, slot, subject, id)
    }
    if (before >= 0) this.#drop(before)
  }

  #drop(text: number): void {
    const left = this.#uses.get(text) - 1
    this.#uses.set(text, left)
    if (left > 0) return
    this.#parsed.delete(text)
    this.#texts.unlink(text)
    this.#texts.release(text)
  }
}
