import type { NamedTable } from "../../runtime/plan/facts.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import { namedBy, nestedSteps, type Step, type StepId } from "../../runtime/plan/steps.ts"

/**
 * The names of the parts that use something. `clients`: decision points, introspections, OIDC clients, token clients and user tables; `steps`: whether
 * any step uses it.
 */
export interface UsesOf {
  readonly issuers: readonly string[]
  readonly backends: readonly string[]
  readonly clients: readonly string[]
  readonly steps: boolean
  /** Whether the address of a listener uses it. */
  readonly listeners: boolean
}

/** Finds what uses a part of a plan. */
export class Uses {
  readonly #body: PlanBody
  readonly #stepsOf = new Map<string, ReadonlySet<Step>>()

  constructor(body: PlanBody) {
    this.#body = body
  }

  /** Keys of the routes with a step for which `uses` returns true, sorted. */
  routes(uses: (step: Step, route: Route) => boolean): string[] {
    return Object.entries(this.#body.routes)
      .filter(([, route]) => [...this.#steps(route)].some((step) => uses(step, route)))
      .map(([key]) => key)
      .sort()
  }

  /** Keys of the routes with a step that names an entry of a table, sorted. */
  naming(table: NamedTable, name: string): string[] {
    return this.routes((step) => namedBy([step], table).has(name))
  }

  /** The uses of a named value, also through other values. */
  ofValue(name: string): UsesOf {
    const names = new Set([name])
    for (const each of names)
      for (const [other, value] of Object.entries(this.#body.values))
        if ("text" in value && refersTo(value.text, each, valueFields)) names.add(other)
    return this.#of(
      (node) => [...names].some((each) => refersTo(node, each, valueFields)),
      (step) => [...names].some((each) => reads(step, each)),
    )
  }

  /** The uses of a secret. */
  ofSecret(name: string): UsesOf {
    return this.#of(
      (node) => refersTo(node, name, secretFields),
      () => false,
    )
  }

  /** Where something is used, in sorted order, so that the output does not depend on the order of the plan. */
  #of(uses: (node: unknown) => boolean, reads: (step: Step) => boolean): UsesOf {
    const using = (table: Readonly<Record<string, unknown>> = {}) =>
      Object.keys(table)
        .filter((key) => uses(table[key]))
        .sort()
    const {
      issuers,
      backends,
      pdps,
      introspections,
      oidcClients,
      tokenClients,
      users,
      steps,
      gateway,
      authz,
      control,
    } = this.#body
    return {
      issuers: using(issuers),
      backends: using(backends),
      clients: [pdps, introspections, oidcClients, tokenClients, users].flatMap((table) => using(table)),
      steps: Object.values(steps).some((step) => uses(step) || reads(step)),
      listeners: [gateway, authz, control].some((side) => uses(side?.listen)),
    }
  }

  /** All steps of a route. Routes with equal lists share the result. */
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

/** Fields of plan parts that name a value. */
const valueFields = ["value"]
const secretFields = ["secret", "password", "token"]

function refersTo(node: unknown, name: string, fields: readonly string[]): boolean {
  if (typeof node !== "object" || node === null) return false
  if (fields.some((field) => field in node && (node as Record<string, unknown>)[field] === name)) return true
  return Object.values(node).some((inner) => refersTo(inner, name, fields))
}

/** Whether an expression of the step names the value. */
function reads(step: Step, name: string): boolean {
  return (
    JSON.stringify(step).includes('"lang":"cel"') && new RegExp(`\\b${name}\\b`).test(JSON.stringify(step))
  )
}
