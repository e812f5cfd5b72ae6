import type { StepOf } from "../../plan/steps.ts"
import type { Exchange } from "../exchange.ts"
import { problem } from "../messages/answer.ts"
import type { Outcome, Policy, Provision } from "../policy.ts"
import type { QuotaAnswer, QuotaCounters, QuotaTerms } from "../ports.ts"
import { compileCount } from "../values/value.ts"
import { compileLateCount } from "./late-count.ts"
import { compileLimitKeys } from "./limit-key.ts"
import { tellRemaining, tellUsage } from "./limit-signs.ts"

/**
 * Consumes a quota of calls or bytes per caller and period. When it is used up, calls get 403 with Retry-After. Bytes and conditional calls are
 * counted at the end of the exchange, so exchanges in progress may exceed the quota.
 */
export const quota: Policy<"quota"> = (plan, provision) => {
  const { bytesMax } = plan
  const termsOf = compileTerms(plan, provision)
  const quotas = provision.quotas()
  const keyOf = compileLimitKeys(plan.keys, provision)
  const late = compileLateCount(plan, provision)
  const calls = typeof plan.increment === "number" ? plan.increment : 1
  const what = wordsOf(plan)
  const tells = compileRemaining(plan, quotas)
  const startMs = plan.startsAt === undefined ? undefined : Date.parse(plan.startsAt)
  return (exchange) => {
    const terms = termsOf(exchange)
    const key = keyOf(exchange)
    const anchorMs = startMs ?? startOf(key, exchange)
    const first = late === undefined ? calls : late.ahead(exchange)
    const go = (answer: QuotaAnswer): Outcome | Promise<Outcome> => {
      const add = (more: number) => {
        const bytes = bytesMax === undefined ? 0 : exchange.bytesReceived + exchange.bytesSent
        quotas.add(terms, key, anchorMs, { calls: more, bytes })
      }
      if (answer.allowed) {
        if (late !== undefined) late.later(exchange, first, add)
        else if (bytesMax !== undefined) exchange.whenOver(() => add(0))
      }
      const outcome = answer.allowed ? undefined : refusal(answer, what)
      const usage = (left?: number): Outcome => {
        if (answer.allowed && late !== undefined) tellUsage(plan, exchange, late, first, left)
        return outcome
      }
      return tells === undefined ? usage() : tells(exchange, terms, key, anchorMs).then(usage)
    }
    const answer = quotas.take(terms, key, anchorMs, first)
    return answer instanceof Promise ? answer.then(go) : go(answer)
  }
}

/** The number of calls may be an expression; a value that is not a number fails the call. */
function compileTerms(
  { counter, callsMax, bytesMax, periodSeconds }: StepOf<"quota">,
  provision: Provision,
): (exchange: Exchange) => QuotaTerms {
  if (typeof callsMax !== "object") {
    const terms = { counter, callsMax, bytesMax, periodSeconds }
    return () => terms
  }
  const countOf = compileCount(callsMax, provision)
  return (exchange) => ({ counter, callsMax: countOf(exchange), bytesMax, periodSeconds })
}

type Tells = (
  exchange: Exchange,
  terms: QuotaTerms,
  key: string,
  anchorMs: number,
) => Promise<number | undefined>

/** Compiles how the remaining calls are reported under the names in the plan; reports nothing when the count is not known. */
function compileRemaining(plan: StepOf<"quota">, quotas: QuotaCounters): Tells | undefined {
  const { remainingHeader, remainingVariable } = plan
  if (plan.callsMax === undefined || (remainingHeader === undefined && remainingVariable === undefined))
    return undefined
  return async (exchange, terms, key, anchorMs) => {
    const used = await quotas.look?.(terms, key, anchorMs)
    if (used === undefined || terms.callsMax === undefined) return undefined
    const left = Math.max(0, terms.callsMax - used.calls)
    tellRemaining(plan, exchange, left)
    return left
  }
}

/** The period of a subscription starts when the subscription does. */
function startOf(key: string, { subscriber }: Exchange): number {
  return key.startsWith("subscription:") ? (subscriber?.sinceMs ?? 0) : 0
}

interface Words {
  readonly calls: string
  readonly bytes: string
}

function wordsOf({ increment }: StepOf<"quota">): Words {
  const tokens = typeof increment === "object" && "tokens" in increment
  return { calls: tokens ? "token" : "call volume", bytes: "bandwidth" }
}

/** Clients of Azure API Management may search for its texts. */
function refusal({ out, resetSeconds }: Extract<QuotaAnswer, { allowed: false }>, words: Words): Outcome {
  const seconds = Math.max(1, resetSeconds ?? 1)
  const again = resetSeconds === null ? "" : ` Quota will be replenished in ${clock(seconds)}.`
  return problem("forbidden", {
    headers: resetSeconds === null ? [] : ["retry-after", String(seconds)],
    reason: "QuotaExceeded",
    message: `The quota of ${out} is used up.${resetSeconds === null ? "" : ` It is renewed in ${seconds} seconds.`}`,
    apimMessage: `Out of ${words[out]} quota.${again}`,
    cause: `the quota of ${out} is used up`,
  })
}

/** `hh:mm:ss`, with the days in front when there are any. */
function clock(seconds: number): string {
  const [days, rest] = [Math.floor(seconds / 86_400), seconds % 86_400]
  const parts = [Math.floor(rest / 3_600), Math.floor(rest / 60) % 60, rest % 60]
  return `${days > 0 ? `${days}.` : ""}${parts.map((part) => String(part).padStart(2, "0")).join(":")}`
}
