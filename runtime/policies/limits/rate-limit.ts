import type { Limiter, Taken } from "../../limits/limiter.ts"
import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import { type ProblemOptions, problem } from "../messages/answer.ts"
import type { Outcome, Policy, Provision, Run } from "../policy.ts"
import { compileCount } from "../values/value.ts"
import { compileLateCount, type LateCount } from "./late-count.ts"
import { compileLimitKeys } from "./limit-key.ts"
import { tellRemaining, tellUsage } from "./limit-signs.ts"

/**
 * Counts a call and refuses it when its window is full. Clients see the rest in the fields of draft-ietf-httpapi-ratelimit-headers: `RateLimit` on
 * every response, `RateLimit-Policy` and Retry-After on refusals; and under the names in the plan. With a condition, the window is checked when the
 * call arrives and counted at the end of the exchange if the condition holds.
 */
export const rateLimit: Policy<"rate-limit"> = (plan, provision) => {
  const limiter = provision.limiter()
  const keyOf = compileLimitKeys(plan.keys, provision)
  const boundsOf = compileBounds(plan, provision)
  const answer = answering(plan)
  const late = compileLateCount(plan, provision)
  if (late !== undefined) return countedLater(plan, late, { limiter, keyOf, boundsOf, answer })
  const increment = typeof plan.increment === "number" ? plan.increment : 1
  return (exchange) => {
    const bounds = boundsOf(exchange)
    const { callsMax, periodSeconds } = bounds
    const taken = limiter.take(plan.counter, keyOf(exchange), callsMax, periodSeconds, increment)
    return taken instanceof Promise
      ? taken.then((late) => answer(exchange, late, bounds))
      : answer(exchange, taken, bounds)
  }
}

interface Bounds {
  readonly callsMax: number
  readonly periodSeconds: number
}

interface Parts {
  readonly limiter: Limiter
  readonly keyOf: (exchange: Exchange) => string
  readonly boundsOf: (exchange: Exchange) => Bounds
  readonly answer: (exchange: Exchange, taken: Taken, bounds: Bounds) => Outcome
}

/** The amount is known at the end of the exchange. Until then the window is only checked, or an estimate is counted. */
function countedLater(
  plan: StepOf<"rate-limit">,
  late: LateCount,
  { limiter, keyOf, boundsOf, answer }: Parts,
): Run {
  return (exchange) => {
    const bounds = boundsOf(exchange)
    const key = keyOf(exchange)
    const first = late.ahead(exchange)
    const look = (taken: Taken): Outcome => {
      const outcome = answer(exchange, taken, bounds)
      if (outcome === undefined) {
        tellUsage(plan, exchange, late, first, taken.remaining)
        late.later(exchange, first, (amount) => limiter.add(plan.counter, key, bounds.periodSeconds, amount))
      }
      return outcome
    }
    const taken = limiter.take(plan.counter, key, bounds.callsMax, bounds.periodSeconds, first)
    return taken instanceof Promise ? taken.then(look) : look(taken)
  }
}

/** Each period has its own table of counters: if a request could choose any period, the tables would fill the memory. */
const periodsMax = 16

/** Number and period, which may be computed per request. The number of different periods is limited, because each has its own counts. */
function compileBounds(plan: StepOf<"rate-limit">, provision: Provision): (exchange: Exchange) => Bounds {
  const callsMax = compileCount(plan.callsMax, provision)
  const periodSeconds = compileCount(plan.periodSeconds, provision)
  if (typeof plan.callsMax === "number" && typeof plan.periodSeconds === "number") {
    const bounds = { callsMax: plan.callsMax, periodSeconds: plan.periodSeconds }
    return () => bounds
  }
  const seen = new Set<number>()
  return (exchange) => {
    const period = Math.min(2_147_483_647, Math.max(1, periodSeconds(exchange)))
    if (!seen.has(period) && seen.size >= periodsMax)
      throw new Error(`the period of the limit already had ${periodsMax} different values`)
    seen.add(period)
    return { callsMax: callsMax(exchange), periodSeconds: period }
  }
}

/** What the caller gets to know about the limit (draft-ietf-httpapi-ratelimit-headers). */
function answering(plan: StepOf<"rate-limit">): Parts["answer"] {
  const { retryAfterHeader = "retry-after", totalHeader } = plan
  return (exchange, { allowed, remaining, resetSeconds, local }, { callsMax, periodSeconds }) => {
    if (local === true && plan.sharedRequired === true) return uncounted
    const seconds = Math.max(1, resetSeconds)
    // Several limits may have the same period, so the name contains the limit.
    const name = `"${callsMax}-in-${periodSeconds}s"`
    exchange.answerWith("ratelimit", `${name};r=${remaining};t=${resetSeconds}`)
    tellRemaining(plan, exchange, remaining)
    if (totalHeader !== undefined) exchange.answerOnce(totalHeader, String(callsMax))
    const { variables } = exchange
    if (plan.totalVariable !== undefined) variables.set(plan.totalVariable, BigInt(callsMax))
    if (allowed) return undefined
    if (plan.retryAfterVariable !== undefined) variables.set(plan.retryAfterVariable, BigInt(seconds))
    exchange.answerWith("ratelimit-policy", `${name};q=${callsMax};w=${periodSeconds}`)
    return problem("rate-limited", {
      headers: [retryAfterHeader, String(seconds)],
      cause: `${callsMax} calls in ${periodSeconds} s are used up; the next call is possible in ${seconds} s`,
      ...refusedWords(plan, seconds),
    })
  }
}

const uncounted = problem("limits-unavailable", {
  headers: ["retry-after", "1"],
  cause: "the limit is `shared required`, and the shared counters are unavailable",
})

/**
 * Clients of Azure API Management may search for its texts. With the standard Retry-After field, its text about calls is derived from that
 * field.
 */
function refusedWords(
  { increment, retryAfterHeader = "retry-after" }: StepOf<"rate-limit">,
  seconds: number,
): ProblemOptions {
  const again = `Try again in ${seconds} seconds.`
  if (typeof increment === "object" && "tokens" in increment)
    return {
      reason: "TokenLimitExceeded",
      message: `The limit of tokens is used up. ${again}`,
      apimMessage: `Token limit is exceeded. ${again}`,
    }
  const reason = "RateLimitExceeded"
  return retryAfterHeader === "retry-after"
    ? { reason }
    : { reason, message: `The limit is used up. ${again}`, apimMessage: `Rate limit is exceeded. ${again}` }
}
