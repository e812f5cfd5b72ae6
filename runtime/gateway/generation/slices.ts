import { setImmediate as nextTurn } from "node:timers/promises"

/**
 * Work in time slices, with requests handled in between. Slices are short, because garbage collection of what they allocate runs in the same turn and
 * takes longer.
 */
export class Slices {
  readonly #sliceMs: number
  #since = performance.now()

  constructor(sliceMs = 4) {
    this.#sliceMs = sliceMs
  }

  /** Call it between small pieces of work; it yields to the event loop when the slice is used up. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#since < this.#sliceMs) return
    await nextTurn()
    this.#since = performance.now()
  }
}
