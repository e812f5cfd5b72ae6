import type { Problem } from "./answer.ts"
import { dropBasic } from "./basic-auth.ts"
import { dropCredential } from "./credential.ts"
import type { Exchange } from "./exchange.ts"
import type { Outcome, Policy, Step } from "./policy.ts"
import { failureOf } from "./run-steps.ts"
import { dropKey } from "./validate-key.ts"

/**
 * Tries ways to authenticate until one lets the request pass. When all refuse, the client hears about the credential it brought, or about
 * the first way when it brought none. Keys and tokens that are not forwarded are taken out of the request whichever way was taken.
 */
export const anyOf: Policy<"any-of"> = (plan, provision) => {
  const steps = plan.steps.map((id) => provision.step(id))
  const ways = plan.steps.map((id) => provision.plan(id))
  const pass = (exchange: Exchange): undefined => {
    for (const way of ways) {
      if (way.kind === "validate-key" && !way.forward) dropKey(way, exchange)
      else if (way.kind === "basic-auth") dropBasic(way, exchange)
      else if (way.kind === "validate-jwt" || way.kind === "introspect") dropCredential(way.from, exchange)
    }
  }
  return (exchange) => attempt(steps, 0, exchange, [], pass)
}

function attempt(
  steps: readonly Step[],
  from: number,
  exchange: Exchange,
  refusals: Problem[],
  pass: (exchange: Exchange) => undefined,
): Outcome | Promise<Outcome> {
  for (let at = from; at < steps.length; at += 1) {
    const outcome = outcomeOf(steps[at] as Step, exchange)
    if (outcome instanceof Promise) {
      return outcome.then((late) => {
        if (late === undefined) return pass(exchange)
        if (late.kind !== "problem") return late
        refusals.push(late)
        return attempt(steps, at + 1, exchange, refusals, pass)
      })
    }
    if (outcome === undefined) return pass(exchange)
    if (outcome.kind !== "problem") return outcome
    refusals.push(outcome)
  }
  return refusals.find((refusal) => refusal.presented === true) ?? refusals[0]
}

/** A way that breaks is a way that refuses: it must not keep another from letting the request pass. */
function outcomeOf(step: Step, exchange: Exchange): Outcome | Promise<Outcome> {
  try {
    const outcome = step(exchange)
    return outcome instanceof Promise
      ? outcome.catch((error: unknown) => failureOf(error, exchange))
      : outcome
  } catch (error) {
    return failureOf(error, exchange)
  }
}
