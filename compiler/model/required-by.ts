import { nestedSteps } from "../../runtime/plan/nested-steps.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import type { StepId } from "../../runtime/plan/steps.ts"

/** A route that asks for a relation. */
export interface RequiringRoute {
  /** `METHOD /path`. */
  readonly route: string
  /** `type#relation`. */
  readonly relation: string
  /** `file:line` of the `require`. */
  readonly place: string | undefined
}

/** The routes of a plan that ask a store for any of these relations, in the order of their keys. */
export function routesRequiring(
  { plan, origins }: Plan,
  store: string,
  relations: ReadonlySet<string>,
): readonly RequiringRoute[] {
  const found: RequiringRoute[] = []
  const walk = (route: string, path: string, ids: readonly StepId[]): void => {
    ids.forEach((id, at) => {
      const step = plan.steps[id]
      const place = `${path}.${at}`
      if (step === undefined) return
      for (const inside of nestedSteps(step)) walk(route, `${place}.${inside.place}`, inside.steps)
      if (
        (step.kind !== "require" && step.kind !== "filter" && step.kind !== "grant") ||
        step.store !== store
      )
        return
      const [head] = typeof step.object === "string" ? [step.object] : step.object.text
      const relation = `${typeof head === "string" ? head.slice(0, head.indexOf(":")) : ""}#${step.relation}`
      if (relations.has(relation)) found.push({ route, relation, place: origins[place] })
    })
  }
  for (const key of Object.keys(plan.routes).sort()) {
    const { sections } = plan.routes[key] ?? {}
    for (const [section, ids] of Object.entries(sections ?? {})) walk(key, `routes.${key}.${section}`, ids)
  }
  return found
}
