import type { StepKind } from "../../plan/steps.ts"
import type { Outcome } from "../../policies/policy.ts"
import { firstAttribute, lastKept, textAttribute } from "../../tracing/attributes.ts"
import { randomId } from "../../tracing/random-ids.ts"
import type { RecordedPart, RequestTrace } from "../../tracing/request-trace.ts"
import { problemStatus } from "./problem.ts"

const stepName = lastKept(firstAttribute("sallyport.step"))
const problemName = textAttribute("sallyport.problem")
const errorKind = textAttribute("error.type")

/**
 * The span of a step that waits: for keys, an answer about permissions, Redis, a turn, a request. It is made when the step begins, because what the step
 * does in the meantime is below it, and belongs to the trace only when the step turns out to wait.
 */
export class StepSpan implements RecordedPart {
  readonly started = performance.now()
  readonly kind = "internal"
  ended: number | undefined
  readonly #step: StepKind
  readonly #trace: RequestTrace
  readonly #outer: RecordedPart | undefined
  #id: string | undefined
  #outcome: Outcome

  constructor(step: StepKind, trace: RequestTrace) {
    this.#step = step
    this.#trace = trace
    this.#outer = trace.open
    trace.open = this
  }

  /** Most steps do not wait, and need no id. */
  get spanId(): string {
    this.#id ??= randomId(8)
    return this.#id
  }

  get parentSpanId(): string | undefined {
    return this.#outer?.spanId
  }

  get spanName(): string {
    return this.#step
  }

  /** A refusal is no error of the gateway. */
  get error(): string | undefined {
    const outcome = this.#outcome
    return outcome?.kind === "problem" && problemStatus(outcome) >= 500 ? outcome.name : undefined
  }

  attributes(): string {
    const outcome = this.#outcome
    const { error } = this
    return (
      stepName(this.#step) +
      (outcome?.kind === "problem" ? problemName(outcome.name) : "") +
      (error === undefined ? "" : errorKind(error))
    )
  }

  /** The step did not wait, or has ended: what follows is not below it. */
  leave(): void {
    if (this.#trace.open === this) this.#trace.open = this.#outer
  }

  /** Adds it to the trace, since the step waits. */
  waits(outcome: Promise<Outcome>): void {
    this.#trace.add(this)
    const end = (ended?: Outcome) => {
      this.#outcome = ended
      this.ended = performance.now()
      this.leave()
    }
    // A rejected step has no outcome; the request has the reason.
    outcome.then(end, () => end())
  }
}
