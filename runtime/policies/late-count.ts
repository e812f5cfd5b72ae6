import type { StepOf } from "../plan/steps.ts"
import { type Exchange, responseBody } from "./exchange.ts"
import type { Provision } from "./policy.ts"
import { compileCount, compileTest } from "./value.ts"

/** Tells `count` how much an exchange counts, once it has ended. */
export type CountLater = (exchange: Exchange, count: (amount: number) => void) => void

/**
 * Whether and how much is counted may depend on the answer, also on its body: of that a copy is kept while it passes. What has no value when the exchange
 * has ended (a client that left, a body that is larger than may be held) counts, as 1.
 */
export function compileLateCount(
  { countIf, increment = 1 }: Pick<StepOf<"rate-limit">, "countIf" | "increment">,
  provision: Provision,
): CountLater {
  const counts = countIf === undefined ? () => true : compileTest(countIf, provision)
  const amountOf = compileCount(increment, provision)
  const readsAnswer = (provision.needed & responseBody) !== 0
  return (exchange, count) => {
    if (readsAnswer) exchange.keepAnswer()
    exchange.whenOver(() => {
      const decide = () => {
        if (known(() => counts(exchange), true)) count(known(() => amountOf(exchange), 1))
      }
      const loading = readsAnswer ? exchange.load(responseBody) : undefined
      if (loading === undefined) decide()
      else loading.then(decide, decide)
    })
  }
}

function known<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
