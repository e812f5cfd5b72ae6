import { SecretKey } from "../../expression/secret-key.ts"
import { canonicalJson } from "../../plan/canonical.ts"
import type { Plan } from "../../plan/plan.ts"
import type { ListenerPlan, Route } from "../../plan/resources.ts"
import {
  factsOf,
  isProtection,
  isRelation,
  isSend,
  isSharing,
  nestedSteps,
  type StepId,
} from "../../plan/steps.ts"
import { requestBody, responseBody } from "../../policies/exchange.ts"
import type { ProvisionedStep } from "../../policies/policy.ts"
import { HostRoutes } from "../routes/host-routes.ts"
import type { SeenFile } from "./file-watch.ts"
import { Generation, type LiveRoute } from "./generation.ts"
import { listenersOf } from "./listen-addresses.ts"
import { LoadError } from "./load-error.ts"
import { OidcEndpoints } from "./oidc-clients.ts"
import { gatewayParts, secretKeysOf } from "./parts-of-plan.ts"
import { FactsOfPlan } from "./plan-facts.ts"
import { recorderOf } from "./recorder-of-plan.ts"
import { type References, resolveReferences } from "./references.ts"
import { type GatewayDependencies, provisionResources, type Resources } from "./resources.ts"
import { Slices } from "./slices.ts"
import { StepTable } from "./step-table.ts"

/** A generation with what the next one may reuse. */
export interface Provisioned {
  readonly generation: Generation
  readonly resources: Resources
  readonly steps: StepTable
  /** The listeners, with the addresses that come from outside. */
  readonly listen: readonly ListenerPlan[]
  /** The files that were read: when one changes, the plan must be provisioned again. */
  readonly files: readonly SeenFile[]
}

/** The context for provisioning a generation. `gatewayState` lives as long as the process. */
export interface ProvisionContext {
  readonly dependencies: GatewayDependencies
  readonly gatewayState: { readonly draining: boolean }
}

/**
 * Provisions a generation next to the one in use, in time slices, and reuses what has not changed. On failure it closes everything new; the previous
 * generation is not affected.
 * @throws LoadError with all problems
 */
export async function provision(
  plan: Plan,
  context: ProvisionContext,
  previous: Provisioned | undefined,
): Promise<Provisioned> {
  const slices = new Slices()
  const references = await resolveReferences(plan, gatewayParts(plan.plan).secrets, context.dependencies)
  const listen = listenersOf(plan, "gateway", references, context.dependencies)
  const resources = await provisionResources(
    plan,
    references,
    context.dependencies,
    previous?.resources,
    slices,
  )
  try {
    const steps = new StepTable(plan.plan, resources, context.dependencies, previous?.steps)
    const routes = await provisionRoutes(plan, steps, slices)
    const { gateway } = plan.plan
    const onUnmatched = provisionUnmatched(plan, steps)
    steps.complete()
    const generation = new Generation({
      plan,
      values: namedIn(plan, references),
      routes,
      onUnmatched,
      rules: {
        headersMax: gateway?.limits.headersMax ?? 100,
        addresses: resources.addresses.value,
        via: gateway?.name ?? "gateway",
        forms: routes.forms,
      },
      bodyBytesMax: gateway?.limits.bodyBytesMax ?? 0,
      bufferBytesMax: gateway?.limits.bufferBytesMax ?? 0,
      jsonValuesMax: gateway?.limits.jsonValuesMax,
      errors: gateway?.errors ?? "problem",
      gatewayView: new GatewayView(gateway?.name ?? "", context.gatewayState),
      facts: new FactsOfPlan(plan.plan, resources.certificates),
      oidc:
        resources.oidcClients.size === 0 ? undefined : new OidcEndpoints(plan.plan, resources.oidcClients),
      tracer: resources.tracer?.value,
      recorder:
        resources.sink === undefined || gateway?.record === undefined
          ? undefined
          : recorderOf(resources.sink.value, gateway.record),
      resources: resources.held,
    })
    return { generation, resources, steps, listen, files: [...references.files, ...resources.files] }
  } catch (error) {
    for (const resource of resources.held) resource.release()
    throw error
  }
}

/** What expressions can name: values, and secrets as keys. */
function namedIn({ plan }: Plan, { values, secrets }: References): Generation["values"] {
  const named = new Map<string, string | SecretKey>(values)
  for (const name of secretKeysOf(plan)) {
    const text = secrets.get(name)
    if (text === undefined)
      throw new LoadError([`the plan has no secret \`${name}\`, which an expression uses`])
    named.set(name, new SecretKey(text))
  }
  return named
}

/** `gateway` in expressions. */
class GatewayView {
  readonly name: string
  readonly #state: { readonly draining: boolean }

  constructor(name: string, state: { readonly draining: boolean }) {
    this.name = name
    this.#state = state
  }

  get state(): string {
    return this.#state.draining ? "draining" : "serving"
  }
}

/** Makes the routes in slices, so that a large plan does not block the event loop. Up to 50 problems are reported at once. */
async function provisionRoutes(plan: Plan, steps: StepTable, slices: Slices): Promise<HostRoutes<LiveRoute>> {
  const routes = new HostRoutes<LiveRoute>()
  const problems: string[] = []
  for (const [key, route] of Object.entries(plan.plan.routes)) {
    await slices.breathe()
    try {
      for (const id of stepsOf(route)) {
        steps.get(id)
        await slices.breathe()
      }
      routes.add(liveRoute(key, route, plan, steps))
    } catch (error) {
      if (problems.length < 50) problems.push(problemOf(plan, key, error))
    }
  }
  if (problems.length > 0) throw new LoadError(problems)
  return routes
}

function provisionUnmatched(plan: Plan, steps: StepTable): ProvisionedStep[] {
  try {
    return (plan.plan.gateway?.onUnmatched ?? []).map((id) => steps.get(id))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new LoadError([`${plan.origins["gateway"] ?? "gateway"}: requests that match no route: ${message}`])
  }
}

function stepsOf({ sections }: Route): StepId[] {
  return [...sections.inbound, ...sections.backend, ...sections.outbound, ...sections.onError]
}

/** What matching a request needs to know about a route. */
export function matchableOf(key: string, route: Route, plan: Plan) {
  const { method, path, hosts, passes, sections } = route
  return {
    ...{ key, method, path, hosts, passes },
    protection: protectionOf(plan, sections.inbound),
    decides: decidesByValues(plan, stepsOf(route)),
  }
}

/** A route with its steps ready to run. */
function liveRoute(key: string, route: Route, plan: Plan, steps: StepTable): LiveRoute {
  const ready = (ids: readonly StepId[]): ProvisionedStep[] => ids.map((id) => steps.get(id))
  const backend = route.sections.backend.map((id) => plan.plan.steps[id]).find(isSend)?.backend ?? null
  return {
    ...matchableOf(key, route, plan),
    plan: route,
    backendUrl: backend === null ? undefined : steps.resources.backends.get(backend)?.value.url,
    stripLength: route.stripPrefix.replace(/\/$/, "").length,
    views: {
      api: { name: route.api, version: route.version ?? "" },
      operation: {
        name: route.operation,
        method: route.method,
        path: route.path.slice(route.stripPrefix.length) || "/",
      },
      backend: { name: backend ?? "" },
    },
    cors: ready(route.sections.inbound).find(isSharing),
    inbound: ready(route.sections.inbound),
    backend: ready(route.sections.backend),
    outbound: ready(route.sections.outbound),
    afterStore: afterStore(plan, route.sections.outbound),
    onError: ready(route.sections.onError),
    keepsBody: keepsBody(route, steps),
    readsAnswer: readsAnswer(route, steps),
  }
}

function keepsBody({ sections }: Route, steps: StepTable): LiveRoute["keepsBody"] {
  const reads = (id: StepId): boolean =>
    (steps.get(id).needs & requestBody) !== 0 ||
    nestedSteps(steps.planOf(id)).some((nested) => nested.steps.some(reads))
  if ([...sections.backend, ...sections.outbound].some(reads)) return "always"
  return sections.onError.some(reads) ? "small" : "never"
}

/** `mask-urls` reads only text bodies, so it does not declare its need in advance. */
function readsAnswer({ sections }: Route, steps: StepTable): boolean {
  const reads = (id: StepId): boolean => {
    const plan = steps.planOf(id)
    return (
      (steps.get(id).needs & responseBody) !== 0 ||
      (plan.kind === "mask-urls" && plan.message === "response") ||
      nestedSteps(plan).some((nested) => nested.steps.some(reads))
    )
  }
  return [...sections.backend, ...sections.outbound].some(reads)
}

/** The index behind the step that stores the response: outbound continues there after a hit. */
function afterStore({ plan }: Plan, outbound: readonly StepId[]): number {
  const stores = (id: StepId): boolean => {
    const step = plan.steps[id]
    if (step === undefined) return false
    return factsOf(step).fence === true || nestedSteps(step).some(({ steps }) => steps.some(stores))
  }
  const at = outbound.findIndex(stores)
  return at === -1 ? outbound.length : at + 1
}

/** The guards of a route, in order, as text. Equal text means equal protection; step ids are digests of their content. */
export function protectionOf(plan: Plan, ids: readonly StepId[]): string {
  const found: string[] = []
  for (const id of ids) {
    const step = plan.plan.steps[id]
    if (step === undefined) continue
    if (isProtection(step)) found.push(id)
    else {
      const inside = nestedSteps(step).map(({ steps }) => protectionOf(plan, steps))
      const head = "test" in step ? canonicalJson(step.test) : step.kind
      if (inside.some((text) => text !== "")) found.push(canonicalJson([head, ...inside]))
    }
  }
  return found.join(" ")
}

/** Whether a step asks for or writes a relation; its ids usually come from the path. */
function decidesByValues(plan: Plan, ids: readonly StepId[]): boolean {
  return ids.some((id) => {
    const step = plan.plan.steps[id]
    if (step === undefined) return false
    return isRelation(step) || nestedSteps(step).some(({ steps }) => decidesByValues(plan, steps))
  })
}

function problemOf(plan: Plan, key: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const origin = plan.origins[`routes.${key}`]
  return origin === undefined ? `${key}: ${message}` : `${origin}: ${key}: ${message}`
}
