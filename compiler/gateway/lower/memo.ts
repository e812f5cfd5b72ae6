import { type PartRecorder, type Recorded, recorded, used } from "../recorder.ts"

/** Caches results by key: statements of outer scopes are lowered once for all routes in which they mean the same. */
export class Memo {
  readonly #made = new Map<string, Recorded<unknown>>()
  readonly #recorder: PartRecorder | undefined
  readonly #ids = new WeakMap<object, number>()
  #nextId = 0

  /** `recorder` counts what making a result added for each that uses it. */
  constructor(recorder?: PartRecorder) {
    this.#recorder = recorder
  }

  /** Returns the cached result for the key, or calls `make`. */
  once<Result>(key: string, make: () => Result): Result {
    const known = this.#made.get(key) as Recorded<Result> | undefined
    if (known !== undefined) return used(this.#recorder, known)
    const made = recorded(this.#recorder, make)
    this.#made.set(key, made)
    return made.value
  }

  /** A key for statements in this order. */
  keyOf(items: readonly { readonly bound: object }[]): string {
    return items.map((item) => this.idOf(item.bound)).join(",")
  }

  /** A number that identifies an object. */
  idOf(object: object): number {
    const known = this.#ids.get(object)
    if (known !== undefined) return known
    this.#nextId += 1
    this.#ids.set(object, this.#nextId)
    return this.#nextId
  }
}
