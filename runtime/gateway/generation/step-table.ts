import type { Cache } from "../../cache/cache.ts"
import type { Environment } from "../../expression/environment.ts"
import type { JsonSize } from "../../expression/to-json.ts"
import type { OutgoingHttp } from "../../http/client/http-client.ts"
import type { OpaqueTokens } from "../../identity/introspection.ts"
import type { KeyTable } from "../../identity/keys.ts"
import type { TokenSource } from "../../identity/token-client.ts"
import type { Passwords } from "../../identity/users.ts"
import type { TokenVerifier } from "../../identity/verifier.ts"
import type { Limiter } from "../../limits/limiter.ts"
import type { OidcClient } from "../../oidc/oidc-client.ts"
import { jsonValuesDefault } from "../../plan/json-scan.ts"
import type { PlanBody } from "../../plan/plan.ts"
import { kindFacts, type StepId, type StepKind, type Step as StepPlan } from "../../plan/steps.ts"
import type { Clock } from "../../policies/clock.ts"
import type { BackendHandle, ClientCertificate, Exchange, Needs } from "../../policies/exchange.ts"
import type { Authorizer, AzureWing, Policy, Provision, ProvisionedStep, Run } from "../../policies/policy.ts"
import type {
  BackendsByUrl,
  Meter,
  MirrorLog,
  QuotaCounters,
  RelationLog,
  TraceLog,
} from "../../policies/ports.ts"
import { type PolicyTable, policies } from "../../policies/table.ts"
import type { RequestTrace } from "../../tracing/request-trace.ts"
import type { Validator } from "../../validation/schema-set.ts"
import { StepSpan } from "../exchange/step-span.ts"
import type { GatewayDependencies, Resources } from "./resources.ts"

/** Repeats a lookup in another plan; an equal result means that the step would be the same there. */
type LookUp = (table: StepTable) => unknown

interface Use {
  readonly again: LookUp
  readonly found: unknown
}

interface Made {
  readonly step: ProvisionedStep
  readonly uses: readonly Use[]
}

/** The steps of one plan, created on demand, or reused from the previous plan when they and everything they use are unchanged. */
export class StepTable {
  readonly body: PlanBody
  readonly resources: Resources
  readonly dependencies: GatewayDependencies
  readonly #policies: PolicyTable
  #previous: ReadonlyMap<StepId, Made> | undefined
  readonly #made = new Map<StepId, Made>()
  /** Number of reused steps. */
  reused = 0

  /** `previous`: the table of the running generation, from which unchanged steps are taken. */
  constructor(
    body: PlanBody,
    resources: Resources,
    dependencies: GatewayDependencies,
    previous: StepTable | undefined,
    table: PolicyTable = dependencies.policies ?? policies,
  ) {
    this.#policies = table
    this.body = body
    this.resources = resources
    this.dependencies = dependencies
    this.#previous = previous === undefined ? undefined : previous.#made
  }

  get size(): number {
    return this.#made.size
  }

  /** A step, made once. It is taken over if it is unchanged and everything it uses is still the same object. */
  get(id: StepId): ProvisionedStep {
    const known = this.#made.get(id)
    if (known !== undefined) return known.step
    const before = this.#previous?.get(id)
    const kept = before?.uses.every(({ again, found }) => again(this) === found) === true ? before : undefined
    const made = kept ?? this.#make(id)
    if (kept !== undefined) this.reused += 1
    this.#made.set(id, made)
    return made.step
  }

  /**
   * The plan of a step.
   * @throws Error when it is missing; plans are checked for that when they are read
   */
  planOf(id: StepId): StepPlan {
    const plan = this.body.steps[id]
    if (plan === undefined) throw new Error(`there is no step \`${id}\``)
    return plan
  }

  /** Releases the previous plan's table; call it when this one is complete. */
  complete(): void {
    this.#previous = undefined
  }

  /** Makes a step and records what it uses. */
  #make(id: StepId): Made {
    const plan = this.planOf(id)
    const recorder = new Recorder(this)
    const policy = this.#policies[plan.kind] as Policy<StepKind>
    const run = timed(policy(plan as never, recorder), plan.kind, this.dependencies.waited)
    return {
      step: Object.assign(withBodies(run, recorder.needed), { id, kind: plan.kind, needs: recorder.needed }),
      uses: recorder.uses,
    }
  }
}

/** Measures the waiting time of a step, and records it in the trace. A synchronous step of a request that is not recorded has no extra cost. */
function timed(run: Run, kind: StepKind, waited: GatewayDependencies["waited"]): Run {
  // Backend calls are reported per exchange and have spans of their own; a promise and two clock reads would be most of the cost of such a step.
  if (kindFacts(kind).role === "send") return run
  return (exchange) => {
    const { trace } = exchange
    const outcome = trace?.recording === true ? recorded(run, kind, exchange, trace) : run(exchange)
    if (outcome instanceof Promise && waited !== undefined) {
      const from = performance.now()
      const measured = () => waited(kind, performance.now() - from)
      outcome.then(measured, measured)
    }
    return outcome
  }
}

/** Runs a step with a span, which is kept if the step waits. */
function recorded(run: Run, kind: StepKind, exchange: Exchange, trace: RequestTrace): ReturnType<Run> {
  const span = new StepSpan(kind, trace)
  let outcome: ReturnType<Run> | undefined
  try {
    outcome = run(exchange)
    return outcome
  } finally {
    if (outcome instanceof Promise) span.waits(outcome)
    else span.leave()
  }
}

/** Loads the bodies that a step needs; others are not read. */
function withBodies(run: Run, needs: Needs): Run {
  // A new function even without needs: several steps may share one `run`, and each has its own kind.
  if (needs === 0) return (exchange) => run(exchange)
  return (exchange) => {
    const loading = exchange.load(needs)
    return loading === undefined ? run(exchange) : loading.then(() => run(exchange))
  }
}

/** The provision of one step. */
class Recorder implements Provision {
  readonly uses: Use[] = []
  needed: Needs = 0
  readonly clock: Clock
  readonly #table: StepTable

  constructor(table: StepTable) {
    this.#table = table
    this.clock = table.dependencies.clock
  }

  value(name: string): string {
    return this.#use((table) => have(table.resources.values.get(name), `value \`${name}\``))
  }

  secret(name: string): string {
    return this.#use((table) => have(table.resources.secrets.get(name), `secret \`${name}\``))
  }

  verifier(issuer: string): TokenVerifier {
    return this.#use((table) => have(table.resources.verifiers.get(issuer)?.value, `issuer \`${issuer}\``))
  }

  keys(): KeyTable {
    return this.#use((table) => table.resources.keys.value)
  }

  productsOf(api: string): ReadonlySet<string> {
    return this.#use((table) => table.resources.products.get(api) ?? noProducts)
  }

  jsonMost(): JsonSize {
    return this.#use(({ body: { gateway } }) => {
      const { jsonValuesMax = jsonValuesDefault, bufferBytesMax = 0 } = gateway?.limits ?? {}
      return { values: jsonValuesMax, bytes: bufferBytesMax }
    })
  }

  openProductOf(api: string): string | undefined {
    return this.#use((table) => openProductOf(table.body.products, api))
  }

  backend(name: string): BackendHandle {
    return this.#use((table) => have(table.resources.backends.get(name)?.value, `backend \`${name}\``))
  }

  certificate(name: string): ClientCertificate {
    return this.#use((table) => have(table.resources.certificates.get(name), `certificate \`${name}\``))
  }

  tokenClient(name: string): TokenSource {
    return this.#use((table) =>
      have(table.resources.tokenClients.get(name)?.value, `token client \`${name}\``),
    )
  }

  introspection(name: string): OpaqueTokens {
    return this.#use((table) =>
      have(table.resources.introspections.get(name)?.value, `introspection \`${name}\``),
    )
  }

  oidcClient(name: string): OidcClient {
    return this.#use((table) => have(table.resources.oidcClients.get(name)?.value, `OIDC client \`${name}\``))
  }

  users(name: string): Passwords {
    return this.#use((table) => have(table.resources.users.get(name)?.value, `users \`${name}\``))
  }

  schema(name: string): Validator {
    return this.#use((table) => table.resources.schemas.get(name))
  }

  environment(): Environment {
    return this.#use((table) => table.resources.environment.value)
  }

  azure(): AzureWing | undefined {
    return this.#use((table) => table.resources.azure)
  }

  limiter(): Limiter {
    return this.#use(({ resources, dependencies }) => resources.shared?.value ?? dependencies.limiter)
  }

  quotas(): QuotaCounters {
    return have(this.#table.dependencies.quotas, "database for quotas")
  }

  authorizer(): Authorizer {
    return this.#use((table) => table.dependencies.authorizer)
  }

  decisionPoint(name: string): Authorizer {
    return this.#use(
      (table) =>
        table.dependencies.decisionPointOf?.(name) ??
        have(table.resources.decisionPoints.get(name)?.value, `decision point \`${name}\``),
    )
  }

  cache(): Cache {
    return this.#use(({ resources, dependencies }) => resources.sharedCache?.value ?? dependencies.cache)
  }

  http(): OutgoingHttp {
    return this.#table.dependencies.http
  }

  backendsByUrl(): BackendsByUrl {
    return this.#table.dependencies.backendsByUrl
  }

  traceLog(): TraceLog {
    return this.#table.dependencies.traceLog
  }

  relationLog(): RelationLog {
    return this.#table.dependencies.relationLog ?? silent
  }

  mirrorLog(): MirrorLog {
    return this.#table.dependencies.mirrorLog ?? silentMirrors
  }

  meter(): Meter {
    return this.#table.dependencies.meter
  }

  need(needs: Needs): void {
    this.needed |= needs
  }

  step(id: StepId): ProvisionedStep {
    return this.#use((table) => table.get(id))
  }

  plan(id: StepId): StepPlan {
    return this.#table.planOf(id)
  }

  #use<T>(lookUp: (table: StepTable) => T): T {
    const found = lookUp(this.#table)
    this.uses.push({ again: lookUp, found })
    return found
  }
}

const silent: RelationLog = { changed: () => undefined }
const silentMirrors: MirrorLog = { mirrored: () => undefined }
const noProducts: ReadonlySet<string> = new Set()

function openProductOf(products: PlanBody["products"], api: string): string | undefined {
  const found = Object.entries(products).find(
    ([, { open, unpublished, apis }]) => open && !unpublished && apis.includes(api),
  )
  return found?.[0]
}

function have<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new Error(`there is no ${what}`)
  return found
}
