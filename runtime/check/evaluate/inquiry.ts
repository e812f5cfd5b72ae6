import { CheckError, type Commit, type PageKey } from "../ports.ts"
import { done, type EngineWork, type Progress, suspended, type View } from "../work.ts"
import type { EvaluationOptions } from "./evaluation.ts"

/** A question in progress on one view of the store, written as a generator; `workOf` turns it into a `Work`. */
export interface Inquiry<Answer> {
  /** Work done so far. */
  readonly steps: number
  /** Another question is computing what this one needs, so it continues in a later turn. */
  readonly waits?: boolean
  /** The pages that were not in memory. */
  readonly misses: ReadonlyMap<string, PageKey>
  /**
   * Yields at least every few hundred steps. Returns true when decided, false when it depends on pages that are not in memory.
   * @throws CheckError
   */
  run(): Generator<void, boolean>
  answer(at: Commit): Answer
  /** A partial answer before the end; undefined when there is none. */
  cut?(at: Commit): Answer | undefined
  /** Releases its resources. */
  close(): void
}

export interface WorkBounds {
  readonly stepsMax: number
  readonly deadlineMs?: number | undefined
}

/** Lists visit far more nodes than a check: this many times its steps. */
const listSteps = 4

/** The limits of a question about many items. */
export function boundsOfList(bounds: EvaluationOptions, deadlineMs?: number): WorkBounds {
  return { stepsMax: listSteps * bounds.stepsMax, deadlineMs }
}

/** The rest of the time is for sending the answer, because the caller has the same deadline. */
const reasonsShare = 0.8

/** Time for finding reasons; after it the answer contains only those found so far. */
export function reasonsDeadline({ deadlineMs }: EvaluationOptions): number | undefined {
  return deadlineMs === undefined ? undefined : reasonsShare * deadlineMs
}

/** The work on a question; `open` starts it anew for each view. */
export function workOf<Answer>(
  { stepsMax, deadlineMs }: WorkBounds,
  open: (view: View) => Inquiry<Answer>,
): EngineWork<Answer> {
  return new InquiryWork(stepsMax, deadlineMs, open)
}

/** A question that already has its answer. */
export function answered<Answer>(answer: Answer): Inquiry<Answer> {
  return { steps: 0, misses: nothing, run: ends, answer: () => answer, close: () => undefined }
}

const nothing: ReadonlyMap<string, PageKey> = new Map()

// biome-ignore lint/correctness/useYield: there is nothing to do.
function* ends(): Generator<void, boolean> {
  return true
}

class InquiryWork<Answer> implements EngineWork<Answer> {
  readonly stepsMax: number
  readonly deadlineMs: number | undefined
  readonly #open: (view: View) => Inquiry<Answer>
  #inquiry: Inquiry<Answer> | undefined
  #running: Generator<void, boolean> | undefined

  constructor(stepsMax: number, deadlineMs: number | undefined, open: (view: View) => Inquiry<Answer>) {
    this.stepsMax = stepsMax
    this.deadlineMs = deadlineMs
    this.#open = open
  }

  get steps(): number {
    return this.#inquiry?.steps ?? 0
  }

  begin(view: View): void {
    this.release()
    this.#inquiry = this.#open(view)
    this.#running = this.#inquiry.run()
  }

  run(isLate: () => boolean): Progress {
    const inquiry = this.#inquiry as Inquiry<Answer>
    for (;;) {
      const step = (this.#running as Generator<void, boolean>).next()
      if (step.done === true) return step.value ? done : { kind: "miss", keys: [...inquiry.misses.values()] }
      if (inquiry.steps > this.stepsMax)
        throw new CheckError(
          "authorization_model_resolution_too_complex",
          `Authorization Model resolution required more than ${this.stepsMax} steps. Ask for less in one request, or check your authorization model and tuples for too many alternatives`,
        )
      if (inquiry.waits === true || isLate()) return suspended
    }
  }

  answer(at: Commit): Answer {
    return (this.#inquiry as Inquiry<Answer>).answer(at)
  }

  cut(at: Commit): Answer | undefined {
    return this.#inquiry?.cut?.(at)
  }

  release(): void {
    this.#inquiry?.close()
    this.#inquiry = undefined
    this.#running = undefined
  }
}
