import { lowerModel } from "../../runtime/model/lower.ts"
import type { AuthorizationModel } from "../../runtime/plan/authorization-model.ts"
import { engineLimitDefaults } from "../../runtime/plan/authz.ts"
import { digestOf, stepIdOf } from "../../runtime/plan/canonical.ts"
import type { Plan, PlanBody } from "../../runtime/plan/plan.ts"
import { readPlan } from "../../runtime/plan/read.ts"
import { routeKeyOf } from "../../runtime/plan/resources.ts"
import type { Step, StepId } from "../../runtime/plan/steps.ts"
import type { Text } from "../../runtime/plan/text.ts"

/** A step as tests write it: children in place of their ids. */
export type StepDraft =
  | Exclude<Step, { kind: "when" | "any-of" | Nesting["kind"] | "parallel" }>
  | { kind: "when"; test: string; matched: StepDraft[]; otherwise?: StepDraft[] }
  | { kind: "any-of"; steps: StepDraft[] }
  | WithDrafts<Nesting>
  | (Omit<Extract<Step, { kind: "parallel" }>, "branches"> & { branches: StepDraft[][] })

/** Steps with a list of others. */
type Nesting = Extract<
  Step,
  { kind: "retry" | "cache-value" | "require-any" | "require-all" | "limit-concurrency" }
>
type WithDrafts<Kind> = Kind extends unknown ? Omit<Kind, "steps"> & { steps: StepDraft[] } : never

export interface RouteDraft {
  method?: string
  path: string
  hosts?: string[]
  api?: string
  stripPrefix?: string
  timeoutMs?: number | null
  inbound?: StepDraft[]
  /** Name of the backend; null: the inbound section answers. */
  backend?: string | null
  /** Instead of one `forward` to the backend. */
  backendSteps?: StepDraft[]
  hashKey?: Text
  passes?: PlanBody["routes"][string]["passes"]
  websocket?: PlanBody["routes"][string]["websocket"]
  outbound?: StepDraft[]
  onError?: StepDraft[]
}

export type PlanDraft = Partial<
  Pick<
    PlanBody,
    | "values"
    | "secrets"
    | "issuers"
    | "products"
    | "subscriptions"
    | "certificates"
    | "tokenClients"
    | "introspections"
    | "oidcClients"
    | "users"
    | "pdps"
  >
> & {
  /** Names of stores; each has users who may view orders. */
  stores?: string[]
  port: number
  host?: string
  /** Clients may use HTTP/2 with prior knowledge. */
  http2?: boolean
  trust?: string[]
  errors?: "problem" | "apim"
  limits?: Partial<NonNullable<PlanBody["gateway"]>["limits"]>
  shared?: NonNullable<PlanBody["gateway"]>["shared"]
  /** URL by name, or the whole backend. */
  backends?: Record<string, string | PlanBody["backends"][string]>
  routes: RouteDraft[]
  schemas?: PlanBody["schemas"]
  origins?: Record<string, string>
}

/** A plan that the runtime accepts, without a compiler. */
export function planOf(draft: PlanDraft): Plan {
  const steps: Record<StepId, Step> = {}
  const body: PlanBody = {
    gateway: {
      name: "test",
      listen: [
        {
          ...{ host: draft.host ?? "127.0.0.1", port: draft.port },
          ...(draft.http2 === undefined ? {} : { http2: draft.http2 }),
        },
      ],
      trust: draft.trust ?? [],
      errors: draft.errors ?? "problem",
      limits: {
        bodyBytesMax: 10_000_000,
        headerBytesMax: 16_384,
        headersMax: 100,
        timeoutMs: 30_000,
        bufferBytesMax: 10_000_000,
        ...draft.limits,
      },
      ...(draft.shared === undefined ? {} : { shared: draft.shared }),
    },
    authz: draft.stores === undefined ? null : authzOf(draft.stores),
    values: draft.values ?? {},
    secrets: draft.secrets ?? {},
    issuers: draft.issuers ?? {},
    backends: Object.fromEntries(
      Object.entries(draft.backends ?? {}).map(([name, backend]) => [name, backendOf(backend)]),
    ),
    ...(draft.certificates === undefined ? {} : { certificates: draft.certificates }),
    ...(draft.tokenClients === undefined ? {} : { tokenClients: draft.tokenClients }),
    ...(draft.introspections === undefined ? {} : { introspections: draft.introspections }),
    ...(draft.oidcClients === undefined ? {} : { oidcClients: draft.oidcClients }),
    ...(draft.users === undefined ? {} : { users: draft.users }),
    ...(draft.pdps === undefined ? {} : { pdps: draft.pdps }),
    products: draft.products ?? {},
    subscriptions: draft.subscriptions ?? {},
    routes: Object.fromEntries(draft.routes.map((route) => routeOf(route, steps))),
    steps,
    models: draft.stores === undefined ? {} : { [digestOf(model)]: lowerModel(model) },
    schemas: draft.schemas ?? {},
  }
  const read = readPlan({ format: 1, digest: digestOf(body), plan: body, origins: draft.origins ?? {} })
  if ("problems" in read) throw new Error(JSON.stringify(read.problems, undefined, 1))
  return read.plan
}

const model: AuthorizationModel = {
  schema_version: "1.1",
  type_definitions: [
    { type: "user" },
    {
      type: "order",
      relations: { viewer: { this: {} } },
      metadata: { relations: { viewer: { directly_related_user_types: [{ type: "user" }] } } },
    },
  ],
}

function authzOf(stores: string[]): PlanBody["authz"] {
  const named = stores.map((name) => [name, { model: digestOf(model) }] as const)
  return {
    listen: [],
    public: false,
    maxStalenessMs: null,
    memoryBytes: 536_870_912,
    readyWhenWarm: false,
    auth: null,
    limits: engineLimitDefaults,
    cors: { origins: [], headers: [] },
    authzen: { store: null, url: null },
    stores: Object.fromEntries(named),
  }
}

function backendOf(backend: string | PlanBody["backends"][string]): PlanBody["backends"][string] {
  if (typeof backend !== "string") return backend
  return { targets: [{ url: backend, weight: 1 }], connectMs: 2_000, totalMs: null, tls: { insecure: false } }
}

/** The usual step of the backend section. */
export function forwardTo(backend: string, hashKey?: Text): StepDraft {
  return { kind: "forward", backend, ...(hashKey === undefined ? {} : { hashKey }) }
}

function routeOf(route: RouteDraft, steps: Record<StepId, Step>): [string, PlanBody["routes"][string]] {
  const method = route.method ?? "GET"
  const add = (drafts: readonly StepDraft[] | undefined) =>
    (drafts ?? []).map((draft) => addStep(draft, steps))
  const backend: StepDraft[] =
    route.backendSteps ?? (route.backend === null ? [] : [forwardTo(route.backend ?? "main", route.hashKey)])
  return [
    routeKeyOf({ method, path: route.path, hosts: route.hosts }),
    {
      api: route.api ?? "main",
      version: null,
      operation: `${method} ${route.path}`,
      method,
      path: route.path,
      ...(route.hosts === undefined ? {} : { hosts: route.hosts }),
      stripPrefix: route.stripPrefix ?? "",
      timeoutMs: route.timeoutMs === undefined ? 10_000 : route.timeoutMs,
      ...(route.passes === undefined ? {} : { passes: route.passes }),
      ...(route.websocket === undefined ? {} : { websocket: route.websocket }),
      sections: {
        inbound: add(route.inbound),
        backend: add(backend),
        outbound: add(route.outbound),
        onError: add(route.onError),
      },
    },
  ]
}

function addStep(draft: StepDraft, steps: Record<StepId, Step>): StepId {
  const step = stepOf(draft, steps)
  const id = stepIdOf(step)
  steps[id] = step
  return id
}

function stepOf(draft: StepDraft, steps: Record<StepId, Step>): Step {
  const add = (drafts: readonly StepDraft[]) => drafts.map((each) => addStep(each, steps))
  if (draft.kind === "any-of")
    return { kind: "any-of", steps: draft.steps.map((step) => addStep(step, steps)) }
  if (draft.kind === "parallel") return { ...draft, branches: draft.branches.map(add) }
  if (
    draft.kind === "retry" ||
    draft.kind === "cache-value" ||
    draft.kind === "require-any" ||
    draft.kind === "require-all" ||
    draft.kind === "limit-concurrency"
  )
    return { ...draft, steps: add(draft.steps) } as Step
  if (draft.kind !== "when") return draft
  return {
    kind: "when",
    test: { lang: "cel", text: draft.test, type: "bool" },
    matched: draft.matched.map((step) => addStep(step, steps)),
    otherwise: (draft.otherwise ?? []).map((step) => addStep(step, steps)),
  }
}
