import { isSend, nestedSteps, type StepId } from "../../plan/steps.ts"
import type { Clock } from "../clock.ts"
import { type Exchange, requestBody } from "../exchange.ts"
import type { Outcome, Policy, Provision } from "../policy.ts"
import { runSteps } from "../run-steps.ts"
import { compileCount, compileFlag, compileTest } from "../values/value.ts"

/** Maximum pause between two attempts; the timeout of the route ends the exchange anyway. */
const waitMaxMs = 3_600_000
/** Maximum number of attempts, whatever an expression yields; more are a mistake. */
const timesMax = 50

/** Runs steps, and repeats them while a condition holds. */
export const retry: Policy<"retry"> = (plan, provision) => {
  const test = compileTest(plan.test, provision)
  const times = compileCount(plan.times, provision)
  const interval = compileCount(plan.intervalSeconds, provision)
  const longest = plan.maxSeconds === undefined ? undefined : compileCount(plan.maxSeconds, provision)
  const delta = plan.deltaSeconds === undefined ? undefined : compileCount(plan.deltaSeconds, provision)
  const fastFirst = compileFlag(plan.fastFirst, provision)
  const steps = plan.steps.map((id) => provision.step(id))
  // A request body that is sent again must be kept.
  if (holdsForward(plan.steps, provision)) provision.need(requestBody)
  const { clock } = provision
  const waitMs = (exchange: Exchange, repetition: number): number => {
    if (repetition === 1 && fastFirst(exchange)) return 0
    const base = interval(exchange)
    const growth = delta?.(exchange) ?? 0
    const most = longest?.(exchange)
    const seconds =
      most === undefined
        ? base + (repetition - 1) * growth
        : Math.min(base + (2 ** repetition - 1) * growth * (0.8 + 0.4 * clock.random()), most)
    return Math.min(seconds * 1000, waitMaxMs)
  }
  return async (exchange): Promise<Outcome> => {
    const most = Math.min(times(exchange), timesMax)
    const pauses = new Pauses(exchange, clock)
    let outcome = await runSteps(steps, exchange)
    for (let repetition = 1; repetition <= most && again(test, outcome, exchange); repetition += 1) {
      if (!(await pauses.wait(waitMs(exchange, repetition)))) break
      exchange.answeredBy = undefined
      outcome = await runSteps(steps, exchange)
    }
    return outcome
  }
}

function holdsForward(ids: readonly StepId[], provision: Provision): boolean {
  return ids.some((id) => {
    const step = provision.plan(id)
    return isSend(step) || nestedSteps(step).some(({ steps }) => holdsForward(steps, provision))
  })
}

/** Failures of a backend that may be temporary. Every other response is final. */
const mayPass: ReadonlySet<string> = new Set([
  "bad-gateway",
  "gateway-timeout",
  "overloaded",
  "backend-refused",
])
/** Idempotent methods (RFC 9110 §9.2.2). */
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])

/** Whether the condition holds. Without a response of the backend the condition may not have a value; then it holds only for methods that may be repeated. */
function again(test: (exchange: Exchange) => boolean, outcome: Outcome, exchange: Exchange): boolean {
  if (outcome === undefined) return test(exchange)
  if (outcome.kind !== "problem" || !mayPass.has(outcome.name)) return false
  if (exchange.response !== undefined) return test(exchange)
  return repeatable.has(exchange.sentMethod ?? exchange.method)
}

/** The pauses of one exchange; they end with the exchange. */
class Pauses {
  readonly #clock: Clock
  #over = false
  #wake: (() => void) | undefined

  constructor(exchange: Exchange, clock: Clock) {
    this.#clock = clock
    exchange.whenOver(() => {
      this.#over = true
      this.#wake?.()
    })
  }

  /** False when the exchange has ended. */
  async wait(ms: number): Promise<boolean> {
    if (!this.#over && ms > 0) {
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.after(ms, resolve)
        this.#wake = () => {
          cancel()
          resolve()
        }
      })
    }
    return !this.#over
  }
}
