import type { StepOf } from "../plan/steps.ts"
import { problem } from "./answer.ts"
import type { Exchange } from "./exchange.ts"
import { compileLimitKeys } from "./limit-key.ts"
import type { Outcome, Policy, Provision } from "./policy.ts"
import type { QuotaAnswer } from "./quotas.ts"
import { compileCount, compileTest } from "./value.ts"

/**
 * Uses up a volume of calls or bytes that is the caller's for a period; used up, the call is refused with 403 and Retry-After. Bytes are known when the
 * exchange has ended, and so is whether a call counts where a condition says it: those are counted then, and may go beyond by what was under way.
 */
export const quota: Policy<"quota"> = (plan, provision) => {
  const { counter, callsMax, bytesMax, periodSeconds } = plan
  const terms = { counter, callsMax, bytesMax, periodSeconds }
  const quotas = provision.quotas()
  const keyOf = compileLimitKeys(plan.keys, provision)
  const amountOf = compileCount(plan.increment ?? 1, provision)
  const late = plan.countIf !== undefined || typeof plan.increment === "object"
  const callsOf = late ? countedLate(plan, provision, amountOf) : () => 0
  const startMs = plan.startsAt === undefined ? undefined : Date.parse(plan.startsAt)
  return (exchange) => {
    const key = keyOf(exchange)
    const anchorMs = startMs ?? startOf(key, exchange)
    const go = (answer: QuotaAnswer): Outcome => {
      if (!answer.allowed) return refusal(answer)
      if (late || bytesMax !== undefined)
        exchange.whenOver(() => {
          const bytes = exchange.bytesReceived + exchange.bytesSent
          quotas.add(terms, key, anchorMs, {
            calls: callsOf(exchange),
            bytes: bytesMax === undefined ? 0 : bytes,
          })
        })
      return undefined
    }
    const answer = quotas.take(terms, key, anchorMs, late ? 0 : amountOf(exchange))
    return answer instanceof Promise ? answer.then(go) : go(answer)
  }
}

/** The period of a subscription begins with it. */
function startOf(key: string, { subscriber }: Exchange): number {
  return key.startsWith("subscription:") ? (subscriber?.sinceMs ?? 0) : 0
}

/** How many calls an exchange counts that has ended. What cannot be found out then counts as one. */
function countedLate(
  { countIf }: StepOf<"quota">,
  provision: Provision,
  amountOf: (exchange: Exchange) => number,
): (exchange: Exchange) => number {
  const counts = countIf === undefined ? () => true : compileTest(countIf, provision)
  return (exchange) => {
    try {
      return counts(exchange) ? amountOf(exchange) : 0
    } catch {
      return 1
    }
  }
}

const words = { calls: "call volume", bytes: "bandwidth" } as const

/** The sentences are those of Azure API Management: clients may look for them. */
function refusal({ out, resetSeconds }: Extract<QuotaAnswer, { allowed: false }>): Outcome {
  const seconds = Math.max(1, resetSeconds ?? 1)
  const again = resetSeconds === null ? "" : ` Quota will be replenished in ${clock(seconds)}.`
  return problem("forbidden", {
    headers: resetSeconds === null ? [] : ["retry-after", String(seconds)],
    reason: "QuotaExceeded",
    message: `Out of ${words[out]} quota.${again}`,
    cause: `the quota of ${out} is used up`,
  })
}

/** `hh:mm:ss`, with days in front where there are some. */
function clock(seconds: number): string {
  const [days, rest] = [Math.floor(seconds / 86_400), seconds % 86_400]
  const parts = [Math.floor(rest / 3_600), Math.floor(rest / 60) % 60, rest % 60]
  return `${days > 0 ? `${days}.` : ""}${parts.map((part) => String(part).padStart(2, "0")).join(":")}`
}
