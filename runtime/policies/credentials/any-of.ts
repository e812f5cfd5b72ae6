import type { Subscriber } from "../../identity/keys.ts"
import { isCredential, shownTo } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import type { DirectAnswer, Problem } from "../messages/answer.ts"
import type { Outcome, Policy, ProvisionedStep } from "../policy.ts"
import { failureOf } from "../run-steps.ts"
import { dropCredential } from "./credential.ts"

/**
 * Tries several ways to authenticate until one succeeds. When all refuse, the client gets the refusal for the credential it sent, or that of the
 * first way. A call of an open product without a key passes only when no other credential decides: a valid one is used, an invalid one is refused.
 * Keys and tokens that are not forwarded are removed from the request in every case.
 */
export const anyOf: Policy<"any-of"> = (plan, provision) => {
  const steps = plan.steps.map((id) => provision.step(id))
  const shown = plan.steps.flatMap((id) => {
    const way = provision.plan(id)
    return isCredential(way) ? [shownTo(way)] : []
  })
  const pass = (exchange: Exchange): undefined => {
    for (const each of shown) dropCredential(each, exchange)
  }
  return (exchange) => new Attempt(steps, exchange, pass).from(0)
}

/** One request and the ways to authenticate it. */
class Attempt {
  readonly #steps: readonly ProvisionedStep[]
  readonly #exchange: Exchange
  readonly #pass: (exchange: Exchange) => undefined
  readonly #refusals: (Problem | DirectAnswer)[] = []
  /** Set when this is a call of an open product without a key. */
  #keyless: Subscriber | undefined

  /** Tries the ways of `auth` for one request. */
  constructor(
    steps: readonly ProvisionedStep[],
    exchange: Exchange,
    pass: (exchange: Exchange) => undefined,
  ) {
    this.#steps = steps
    this.#exchange = exchange
    this.#pass = pass
  }

  /**
   * Continues at a way. If none admits the caller, the refusal of a credential that was presented is more helpful than that of one that was
   * not.
   */
  from(first: number): Outcome | Promise<Outcome> {
    for (let at = first; at < this.#steps.length; at += 1) {
      const outcome = outcomeOf(this.#steps[at] as ProvisionedStep, this.#exchange)
      if (outcome instanceof Promise)
        return outcome.then((late) => (this.#decides(late) ? this.#ended(late) : this.from(at + 1)))
      if (this.#decides(outcome)) return this.#ended(outcome)
    }
    const presented = this.#refusals.find(
      (refusal) => refusal.kind === "problem" && refusal.presented === true,
    )
    if (presented !== undefined || this.#keyless === undefined)
      return presented ?? this.#login ?? this.#refusals[0]
    this.#exchange.subscriber = this.#keyless
    return this.#pass(this.#exchange)
  }

  /** A login helps a user more than the refusal of a credential that was not presented. */
  get #login(): DirectAnswer | undefined {
    return this.#refusals.find((refusal) => refusal.kind === "answer")
  }

  /** Whether this outcome is final, so that no other way is tried. */
  #decides(outcome: Outcome): boolean {
    const { subscriber, subscriptionKey } = this.#exchange
    if (outcome === undefined && subscriber !== undefined && subscriptionKey === undefined) {
      this.#keyless = subscriber
      this.#exchange.subscriber = undefined
      return false
    }
    const refuses = outcome?.kind === "problem" || (outcome?.kind === "answer" && outcome.refuses === true)
    if (!refuses) return true
    this.#refusals.push(outcome)
    return false
  }

  #ended(outcome: Outcome): Outcome {
    return outcome === undefined ? this.#pass(this.#exchange) : outcome
  }
}

/** A way that throws counts as a refusal, so that another way can still succeed. */
function outcomeOf(step: ProvisionedStep, exchange: Exchange): Outcome | Promise<Outcome> {
  try {
    const outcome = step(exchange)
    return outcome instanceof Promise
      ? outcome.catch((error: unknown) => failureOf(error, exchange))
      : outcome
  } catch (error) {
    return failureOf(error, exchange)
  }
}
