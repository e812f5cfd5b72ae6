import { setImmediate as nextTurn } from "node:timers/promises"

/** Work in slices: requests are served between them. */
export class Slices {
  readonly #sliceMs: number
  #since = performance.now()

  constructor(sliceMs = 8) {
    this.#sliceMs = sliceMs
  }

  /** Call it between small pieces of work; it lets the event loop turn when the slice is used up. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#since < this.#sliceMs) return
    await nextTurn()
    this.#since = performance.now()
  }
}
