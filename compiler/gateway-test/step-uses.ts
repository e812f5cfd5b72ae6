import type { Plan } from "../../runtime/plan/plan.ts"
import { kindFacts, nestedSteps, type Step, type StepId } from "../../runtime/plan/steps.ts"

/** A place of a route where a step runs. */
export interface StepPlace {
  readonly route: string
  readonly id: StepId
  readonly step: Step
  /** `gateway.conf:41`; empty when it comes from no line. */
  readonly place: string
  /** The steps that contain it belong to the same statement: ways of `auth`, questions of `require`. */
  readonly isPart: boolean
}

const sections = ["inbound", "backend", "outbound", "onError"] as const

/** All places of all routes where steps run, in the order in which they run. */
export function usesOf({ plan, origins }: Plan): StepPlace[] {
  const uses: StepPlace[] = []
  const walk = (route: string, ids: readonly StepId[], at: string, isPart: boolean): void => {
    ids.forEach((id, index) => {
      const step = plan.steps[id]
      if (step === undefined) return
      const own = `${at}.${index}`
      uses.push({ route, id, step, place: origins[`routes.${route}.${own}`] ?? "", isPart })
      for (const { place, steps } of nestedSteps(step))
        walk(route, steps, `${own}.${place}`, isPart || kindFacts(step.kind).holds === "alternatives")
    })
  }
  for (const [route, { sections: lists }] of Object.entries(plan.routes))
    for (const section of sections) walk(route, lists[section], section, false)
  return uses
}

/** The places of the steps of one route; undefined: there are none without a route. */
export function placesOf(plan: Plan, route: string | undefined): ReadonlyMap<StepId, readonly StepPlace[]> {
  const places = new Map<StepId, StepPlace[]>()
  const own = route === undefined ? undefined : plan.plan.routes[route]
  if (route === undefined || own === undefined) return places
  for (const use of usesOf({ ...plan, plan: { ...plan.plan, routes: { [route]: own } } })) {
    const same = places.get(use.id)
    if (same === undefined) places.set(use.id, [use])
    else same.push(use)
  }
  return places
}
