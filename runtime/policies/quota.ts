import { problem } from "./answer.ts"
import type { Exchange } from "./exchange.ts"
import { compileLateCount } from "./late-count.ts"
import { compileLimitKeys } from "./limit-key.ts"
import type { Outcome, Policy } from "./policy.ts"
import type { QuotaAnswer } from "./quotas.ts"

/**
 * Uses up a volume of calls or bytes that is the caller's for a period; used up, the call is refused with 403 and Retry-After. Bytes are known when the
 * exchange has ended, and so is whether a call counts where a condition says it: those are counted then, and may go beyond by what was under way.
 */
export const quota: Policy<"quota"> = (plan, provision) => {
  const { counter, callsMax, bytesMax, periodSeconds } = plan
  const terms = { counter, callsMax, bytesMax, periodSeconds }
  const quotas = provision.quotas()
  const keyOf = compileLimitKeys(plan.keys, provision)
  const { increment = 1 } = plan
  const countLater =
    plan.countIf !== undefined || typeof increment === "object"
      ? compileLateCount(plan, provision)
      : undefined
  const calls = typeof increment === "object" || countLater !== undefined ? 0 : increment
  const startMs = plan.startsAt === undefined ? undefined : Date.parse(plan.startsAt)
  return (exchange) => {
    const key = keyOf(exchange)
    const anchorMs = startMs ?? startOf(key, exchange)
    const go = (answer: QuotaAnswer): Outcome => {
      if (!answer.allowed) return refusal(answer)
      const add = (more: number) => {
        const bytes = bytesMax === undefined ? 0 : exchange.bytesReceived + exchange.bytesSent
        quotas.add(terms, key, anchorMs, { calls: more, bytes })
      }
      if (countLater !== undefined) countLater(exchange, add)
      else if (bytesMax !== undefined) exchange.whenOver(() => add(0))
      return undefined
    }
    const answer = quotas.take(terms, key, anchorMs, calls)
    return answer instanceof Promise ? answer.then(go) : go(answer)
  }
}

/** The period of a subscription begins with it. */
function startOf(key: string, { subscriber }: Exchange): number {
  return key.startsWith("subscription:") ? (subscriber?.sinceMs ?? 0) : 0
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
