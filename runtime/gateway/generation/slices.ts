import { setImmediate as nextTurn } from "node:timers/promises"

/** Work in slices: requests are served between them. Short ones: what was allocated in a slice is collected in the same turn, which takes longer. */
export class Slices {
  readonly #sliceMs: number
  #since = performance.now()

  constructor(sliceMs = 4) {
    this.#sliceMs = sliceMs
  }

  /** Call it between small pieces of work; it lets the event loop turn when the slice is used up. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#since < this.#sliceMs) return
    await nextTurn()
    this.#since = performance.now()
  }
}
