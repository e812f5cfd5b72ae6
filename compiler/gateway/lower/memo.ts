/** Caches results by key: statements of outer scopes are lowered once for all routes in which they mean the same. */
export class Memo {
  readonly #made = new Map<string, unknown>()
  readonly #ids = new WeakMap<object, number>()
  #nextId = 0

  /** Returns the cached result for the key, or calls `make`. */
  once<Result>(key: string, make: () => Result): Result {
    if (!this.#made.has(key)) this.#made.set(key, make())
    return this.#made.get(key) as Result
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
