import type { NamedTable } from "../../plan/facts.ts"
import type { Plan, PlanBody } from "../../plan/plan.ts"
import { isCredential, namedBy, shownTo, stepsReached } from "../../plan/steps.ts"
import type { Reference } from "../../plan/text.ts"
import { usedBy } from "../generation/parts-of-plan.ts"

/** The part of a plan for one route, and the variables it needs that are not set. */
export interface PlanOfRoute {
  readonly plan: Plan
  readonly unset: readonly string[]
}

/**
 * Reduces a plan to what one route (`key` undefined: no route) needs, so that problems of other routes do not matter. Nothing in the result sends
 * requests, so health checks are removed. Unset variables get a value that matches nothing.
 */
export function planOfRoute(
  plan: Plan,
  key: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): PlanOfRoute {
  const whole = plan.plan
  const route = key === undefined ? undefined : whole.routes[key]
  const routes = key === undefined || route === undefined ? {} : { [key]: route }
  const steps = Object.fromEntries(
    stepsReached(whole.steps, route === undefined ? [] : Object.values(route.sections).flat()),
  )
  const used = Object.values(steps)
  // For a request without a route, the explanation ends with the match, so the `unmatched` steps are not needed.
  const gateway = whole.gateway === null ? null : { ...whole.gateway, onUnmatched: [] }
  const named = <T>(table: NamedTable, of: Readonly<Record<string, T>>) => picked(of, namedBy(used, table))
  const asksForKey = used.some((step) => isCredential(step) && shownTo(step).is === "key")
  const subscriptions = asksForKey ? whole.subscriptions : {}
  const backends = Object.fromEntries(
    Object.entries(whole.backends).map(([name, { health: _, ...backend }]) => [name, backend]),
  )
  const cut: PlanBody = {
    ...{ ...whole, gateway, routes, steps, subscriptions, backends },
    issuers: named("issuers", whole.issuers),
    introspections: named("introspections", whole.introspections ?? {}),
    users: named("users", whole.users ?? {}),
    oidcClients: named("oidcClients", whole.oidcClients ?? {}),
    pdps: named("pdps", whole.pdps ?? {}),
  }
  const { secrets } = usedBy(cut)
  const unset = new Set<string>()
  const urls = namesOfUrls(whole)
  const filled = (reference: Reference, name: string): Reference => {
    if (!("env" in reference) || (environment[reference.env] ?? reference.default) !== undefined)
      return reference
    unset.add(reference.env)
    return { ...reference, default: urls.has(name) ? "http://unset.invalid" : `unset-${reference.env}` }
  }
  const values = Object.entries(whole.values).map(
    ([name, value]) =>
      [name, "from" in value ? { ...value, from: filled(value.from, name) } : value] as const,
  )
  const filledSecrets = Object.entries(picked(whole.secrets, secrets)).map(
    ([name, reference]) => [name, withKey(filled(reference, ""), reference)] as const,
  )
  const body: PlanBody = {
    ...cut,
    ...{ values: Object.fromEntries(values), secrets: Object.fromEntries(filledSecrets) },
  }
  return { plan: { ...plan, plan: body }, unset: [...unset].sort() }
}

/** The placeholder of a secret must be long enough for the key of a signature, and valid Base64. */
function withKey(found: Reference, written: Reference): Reference {
  if (found === written || !("env" in found)) return found
  return { ...found, default: Buffer.from((found.default ?? "").padEnd(24, "-")).toString("base64") }
}

function picked<T>(table: Readonly<Record<string, T>>, names: ReadonlySet<string>): Record<string, T> {
  return Object.fromEntries(Object.entries(table).filter(([name]) => names.has(name)))
}

/** Names of values that begin a backend's URL: their placeholder must be the beginning of a URL, too. */
function namesOfUrls({ backends }: PlanBody): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { targets } of Object.values(backends))
    for (const { url } of targets) {
      const [first] = typeof url === "string" ? [] : url.text
      if (typeof first === "object") names.add(first.value)
    }
  return names
}
