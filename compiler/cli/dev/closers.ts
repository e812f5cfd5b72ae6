/** Things to close, in the order they were opened. */
export class Closers {
  readonly #closers: (() => unknown)[] = []

  /** Adds a function that closes something. */
  add(close: () => unknown): void {
    this.#closers.push(close)
  }

  /** Closes everything, the last opened first. A failure does not prevent the others from being closed. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) {
      try {
        await close()
      } catch {
        // The process is ending, so the failure has no effect on anything else.
      }
    }
  }
}
