import type { Taken } from "../limits/limiter.ts"
import type { LimitKey } from "../plan/steps.ts"
import { problem } from "./answer.ts"
import { claimAt } from "./claim.ts"
import type { Exchange } from "./exchange.ts"
import type { Outcome, Policy } from "./policy.ts"

/**
 * Counts a call and refuses it when its window is full. Clients see how much is left by the fields of
 * draft-ietf-httpapi-ratelimit-headers: `RateLimit` on every answer, `RateLimit-Policy` and Retry-After on refusals.
 */
export const rateLimit: Policy<"rate-limit"> = (plan, provision) => {
  const { counter, callsMax, periodSeconds } = plan
  const limiter = provision.limiter()
  const keys = plan.keys.map((key) => keyReaders[key.by](key as never))
  const policyName = `"${periodSeconds}s"`
  const policy = `${policyName};q=${callsMax};w=${periodSeconds}`
  const answer = (exchange: Exchange, taken: Taken): Outcome => {
    exchange.answerWith("ratelimit", `${policyName};r=${taken.remaining};t=${taken.resetSeconds}`)
    if (taken.allowed) return undefined
    exchange.answerWith("ratelimit-policy", policy)
    return problem("rate-limited", { headers: ["retry-after", String(Math.max(1, taken.resetSeconds))] })
  }
  return (exchange) => {
    const key = firstKey(keys, exchange)
    // No key at all: callers without one share a count, so that leaving the credential out is no way around the limit.
    const taken = limiter.take(counter, key ?? "none", callsMax, periodSeconds)
    return taken instanceof Promise ? taken.then((late) => answer(exchange, late)) : answer(exchange, taken)
  }
}

type KeyReader = (exchange: Exchange) => string | undefined

/** The prefix keeps a claim's value from being taken for an address or a subscription. */
const keyReaders: { readonly [By in LimitKey["by"]]: (key: Extract<LimitKey, { by: By }>) => KeyReader } = {
  subscription: () => (exchange) =>
    exchange.subscriber === undefined ? undefined : `subscription:${exchange.subscriber.name}`,
  ip: () => (exchange) => `ip:${exchange.ip}`,
  claim:
    ({ claim }) =>
    (exchange) => {
      const value = exchange.claims === undefined ? undefined : claimAt(exchange.claims, claim)
      return value === undefined || value === null ? undefined : `claim:${JSON.stringify(value)}`
    },
}

function firstKey(readers: readonly KeyReader[], exchange: Exchange): string | undefined {
  for (const read of readers) {
    const key = read(exchange)
    if (key !== undefined) return key
  }
  return undefined
}
