import type { Progress, View, Work } from "../check/work.ts"
import { ApiError } from "./api-error.ts"

/** The same work, but it ends when the client has gone: nobody waits for what it would find. */
export function whileWanted<Found>(work: Work<Found>, isGone: () => boolean): Work<Found> {
  return new WantedWork(work, isGone)
}

class WantedWork<Found> implements Work<Found> {
  readonly stepsMax: number | undefined
  readonly deadlineMs: number | undefined
  readonly #work: Work<Found>
  readonly #isGone: () => boolean

  constructor(work: Work<Found>, isGone: () => boolean) {
    this.stepsMax = work.stepsMax
    this.deadlineMs = work.deadlineMs
    this.#work = work
    this.#isGone = isGone
  }

  get steps(): number {
    return this.#work.steps
  }

  begin(view: View): void {
    this.#work.begin(view)
  }

  run(isLate: () => boolean): Progress {
    if (this.#isGone()) throw new ApiError("cancelled", "Request Cancelled")
    return this.#work.run(isLate)
  }

  answer(revision: number): Found {
    return this.#work.answer(revision)
  }

  cut(revision: number): Found | undefined {
    return this.#work.cut?.(revision)
  }

  release(): void {
    this.#work.release()
  }
}
