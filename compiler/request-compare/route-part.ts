import { digestOf } from "../../runtime/plan/canonical.ts"
import type { NamedTable } from "../../runtime/plan/facts.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import {
  isCredential,
  namedBy,
  type Step,
  type StepId,
  shownTo,
  stepsReached,
} from "../../runtime/plan/steps.ts"

/** The steps that a route can run, with those inside of others. */
export function stepsOfRoute({ routes, steps }: PlanBody, key: string): ReadonlyMap<StepId, Step> {
  return stepsReached(steps, Object.values(routes[key]?.sections ?? {}).flat())
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

/** Digests of the parts of a plan that many routes depend on as a whole. */
const digests = new WeakMap<object, string>()

function digestOfWhole(part: object | null): string | null {
  if (part === null) return null
  let digest = digests.get(part)
  if (digest === undefined) {
    digest = digestOf(part)
    digests.set(part, digest)
  }
  return digest
}

function partOf(body: PlanBody, key: string, route: object | undefined): object {
  const steps = [...stepsOfRoute(body, key).values()]
  const asksForKey = steps.some((step) => isCredential(step) && shownTo(step).is === "key")
  const stores = namedBy(steps, "stores")
  const part: Record<string, unknown> = {
    route: route ?? null,
    steps,
    shared: [body.gateway, body.values, body.secrets].map(digestOfWhole),
    subscribers: asksForKey ? [body.products, body.subscriptions].map(digestOfWhole) : null,
    stores:
      stores.size === 0
        ? null
        : [[...stores].map((name) => body.authz?.stores[name]), digestOfWhole(body.models)],
  }
  for (const table of namedTables) {
    const names = namedBy(steps, table)
    const entries: Readonly<Record<string, unknown>> = body[table] ?? {}
    // Schemas refer to each other.
    part[table] =
      table === "schemas" && names.size > 0
        ? digestOfWhole(entries)
        : [...names].sort().map((name) => entries[name])
  }
  return JSON.parse(JSON.stringify(part)) as object
}
