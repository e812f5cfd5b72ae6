import { nestedSteps } from "../../runtime/plan/nested-steps.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import type { Step, StepId } from "../../runtime/plan/steps.ts"

/** Who uses what in a plan. */
export class Uses {
  readonly #body: PlanBody
  readonly #stepsOf = new Map<string, ReadonlySet<Step>>()

  constructor(body: PlanBody) {
    this.#body = body
  }

  /** Keys of the routes with a step of which `uses` holds, sorted. */
  routes(uses: (step: Step, route: Route) => boolean): string[] {
    return Object.entries(this.#body.routes)
      .filter(([, route]) => [...this.#steps(route)].some((step) => uses(step, route)))
      .map(([key]) => key)
      .sort()
  }

  /** Names of the issuers, backends and values a named value is part of, also by way of other values; and whether steps read it. */
  ofValue(name: string): {
    readonly issuers: string[]
    readonly backends: string[]
    readonly steps: boolean
  } {
    const names = new Set([name])
    for (const each of names)
      for (const [other, value] of Object.entries(this.#body.values))
        if ("text" in value && refersTo(value.text, each)) names.add(other)
    const using = (table: Readonly<Record<string, unknown>>) =>
      Object.keys(table)
        .filter((key) => [...names].some((each) => refersTo(table[key], each)))
        .sort()
    return {
      issuers: using(this.#body.issuers),
      backends: using(this.#body.backends),
      steps: Object.values(this.#body.steps).some((step) =>
        [...names].some((each) => refersTo(step, each) || reads(step, each)),
      ),
    }
  }

  #steps({ sections }: Route): ReadonlySet<Step> {
    const lists = [sections.inbound, sections.backend, sections.outbound, sections.onError]
    const key = lists.map((list) => list.join()).join("|")
    let steps = this.#stepsOf.get(key)
    if (steps === undefined) {
      const found = new Set<Step>()
      for (const list of lists) this.#collect(list, found)
      steps = found
      this.#stepsOf.set(key, steps)
    }
    return steps
  }

  #collect(ids: readonly StepId[], found: Set<Step>): void {
    for (const id of ids) {
      const step = this.#body.steps[id]
      if (step === undefined || found.has(step)) continue
      found.add(step)
      for (const { steps } of nestedSteps(step)) this.#collect(steps, found)
    }
  }
}

function refersTo(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false
  if ("value" in node && node.value === name) return true
  return Object.values(node).some((inner) => refersTo(inner, name))
}

/** Whether an expression in the step names the value. */
function reads(step: Step, name: string): boolean {
  return (
    JSON.stringify(step).includes('"lang":"cel"') && new RegExp(`\\b${name}\\b`).test(JSON.stringify(step))
  )
}
