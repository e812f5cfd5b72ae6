import type { PlanBody } from "../plan/plan.ts"
import { factsOf, nestedSteps, type Step } from "../plan/steps.ts"
import type { OwnLimitsAnswer, OwnQuota, OwnRateLimit } from "./api.ts"
import type { Published } from "./published.ts"

/** Reads the use of a period; undefined: nothing was counted yet. Rejects with `SourceUnavailable`. */
export type QuotaReader = (period: {
  readonly counter: string
  readonly key: string
  readonly startMs: number
}) => Promise<{ readonly calls: number; readonly bytes: number } | undefined>

/** A step that counts by subscription. */
interface Counting {
  readonly counter: string
  readonly callsMax: number | null
  readonly bytesMax: number | null
  readonly periodSeconds: number
  readonly startsAt: string | undefined
  readonly isQuota: boolean
  readonly where: { readonly api: string; readonly version: string | null }[]
}

/** What is counted by subscription on the published APIs of a product, with the use of quotas. */
export async function ownLimits(
  plan: PlanBody,
  {
    name,
    product,
    createdAt,
  }: { readonly name: string; readonly product: string; readonly createdAt: string },
  published: Published,
  quotaUsed: QuotaReader,
  now = Date.now(),
): Promise<OwnLimitsAnswer> {
  const all = countingOf(plan, product, published)
  const limits = all.flatMap(({ isQuota, callsMax, periodSeconds, where }): OwnRateLimit[] =>
    isQuota || callsMax === null ? [] : [{ calls: callsMax, seconds: periodSeconds, where }],
  )
  const quotas = await Promise.all(
    all.flatMap((each): Promise<OwnQuota>[] =>
      each.isQuota ? [quotaOf(each, name, Date.parse(createdAt), quotaUsed, now)] : [],
    ),
  )
  return { limits, quotas }
}

async function quotaOf(
  { counter, callsMax, bytesMax, periodSeconds, startsAt, where }: Counting,
  name: string,
  createdMs: number,
  quotaUsed: QuotaReader,
  now: number,
): Promise<OwnQuota> {
  const anchorMs = startsAt === undefined ? createdMs : Date.parse(startsAt)
  const lengthMs = periodSeconds * 1000
  // As the gateway does: a period begins a whole number of periods after the anchor; 0 is for ever.
  const startMs = lengthMs === 0 ? anchorMs : anchorMs + Math.floor((now - anchorMs) / lengthMs) * lengthMs
  const used = await quotaUsed({ counter, key: `subscription:${name}`, startMs })
  return {
    ...{ calls: callsMax, bytes: bytesMax, used: used ?? { calls: 0, bytes: 0 }, where },
    startsAt: new Date(startMs).toISOString(),
    endsAt: lengthMs === 0 ? null : new Date(startMs + lengthMs).toISOString(),
  }
}

function countingOf(plan: PlanBody, product: string, published: Published): Counting[] {
  const apis = new Set(plan.products[product]?.apis ?? [])
  const found = new Map<string, Counting>()
  for (const { api, version, sections } of Object.values(plan.routes)) {
    if (!apis.has(api) || !published.shows(api, version)) continue
    const steps = sections.inbound.flatMap((id) => stepsFor(plan.steps[id], product, plan))
    for (const step of steps) {
      const counting = countingIn(step)
      if (counting === undefined) continue
      const known = found.get(counting.counter) ?? counting
      if (!known.where.some((each) => each.api === api && each.version === version))
        known.where.push({ api, version })
      found.set(counting.counter, known)
    }
  }
  return [...found.values()]
}

/** The step, or the steps that it runs for callers of the product. Other conditions are nobody's business. */
function stepsFor(step: Step | undefined, product: string, { steps }: PlanBody): Step[] {
  if (step === undefined) return []
  const condition: unknown = "test" in step ? step.test : undefined
  if (condition === undefined) return [step]
  const test = `subscription.product == ${JSON.stringify(product)}`
  const text =
    typeof condition === "object" && condition !== null && "text" in condition ? condition.text : undefined
  if (text !== test && text !== `has(subscription.product) && ${test}`) return []
  return nestedSteps(step).flatMap((nested) => nested.steps.flatMap((id) => steps[id] ?? []))
}

/** Undefined: it does not count calls or bytes by subscription, or how many is known only per request. */
function countingIn(step: Step): Counting | undefined {
  if (!("counter" in step) || !("keys" in step) || !("periodSeconds" in step)) return undefined
  const { counter, keys, callsMax, periodSeconds } = step
  if (keys[0]?.by !== "subscription" || typeof periodSeconds !== "number") return undefined
  if (typeof step.increment === "object" || typeof callsMax === "object") return undefined
  return {
    ...{ counter, periodSeconds, where: [] },
    callsMax: callsMax ?? null,
    bytesMax: "bytesMax" in step ? (step.bytesMax ?? null) : null,
    startsAt: "startsAt" in step ? step.startsAt : undefined,
    // A limit is over in a moment (429), a quota with its period (403).
    isQuota: factsOf(step).statuses?.includes(403) === true,
  }
}
