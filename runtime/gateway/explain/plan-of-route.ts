import { nestedSteps } from "../../plan/nested-steps.ts"
import type { Plan, PlanBody } from "../../plan/plan.ts"
import type { Step, StepId } from "../../plan/steps.ts"
import type { Reference } from "../../plan/text.ts"
import { usedBy } from "../generation/parts-of-plan.ts"

/** A plan cut down to a route, and the variables it wants that are not set. */
export interface PlanOfRoute {
  readonly plan: Plan
  readonly unset: readonly string[]
}

/**
 * Cuts a plan down to what one route (`key` undefined: none) needs, so that the trouble of others is none of its own. Nothing in it asks anybody: backends are not
 * checked. Variables without a value get one that fits nothing.
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
    reached(whole, route === undefined ? [] : Object.values(route.sections).flat()),
  )
  const kinds = Object.values(steps)
  // What is explained of a request that no route serves is how it begins.
  const gateway = whole.gateway === null ? null : { ...whole.gateway, onUnmatched: [] }
  const issuers = picked(
    whole.issuers,
    kinds.flatMap((step) => (step.kind === "validate-jwt" ? step.issuers : [])),
  )
  const subscriptions = kinds.some(({ kind }) => kind === "validate-key") ? whole.subscriptions : {}
  const backends = Object.fromEntries(
    Object.entries(whole.backends).map(([name, { health: _, ...backend }]) => [name, backend]),
  )
  const asked = new Set(kinds.flatMap(askedBy))
  const introspections = picked(whole.introspections ?? {}, [...asked])
  const users = picked(whole.users ?? {}, [...asked])
  const pdps = picked(whole.pdps ?? {}, [...asked])
  const cut: PlanBody = {
    ...{ ...whole, gateway, routes, steps, issuers, subscriptions, backends },
    ...{ introspections, users, pdps },
  }
  const { secrets: named } = usedBy(cut)
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
  const secrets = Object.entries(picked(whole.secrets, [...named])).map(
    ([name, reference]) => [name, filled(reference, "")] as const,
  )
  const body: PlanBody = {
    ...cut,
    ...{ values: Object.fromEntries(values), secrets: Object.fromEntries(secrets) },
  }
  return { plan: { ...plan, plan: body }, unset: [...unset].sort() }
}

function reached(body: PlanBody, ids: readonly StepId[], found = new Map<StepId, Step>()): Map<StepId, Step> {
  for (const id of ids) {
    const step = body.steps[id]
    if (step === undefined || found.has(id)) continue
    found.set(id, step)
    for (const { steps } of nestedSteps(step)) reached(body, steps, found)
  }
  return found
}

/** Who besides issuers is asked by a step. */
function askedBy(step: Step): string[] {
  if (step.kind === "introspect") return [step.introspection]
  if (step.kind === "basic-auth") return [step.users]
  return "pdp" in step && step.pdp !== undefined ? [step.pdp] : []
}

function picked<T>(table: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(table).filter(([name]) => names.includes(name)))
}

/** Names of values a backend's URL begins with: what stands for one must be the beginning of a URL too. */
function namesOfUrls({ backends }: PlanBody): ReadonlySet<string> {
  const names = new Set<string>()
  for (const { targets } of Object.values(backends))
    for (const { url } of targets) {
      const [first] = typeof url === "string" ? [] : url.text
      if (typeof first === "object") names.add(first.value)
    }
  return names
}
