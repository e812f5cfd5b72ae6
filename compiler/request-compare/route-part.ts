import { digestOf } from "../../runtime/plan/canonical.ts"
import type { NamedTable } from "../../runtime/plan/facts.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import {
  isCredential,
  namedBy,
  nestedSteps,
  type Step,
  type StepId,
  shownTo,
} from "../../runtime/plan/steps.ts"

/** The steps that a route can run, with those inside of others. */
export function stepsOfRoute({ routes, steps }: PlanBody, key: string): ReadonlyMap<StepId, Step> {
  const found = new Map<StepId, Step>()
  const add = (ids: readonly StepId[]) => {
    for (const id of ids) {
      const step = steps[id]
      if (step === undefined || found.has(id)) continue
      found.set(id, step)
      for (const nested of nestedSteps(step)) add(nested.steps)
    }
  }
  add(Object.values(routes[key]?.sections ?? {}).flat())
  return found
}

/** The tables of a plan whose entries steps name, as they are called there. */
const namedTables: readonly Exclude<NamedTable, "stores">[] = [
  "issuers",
  "introspections",
  "oidcClients",
  "users",
  "backends",
  "pdps",
  "tokenClients",
  "certificates",
  "schemas",
]

/**
 * The digest of everything in a plan that a request at this route can depend on, and of more: two plans with equal digests treat its requests
 * equally. Of the other routes it has nothing.
 */
export function digestOfRoute(body: PlanBody, key: string): string {
  return digestOf(partOf(body, key, body.routes[key]))
}

/**
 * The same without the place of the route: routes of equal digests do the same for requests at their own paths, because steps reach the path only by its
 * parameters.
 */
export function digestOfKind(body: PlanBody, key: string): string {
  const route = body.routes[key]
  if (route === undefined) return ""
  const { path, operation: _, stripPrefix: _prefix, ...rest } = route
  return digestOf(partOf(body, key, { ...rest, parameters: path.match(/\{\w+\*?\}/g) ?? [] }))
}

function partOf(body: PlanBody, key: string, route: object | undefined): object {
  const steps = [...stepsOfRoute(body, key).values()]
  const asksForKey = steps.some((step) => isCredential(step) && shownTo(step).is === "key")
  const stores = namedBy(steps, "stores")
  const part: Record<string, unknown> = {
    route: route ?? null,
    steps,
    gateway: body.gateway,
    values: body.values,
    secrets: body.secrets,
    subscribers: asksForKey ? [body.products, body.subscriptions] : null,
    stores: stores.size === 0 ? null : [[...stores].map((name) => body.authz?.stores[name]), body.models],
  }
  for (const table of namedTables) {
    const names = namedBy(steps, table)
    const entries: Readonly<Record<string, unknown>> = body[table] ?? {}
    // Schemas refer to each other.
    part[table] =
      table === "schemas" && names.size > 0 ? entries : [...names].sort().map((name) => entries[name])
  }
  return JSON.parse(JSON.stringify(part)) as object
}
