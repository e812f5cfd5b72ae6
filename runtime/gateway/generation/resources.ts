import type { Cache } from "../../cache/cache.ts"
import { declareEnvironment, type Environment } from "../../expression/environment.ts"
import { anyRequestContext } from "../../expression/request-context.ts"
import type { OutgoingHttp, RequestSender } from "../../http/client/http-client.ts"
import type { AcmeSettings, ManagedCertificates } from "../../http/server/managed-certificates.ts"
import { readInlineKeys } from "../../identity/inline-keys.ts"
import { Introspection, type IntrospectionSettings, type OpaqueTokens } from "../../identity/introspection.ts"
import type { IssuerSettings } from "../../identity/issuer.ts"
import type { KeyTable, Subscriber } from "../../identity/keys.ts"
import type { TokenClient } from "../../identity/token-client.ts"
import { type Passwords, UserTable } from "../../identity/users.ts"
import type { TokenVerifier } from "../../identity/verifier.ts"
import type { Limiter } from "../../limits/limiter.ts"
import type { SessionStore } from "../../oidc/session-store.ts"
import type { PdpNotes } from "../../pdp/standing.ts"
import { canonicalJson, digestOf } from "../../plan/canonical.ts"
import type { Plan, PlanBody } from "../../plan/plan.ts"
import type { Backend as BackendPlan, Issuer } from "../../plan/resources.ts"
import type { StepKind } from "../../plan/steps.ts"
import type { LoadText } from "../../plan/text.ts"
import type { Clock } from "../../policies/clock.ts"
import { basicAuthorization } from "../../policies/credentials/authentication.ts"
import type { ClientCertificate } from "../../policies/exchange.ts"
import type { Authorizer, AzureWing } from "../../policies/policy.ts"
import type {
  BackendsByUrl,
  Meter,
  MirrorLog,
  QuotaCounters,
  RelationLog,
  TraceLog,
} from "../../policies/ports.ts"
import type { PolicyTable } from "../../policies/table.ts"
import type { Tracer } from "../../tracing/tracer.ts"
import { SchemaSet } from "../../validation/schema-set.ts"
import type { BackendSettings } from "../backends/backend-settings.ts"
import { BackendClient } from "../backends/backends.ts"
import type { Pools } from "../backends/pools.ts"
import { ClientAddresses } from "../exchange/client-address.ts"
import { type AskedPoint, provisionDecisionPoints } from "./decision-points.ts"
import type { SeenFile } from "./file-watch.ts"
import { foundTarget } from "./found-target.ts"
import { Held } from "./held.ts"
import { issuerSettingsOf } from "./issuer-settings.ts"
import { LoadError } from "./load-error.ts"
import { type OidcClients, provisionOidcClients } from "./oidc-clients.ts"
import { type OwnCredentials, provisionCredentials } from "./own-credentials.ts"
import { gatewayParts, secretKeysOf } from "./parts-of-plan.ts"
import { type OpenRecorder, provisionRecorder, type RequestSink } from "./recorder-of-plan.ts"
import { type Outside, type References, readAuthorities } from "./references.ts"
import { type OpenShared, provisionShared, type SharedResources } from "./shared-counters.ts"
import type { Slices } from "./slices.ts"
import { type OpenTracer, provisionTracer } from "./tracer-of-plan.ts"

/** A key of a subscription, and its subscriber. */
export interface KeyEntry {
  readonly subscriber: Subscriber
  readonly key: string
}

/** What the process provides to a gateway. */
export interface GatewayDependencies extends Outside {
  readonly createVerifier: (settings: IssuerSettings) => TokenVerifier
  readonly createKeyTable: (entries: readonly KeyEntry[]) => KeyTable
  /** The counters of this process. */
  readonly limiter: Limiter
  readonly openShared?: OpenShared | undefined
  /** Keeps sessions instead of Redis. */
  readonly sessionStore?: SessionStore | undefined
  /** Absent where nothing may be opened: requests are not traced. */
  readonly openTracer?: OpenTracer | undefined
  /** Absent where nothing may be opened: requests are not recorded. */
  readonly openRecorder?: OpenRecorder | undefined
  /** Absent: plans with quotas are refused. */
  readonly quotas?: QuotaCounters | undefined
  readonly authorizer: Authorizer
  /** Answers instead of the decision points of the plan. */
  readonly decisionPointOf?: ((name: string) => Authorizer) | undefined
  readonly cache: Cache
  readonly http: OutgoingHttp
  /** Absent: plans with certificates from ACME are refused. */
  readonly managed?: ManagedCertificates | undefined
  readonly backendsByUrl: BackendsByUrl
  readonly traceLog: TraceLog
  readonly meter: Meter
  /** Receives the changes made by `grant` and `revoke`. */
  readonly relationLog?: RelationLog
  /** Receives the copies of requests. */
  readonly mirrorLog?: MirrorLog
  /** Receives the requests to decision points. */
  readonly pdpNotes?: PdpNotes
  /** Receives the waiting time of a step. */
  readonly waited?: ((kind: StepKind, ms: number) => void) | undefined
  readonly pools: Pools
  readonly clock: Clock
  /** Makes the steps (default: the policies of this gateway). */
  readonly policies?: PolicyTable | undefined
}

/** What the steps of a plan use; unchanged parts come from the previous plan. */
export interface Resources extends SharedResources {
  readonly values: ReadonlyMap<string, string>
  readonly secrets: ReadonlyMap<string, string>
  readonly verifiers: ReadonlyMap<string, Held<TokenVerifier>>
  readonly backends: ReadonlyMap<string, Held<BackendClient>>
  readonly certificates: ReadonlyMap<string, ClientCertificate>
  readonly acme: readonly AcmeSettings[]
  readonly tokenClients: ReadonlyMap<string, Held<TokenClient>>
  readonly introspections: ReadonlyMap<string, Held<OpaqueTokens>>
  readonly users: ReadonlyMap<string, Held<Passwords>>
  readonly oidcClients: OidcClients
  readonly decisionPoints: ReadonlyMap<string, Held<AskedPoint>>
  readonly keys: Held<KeyTable>
  readonly environment: Held<Environment>
  /** Undefined: the plan contains no C# or Liquid. */
  readonly azure: AzureWing | undefined
  readonly addresses: Held<ClientAddresses>
  /** Names of the products that contain an API. */
  readonly products: ReadonlyMap<string, ReadonlySet<string>>
  readonly schemas: SchemaSet
  /** Undefined: the plan has no `tracing`, or nothing may be opened. */
  readonly tracer: Held<Tracer> | undefined
  /** Undefined: the plan has no `record`, or nothing may be opened. */
  readonly sink: Held<RequestSink> | undefined
  readonly held: readonly Held<unknown>[]
  readonly files: readonly SeenFile[]
}

/** A plan waits so long for the targets that its backends have to find; without them it is used nevertheless. */
const firstTargetsMs = 3_000

/** How callers' tokens and passwords are checked, by the names in the plan. */
interface CallerCredentials {
  readonly introspections: ReadonlyMap<string, Held<OpaqueTokens>>
  readonly users: ReadonlyMap<string, Held<Passwords>>
}

/** What creating these needs. */
interface CredentialMaker {
  readonly references: References
  readonly dependencies: { readonly http: RequestSender; readonly clock: Clock }
  attempt(place: string, make: () => unknown): void
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T>
}

/**
 * Creates what a plan declares, or reuses it from the previous plan.
 * @throws LoadError with all problems; then nothing is left open
 */
export async function provisionResources(
  plan: Plan,
  references: References,
  dependencies: GatewayDependencies,
  previous: Resources | undefined,
  slices: Slices,
): Promise<Resources> {
  const maker = new Maker(plan, references, dependencies)
  try {
    const verifiers = new Map<string, Held<TokenVerifier>>()
    const { issuers } = gatewayParts(plan.plan)
    for (const [name, issuer] of Object.entries(plan.plan.issuers)) {
      if (!issuers.has(name)) continue
      await slices.breathe()
      await maker.attemptLater(`issuers.${name}`, async () => {
        verifiers.set(name, await maker.verifier(name, issuer, previous))
      })
    }
    const own = await provisionCredentials(maker, plan.plan, previous)
    const callers = provisionCallers(maker, plan.plan, previous)
    const decisionPoints = await provisionDecisionPoints(maker, plan.plan, own, previous)
    const backends = new Map<string, Held<BackendClient>>()
    for (const [name, backend] of Object.entries(plan.plan.backends)) {
      await slices.breathe()
      const ca = await maker.certificates(name, backend)
      maker.attempt(`backends.${name}`, () =>
        backends.set(name, maker.backend(name, backend, ca, own, previous)),
      )
    }
    await targetsFound([...backends.values()])
    const shared = await provisionShared(maker, plan.plan, previous)
    const oidcClients = provisionOidcClients(maker, plan.plan, verifiers, shared, previous?.oidcClients)
    const tracer = await provisionTracer(maker, plan.plan, previous)
    const sink = provisionRecorder(maker, plan.plan, previous)
    const keys = maker.attempt("subscriptions", () => maker.keys(previous))
    const schemas = new SchemaSet(plan.plan.schemas, previous?.schemas)
    while (maker.attempt("schemas", () => schemas.compileNext()) === true) await slices.breathe()
    const addresses = maker.attempt("gateway", () => maker.addresses(previous))
    if (maker.problems.length > 0 || keys === undefined || addresses === undefined)
      throw new LoadError(maker.problems)
    return {
      ...{ values: references.values, secrets: references.secrets, verifiers, backends },
      ...own,
      ...callers,
      ...{ oidcClients, decisionPoints },
      ...shared,
      ...{ tracer, sink },
      ...{ keys, addresses },
      environment: maker.environment(previous),
      azure: await azureFor(plan.plan, slices),
      products: maker.products(previous),
      schemas,
      held: maker.held,
      files: maker.files,
    }
  } catch (error) {
    for (const resource of maker.held) resource.release()
    throw error
  }
}

/** Makes or takes over what steps use. What has the same settings as before is kept, with its connections and counts. */
class Maker {
  readonly held: Held<unknown>[] = []
  readonly files: SeenFile[] = []
  readonly problems: string[] = []
  readonly #plan: Plan
  readonly references: References
  readonly dependencies: GatewayDependencies

  constructor(plan: Plan, references: References, dependencies: GatewayDependencies) {
    this.#plan = plan
    this.references = references
    this.dependencies = dependencies
  }

  /** Continues after a failure, so that the operator sees all problems at once. */
  attempt<T>(place: string, make: () => T): T | undefined {
    try {
      return make()
    } catch (error) {
      this.problem(place, error instanceof Error ? error.message : String(error))
      return undefined
    }
  }

  /** As `attempt`, for asynchronous work. */
  async attemptLater(place: string, make: () => Promise<void>): Promise<void> {
    try {
      await make()
    } catch (error) {
      this.problem(place, error instanceof Error ? error.message : String(error))
    }
  }

  /** Keys in the text are checked now: an invalid one is an error in the text, not a failure of the issuer. */
  async verifier(
    name: string,
    issuer: Issuer,
    previous: Resources | undefined,
  ): Promise<Held<TokenVerifier>> {
    const settings = issuerSettingsOf(name, issuer, this.references, this.dependencies.folder)
    if ("keys" in settings.source) await readInlineKeys(settings.source.keys, settings.algorithms)
    return this.take(previous?.verifiers.get(name), digestOf(settings), () => {
      const verifier = this.dependencies.createVerifier(settings)
      return { value: verifier, close: () => verifier.close() }
    })
  }

  /** The authorities of a backend. */
  async certificates(name: string, { tls }: BackendPlan): Promise<string | undefined> {
    if (tls.ca === undefined) return undefined
    try {
      return await this.readAuthorities(`backend \`${name}\``, tls.ca.file)
    } catch (error) {
      this.problem(`backends.${name}`, (error as Error).message)
      return undefined
    }
  }

  /**
   * Reads certificate authorities from a file.
   * @throws Error with the name of the user of the file
   */
  readAuthorities(what: string, name: string): Promise<string> {
    return readAuthorities(this.dependencies, what, name, this.files)
  }

  /** A backend with its settings; the key is the digest of everything that affects its connections. */
  backend(
    name: string,
    plan: BackendPlan,
    ca: string | undefined,
    own: OwnCredentials,
    previous: Resources | undefined,
  ): Held<BackendClient> {
    const { certificate } = plan.tls
    const targets = plan.targets.map(({ url, weight }) => ({ url: this.references.text(url), weight }))
    const found = this.#foundTarget(plan, targets[0]?.url ?? "")
    const { value: authorization, key } = this.#authorization(plan.authentication, own)
    const settings: BackendSettings = {
      name,
      targets: found === undefined ? targets : [{ url: found.url, weight: 1 }],
      discovery: found?.discovery,
      connectMs: plan.connectMs,
      totalMs: plan.totalMs,
      firstByteMs: plan.firstByteMs,
      idleMs: plan.idleMs,
      ca,
      insecure: plan.tls.insecure,
      certificate: certificate === undefined ? undefined : own.certificates.get(certificate),
      authorization,
      http2: plan.http2 ?? false,
      balance: plan.balance,
      health: plan.health,
      breaker: plan.breaker,
      retry: plan.retry,
    }
    const made = canonicalJson({ ...settings, authorization: key })
    return this.take(previous?.backends.get(name), made, () => {
      const backend = new BackendClient(name, settings, this.dependencies.pools)
      return { value: backend, close: () => backend.release() }
    })
  }

  /** What has to be found for a backend; undefined: its targets are in the plan, or nothing may be asked. */
  #foundTarget({ discovery }: BackendPlan, url: string): ReturnType<typeof foundTarget> | undefined {
    const { environment, folder, pools } = this.dependencies
    if (discovery === undefined || pools.discoveries === undefined) return undefined
    const text = (text: LoadText) => this.references.text(text)
    return foundTarget(discovery, url, { environment, folder, text })
  }

  /** The credential at a backend. */
  #authorization(
    plan: BackendPlan["authentication"],
    { tokenClients }: OwnCredentials,
  ): { value: BackendSettings["authorization"]; key: string | undefined } {
    if (plan === undefined) return { value: undefined, key: undefined }
    if (plan.scheme === "basic") {
      const password = this.references.secrets.get(plan.password) ?? ""
      const basic = basicAuthorization(this.references.text(plan.user), password)
      return { value: { basic }, key: basic }
    }
    const held = tokenClients.get(plan.client)
    if (held === undefined) throw new Error(`the token client \`${plan.client}\` cannot be used`)
    return { value: { tokens: held.value }, key: held.key }
  }

  /** The keys of subscriptions that gateway.conf declares. */
  keys(previous: Resources | undefined): Held<KeyTable> {
    const entries = Object.entries(this.#plan.plan.subscriptions).flatMap(
      ([name, { scope, key, secondary }]): KeyEntry[] => {
        const subscriber: Subscriber = {
          name,
          product: "product" in scope ? scope.product : undefined,
          api: "api" in scope ? scope.api : undefined,
          all: "all" in scope || undefined,
        }
        const secrets = secondary === undefined ? [key] : [key, secondary]
        return secrets.map((secret) => ({ subscriber, key: this.references.secrets.get(secret) ?? "" }))
      },
    )
    return this.take(previous?.keys, digestOf(entries), () => ({
      value: this.dependencies.createKeyTable(entries),
      close: nothingToClose,
    }))
  }

  addresses(previous: Resources | undefined): Held<ClientAddresses> {
    const { trust = [], limits } = this.#plan.plan.gateway ?? {}
    const { ipv6Prefix } = limits ?? {}
    return this.take(previous?.addresses, canonicalJson({ trust, ipv6Prefix }), () => ({
      value: new ClientAddresses(trust, ipv6Prefix),
      close: nothingToClose,
    }))
  }

  environment(previous: Resources | undefined): Held<Environment> {
    const names = [...this.references.values.keys()].sort()
    const keys = [...secretKeysOf(this.#plan.plan)].sort()
    return this.take(previous?.environment, canonicalJson({ names, keys }), () => ({
      value: declareEnvironment(anyRequestContext(names, keys)),
      close: nothingToClose,
    }))
  }

  /** Keeps the previous set when the names are equal, because steps compare what they looked up by identity. */
  products(previous: Resources | undefined): ReadonlyMap<string, ReadonlySet<string>> {
    const byApi = new Map<string, Set<string>>()
    for (const [name, { apis }] of Object.entries(this.#plan.plan.products)) {
      for (const api of apis) {
        const names = byApi.get(api) ?? new Set()
        byApi.set(api, names.add(name))
      }
    }
    const found = new Map<string, ReadonlySet<string>>()
    for (const [api, names] of byApi) {
      const before = previous?.products.get(api)
      const same = before?.size === names.size && [...names].every((name) => before.has(name))
      found.set(api, same ? before : names)
    }
    return found
  }

  /** The previous object if its key is the same, otherwise a new one. */
  take<T>(before: Held<T> | undefined, key: string, make: () => { value: T; close: () => void }): Held<T> {
    const held = before?.key === key ? before.hold() : undefined
    if (held !== undefined) {
      this.held.push(held)
      return held
    }
    const { value, close } = make()
    const made = new Held(key, value, close)
    this.held.push(made)
    return made
  }

  problem(place: string, message: string): void {
    const origin = this.#plan.origins[place]
    this.problems.push(origin === undefined ? message : `${origin}: ${message}`)
  }
}

function nothingToClose(): void {}

/** Waits for the targets of backends, so that first requests do not get 503. */
async function targetsFound(backends: readonly Held<BackendClient>[]): Promise<void> {
  const ready = backends.flatMap(({ value }) => value.ready ?? [])
  if (ready.length === 0) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, firstTargetsMs)
  })
  await Promise.race([Promise.all(ready), late])
  clearTimeout(timer)
}

/** The compiler for C# and Liquid, loaded when a plan uses either; otherwise undefined. */
async function azureFor({ steps }: PlanBody, slices: Slices): Promise<AzureWing | undefined> {
  for (const step of Object.values(steps)) {
    if (needsAzure(step)) return (await import("../../azure/wing.ts")).azure
    await slices.breathe()
  }
  return undefined
}

/** Whether a part of a step contains a C# expression or a template. */
function needsAzure(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false
  if ("liquid" in part || ("lang" in part && part.lang === "cs")) return true
  return Object.values(part).some(needsAzure)
}

/** Creates introspections and tables of users, or reuses those of the previous plan with their caches. */
function provisionCallers(
  maker: CredentialMaker,
  plan: PlanBody,
  previous: CallerCredentials | undefined,
): CallerCredentials {
  const { references, dependencies } = maker
  const secret = (name: string) => references.secrets.get(name) ?? ""
  const introspections = new Map<string, Held<OpaqueTokens>>()
  for (const [name, each] of Object.entries(plan.introspections ?? {})) {
    maker.attempt(`introspections.${name}`, () => {
      const settings: IntrospectionSettings = {
        name,
        url: references.text(each.url),
        client: references.text(each.client),
        secret: secret(each.secret),
        cacheMs: each.cacheSeconds * 1000,
      }
      const make = () => ({
        value: new Introspection(settings, dependencies.http, dependencies.clock),
        close: () => undefined,
      })
      introspections.set(name, maker.take(previous?.introspections.get(name), digestOf(settings), make))
    })
  }
  const users = new Map<string, Held<Passwords>>()
  for (const [name, each] of Object.entries(plan.users ?? {})) {
    maker.attempt(`users.${name}`, () => {
      const entries = each.users.map((one) => ({ user: one.user, secret: secret(one.secret) }))
      const make = () => ({ value: new UserTable(name, entries), close: () => undefined })
      users.set(name, maker.take(previous?.users.get(name), digestOf(entries), make))
    })
  }
  return { introspections, users }
}
