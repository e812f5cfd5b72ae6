import type { Commit } from "../check/ports.ts"
import type { EngineWork, Progress, View } from "../check/work.ts"
import { ApiError } from "./api-error.ts"
import type { ApiRequest } from "./route.ts"

/** Who waits for the answer. */
type Client = Pick<ApiRequest, "isGone">

/** The same work, but it ends when the client has gone: nobody waits for what it would find. */
export function whileWanted<Found>(work: EngineWork<Found>, request: Client): EngineWork<Found> {
  return new WantedWork(work, request)
}

class WantedWork<Found> implements EngineWork<Found> {
  readonly stepsMax: number | undefined
  readonly deadlineMs: number | undefined
  readonly #work: EngineWork<Found>
  readonly #client: Client

  constructor(work: EngineWork<Found>, client: Client) {
    this.stepsMax = work.stepsMax
    this.deadlineMs = work.deadlineMs
    this.#work = work
    this.#client = client
  }

  get steps(): number {
    return this.#work.steps
  }

  begin(view: View): void {
    this.#work.begin(view)
  }

  run(isLate: () => boolean): Progress {
    if (this.#client.isGone()) throw new ApiError("cancelled", "Request Cancelled")
    return this.#work.run(isLate)
  }

  answer(at: Commit): Found {
    return this.#work.answer(at)
  }

  cut(at: Commit): Found | undefined {
    return this.#work.cut?.(at)
  }

  release(): void {
    this.#work.release()
  }
}
