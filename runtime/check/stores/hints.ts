/** Somebody says that there may be something new. Hints that come while one is followed become one more. */
export class Hints {
  readonly #follow: () => Promise<unknown>
  #heard = 0

  /** What `follow` rejects with is let pass: a hint is never needed. */
  constructor(follow: () => Promise<unknown>) {
    this.#follow = follow
  }

  heard(): void {
    this.#heard++
    if (this.#heard === 1) void this.#followAll()
  }

  async #followAll(): Promise<void> {
    while (this.#heard > 0) {
      const heard = this.#heard
      await this.#follow().catch(() => undefined)
      this.#heard = this.#heard > heard ? 1 : 0
    }
  }
}
