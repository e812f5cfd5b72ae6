/** A value shared by several generations; the last one closes it. */
export class Held<T> {
  readonly value: T
  readonly key: string
  readonly #close: () => void
  #holders = 1

  /** The creator holds it once. `key` identifies its settings. */
  constructor(key: string, value: T, close: () => void) {
    this.key = key
    this.value = value
    this.#close = close
  }

  hold(): this {
    this.#holders += 1
    return this
  }

  release(): void {
    this.#holders -= 1
    if (this.#holders === 0) this.#close()
  }
}
