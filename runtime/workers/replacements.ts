import { StartError } from "../process/start-error.ts"

/** A worker that ran for this long has started well: its end is not counted as a failed start. */
export const steadyMs = 10_000
const pauseMsMin = 100
const pauseMsMax = 2_000
/** Early ends in a row after which no worker is started any more; and as many for each worker, because all may be killed at once. */
const earlyEndsMin = 10
const earlyEndsPerWorker = 3

/**
 * When to replace workers that end. One that ran for a while is replaced at once. Workers that end early are replaced after pauses that double, and not at all
 * after about 20 seconds of this: a supervisor can then start the whole process again, and see that it fails.
 */
export class Replacements {
  #earlyEnds = 0
  #pauseMs = 0

  /**
   * How long to wait before the next worker is started, in milliseconds; undefined: no worker is started any more. `isAlone`: no other worker has
   * run for a while; otherwise those go on serving, and the next one is always started.
   */
  afterEnd(livedMs: number, workers: number, isAlone: boolean): number | undefined {
    if (livedMs >= steadyMs) {
      this.#earlyEnds = 0
      this.#pauseMs = 0
      return 0
    }
    this.#earlyEnds += 1
    if (isAlone && this.#earlyEnds >= Math.max(earlyEndsMin, workers * earlyEndsPerWorker)) return undefined
    this.#pauseMs = Math.min(pauseMsMax, Math.max(pauseMsMin, this.#pauseMs * 2))
    return this.#pauseMs
  }

  /** Why no worker is started any more. */
  hopeless(last: { readonly message: string; readonly help: string | undefined } | undefined): StartError {
    const seconds = steadyMs / 1_000
    const why = last === undefined ? "" : `; the last one: ${last.message}`
    return new StartError(
      `${this.#earlyEnds} workers in a row ended less than ${seconds} seconds after their start${why}`,
      last?.help ??
        "The log lines `a worker ended`, and the output of the workers before them, say how each ended.",
    )
  }
}
