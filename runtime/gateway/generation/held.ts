/** Something several generations use at once and the last one closes. */
export class Held<T> {
  readonly value: T
  readonly key: string
  readonly #close: () => void
  #holders = 1

  /** Held once, by whoever makes it. `key` says what it was made of. */
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
