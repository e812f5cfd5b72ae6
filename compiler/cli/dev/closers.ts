/** What has to be closed, in the order it was opened. */
export class Closers {
  readonly #closers: (() => unknown)[] = []

  /** Remembers how to close something. */
  add(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Closes everything, the youngest first. One that fails does not keep the others open. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close()
      } catch {
        // We are ending, and there is nothing left that it would keep from working.
      }
    }
  }
}
