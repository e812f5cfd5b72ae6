import type { PlanBody } from "../plan/plan.ts"
import { factsOf, type Step, type StepId } from "../plan/steps.ts"
import type { CountedApi, Subscription, SubscriptionLimit, SubscriptionQuota } from "./api.ts"

/** A limit or quota that counts by subscription. `callsMax`, `bytesMax` null: not limited. */
export interface CountedStep {
  readonly counter: string
  readonly unit: "calls" | "tokens"
  readonly callsMax: number | null
  readonly bytesMax: number | null
  /** 0: for ever. */
  readonly periodSeconds: number
  /** Undefined: periods start with the subscription. */
  readonly startsAt: string | undefined
  readonly isQuota: boolean
  readonly where: readonly CountedApi[]
}

/** A version of an API, and its inbound steps that count or decide what counts. */
interface CountingVersion extends CountedApi {
  readonly steps: Set<StepId>
}

/** By API. The routes of a plan are gone through once: products ask for the same APIs. */
const known = new WeakMap<PlanBody, ReadonlyMap<string, readonly CountingVersion[]>>()

/** What counts by subscription where a subscription of this scope may call. `shows`: whether a version may be named. */
export function countedBySubscription(
  plan: PlanBody,
  scope: Subscription["scope"],
  shows: (api: string, version: string | null) => boolean = () => true,
): readonly CountedStep[] {
  const versions = known.get(plan) ?? countingVersions(plan)
  known.set(plan, versions)
  const product = "product" in scope ? scope.product : undefined
  const found = new Map<string, CountedStep & { readonly where: CountedApi[] }>()
  for (const name of apisOf(plan, scope, versions))
    for (const { api, version, steps } of versions.get(name) ?? []) {
      if (!shows(api, version)) continue
      for (const step of reached(plan, steps, product)) {
        const counted = countedOf(step)
        if (counted === undefined) continue
        const { where } = found.get(counted.counter) ?? counted
        const last = where.at(-1)
        if (last?.api !== api || last.version !== version) where.push({ api, version })
        found.set(counted.counter, { ...counted, where })
      }
    }
  return [...found.values()]
}

function apisOf(
  plan: PlanBody,
  scope: Subscription["scope"],
  versions: ReadonlyMap<string, unknown>,
): Iterable<string> {
  if ("all" in scope) return versions.keys()
  if ("api" in scope) return [scope.api]
  return Object.hasOwn(plan.products, scope.product) ? (plan.products[scope.product]?.apis ?? []) : []
}

function countingVersions({ routes, steps }: PlanBody): ReadonlyMap<string, readonly CountingVersion[]> {
  const found = new Map<string, CountingVersion[]>()
  const counts = new Set<StepId>()
  for (const [id, step] of Object.entries(steps))
    if (countedOf(step) !== undefined || productChoice(step) !== undefined) counts.add(id)
  for (const { api, version, sections } of Object.values(routes)) {
    const used = sections.inbound.filter((id) => counts.has(id))
    if (used.length === 0) continue
    const all = found.get(api) ?? []
    found.set(api, all)
    const own = all.find((each) => each.version === version) ?? { api, version, steps: new Set() }
    if (!all.includes(own)) all.push(own)
    for (const id of used) own.steps.add(id)
  }
  return found
}

/** The steps that run for callers with a subscription to the product; undefined: to another scope. */
function reached(plan: PlanBody, ids: Iterable<StepId>, product: string | undefined): Step[] {
  return [...ids].flatMap((id) => {
    const step = plan.steps[id]
    if (step === undefined) return []
    const choice = productChoice(step)
    if (choice === undefined) return [step]
    return reached(plan, choice.product === product ? choice.matched : choice.otherwise, product)
  })
}

/** A choice by product, as the compiler makes it. */
interface ProductChoice {
  readonly product: string
  readonly matched: readonly StepId[]
  readonly otherwise: readonly StepId[]
}

/** Undefined: another step. What runs under other conditions counts only some calls, and is left out. */
function productChoice(step: Step): ProductChoice | undefined {
  if (!("test" in step && "matched" in step) || step.test.lang !== "cel") return undefined
  const test = /^(?:has\(subscription\.product\) && )?subscription\.product == "([^"\\]+)"$/
  const product = test.exec(step.test.text)?.[1]
  return product === undefined ? undefined : { product, matched: step.matched, otherwise: step.otherwise }
}

/** Undefined: it does not count by subscription, or how many it allows is known only per request. */
function countedOf(step: Step): (CountedStep & { readonly where: CountedApi[] }) | undefined {
  if (!("counter" in step) || !("keys" in step) || !("periodSeconds" in step)) return undefined
  const { counter, keys, callsMax, periodSeconds, increment } = step
  if (keys[0]?.by !== "subscription" || typeof periodSeconds !== "number") return undefined
  if (typeof callsMax === "object") return undefined
  return {
    ...{ counter, periodSeconds, where: [] },
    unit: typeof increment === "object" ? "tokens" : "calls",
    callsMax: callsMax ?? null,
    bytesMax: "bytesMax" in step ? (step.bytesMax ?? null) : null,
    startsAt: "startsAt" in step ? step.startsAt : undefined,
    // A limit is over in a moment (429), a quota with its period (403).
    isQuota: factsOf(step).statuses?.includes(403) === true,
  }
}

/** A limit as the API shows it; none for a quota. */
export function limitOf({ isQuota, unit, callsMax, periodSeconds, where }: CountedStep): SubscriptionLimit[] {
  return isQuota || callsMax === null
    ? []
    : [{ unit, calls: callsMax, seconds: periodSeconds, where: [...where] }]
}

/** A quota as the API shows it, without its use. */
export function quotaOf({ unit, callsMax, bytesMax, periodSeconds, where }: CountedStep): SubscriptionQuota {
  return { unit, calls: callsMax, bytes: bytesMax, seconds: periodSeconds, where: [...where] }
}
