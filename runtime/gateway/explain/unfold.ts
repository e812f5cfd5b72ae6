import type { Plan } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import { nestedSteps, type Step, type StepId } from "../../plan/steps.ts"
import type { LimitState, Proof, QuotaState, StepState } from "./request-explanation.ts"

/** One use of a step in a route, and its outcome. */
export interface StepUse {
  /** Unique, even when the same step occurs at other places. */
  readonly id: StepId
  readonly at: string
  readonly place: string
  readonly step: Step
  readonly inside: readonly { readonly place: string; readonly uses: readonly StepUse[] }[]
  readonly notes: string[]
  state: StepState
  limit?: LimitState
  quota?: QuotaState
  proof?: Proof
}

/** The sections of a route by their names in the plan. */
export const sectionNames = ["inbound", "backend", "outbound", "onError"] as const
export type SectionName = (typeof sectionNames)[number]

/** A route in which every place has its own step. */
export interface Unfolded {
  readonly sections: Readonly<Record<SectionName, readonly StepUse[]>>
  readonly steps: Readonly<Record<StepId, Step>>
  readonly uses: ReadonlyMap<StepId, StepUse>
}

const usesMax = 10_000

/**
 * Gives every place of a route its own step, so that equal steps can have different outcomes.
 * @throws Error for more than 10,000 places
 */
export function unfold(plan: Plan, key: string, route: Route): Unfolded {
  const uses = new Map<StepId, StepUse>()
  const steps: Record<StepId, Step> = {}
  const useOf = (original: StepId, at: string): StepUse => {
    if (uses.size >= usesMax) throw new Error(`the route has more than ${usesMax} steps`)
    const id = `use-${uses.size}`
    const inside: { place: string; uses: StepUse[] }[] = []
    const step = structuredClone(plan.plan.steps[original]) as Step
    const use: StepUse = {
      ...{ id, at, step, inside },
      place: plan.origins[`routes.${key}.${at}`] ?? "",
      ...{ notes: [], state: "not-reached" as StepState },
    }
    uses.set(id, use)
    for (const { place, steps: nested } of nestedSteps(step)) {
      const own = nested.map((each, index) => useOf(each, `${at}.${place}.${index}`))
      inside.push({ place, uses: own })
      putInside(
        step,
        place,
        own.map((each) => each.id),
      )
    }
    steps[id] = step
    return use
  }
  const section = (name: SectionName): StepUse[] =>
    route.sections[name].map((id, index) => useOf(id, `${name}.${index}`))
  const sections = {
    ...{ inbound: section("inbound"), backend: section("backend") },
    ...{ outbound: section("outbound"), onError: section("onError") },
  }
  return { sections, steps, uses }
}

/** Replaces the list of ids that `nestedSteps` found at a place. */
export function putInside(step: Step, place: string, ids: StepId[]): void {
  const [field = "", index] = place.split(".")
  const lists = step as unknown as Record<string, unknown>
  if (index === undefined) lists[field] = ids
  else (lists[field] as StepId[][])[Number(index)] = ids
}
