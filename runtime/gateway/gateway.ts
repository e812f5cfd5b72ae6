import { randomUUID } from "node:crypto"
import type { Cache, CacheStats } from "../cache/cache.ts"
import { createMemoryCache } from "../cache/memory.ts"
import { SharedCache } from "../cache/shared-cache.ts"
import type { CanaryCounts } from "../canary/counts.ts"
import { Discoveries } from "../discovery/discoveries.ts"
import type { DiscoveryNote, DiscoveryState } from "../discovery/discovery.ts"
import { HttpClient, type OutgoingHttp } from "../http/client/http-client.ts"
import { type HostNames, hostNames } from "../http/names/host-names.ts"
import { AddressConnections, type AddressLimits } from "../http/server/address-connections.ts"
import type { ShownRevocationList } from "../http/server/client-trust.ts"
import { ConnectionRefusals } from "../http/server/connection-door.ts"
import { type RawAnswerer, sendRaw } from "../http/server/connection-errors.ts"
import { FloodCounts } from "../http/server/http2/flood-guard.ts"
import type { Handle, IncomingRequest, Transport } from "../http/server/incoming.ts"
import {
  certificatesOf,
  type Listener,
  type ListenerSettings,
  leftGraceMs,
  openListener,
  revocationListsOf,
} from "../http/server/listener.ts"
import { challengePrefix, type ManagedCertificates } from "../http/server/managed-certificates.ts"
import type { OcspStaples } from "../http/server/ocsp-staples.ts"
import type { ShownCertificate } from "../http/server/server-certificates.ts"
import type { TicketKeys } from "../http/server/ticket-keys.ts"
import { type HandshakeFailure, HandshakeFailures } from "../http/server/tls.ts"
import type { IssuerSettings } from "../identity/issuer.ts"
import type { KeyTable } from "../identity/keys.ts"
import type { KeyState, TokenVerifier } from "../identity/verifier.ts"
import type { BoundedLimiter, LimiterStats, SharedCounts } from "../limits/limiter.ts"
import { SharedLimiter } from "../limits/shared-limiter.ts"
import type { PdpState } from "../pdp/standing.ts"
import type { Plan } from "../plan/plan.ts"
import {
  type Address,
  addressText,
  bodyRateDefault,
  connectionsPerAddressDefault,
  headMsDefault,
  limitKeysDefault,
} from "../plan/resources.ts"
import { systemClock } from "../policies/clock.ts"
import { certificateChallenge, type Problem, type ProblemName, problem } from "../policies/messages/answer.ts"
import type { Authorizer } from "../policies/policy.ts"
import type { QuotaCounters } from "../policies/ports.ts"
import { RedisConnection, type RedisSettings } from "../redis/redis-connection.ts"
import { redisName } from "../redis/redis-url.ts"
import { UrlBackends } from "./backends/backends-by-url.ts"
import { Deadlines } from "./backends/deadlines.ts"
import { defaultPatience, type Patience } from "./backends/patience.ts"
import { Pools } from "./backends/pools.ts"
import type { TargetState } from "./backends/target.ts"
import { type CanaryTerms, type PreparedCanary, RunningCanary } from "./canary/running-canary.ts"
import { answerChallenge } from "./exchange/acme-challenge.ts"
import { Certified } from "./exchange/certified.ts"
import type { ClientAddresses } from "./exchange/client-address.ts"
import { type PipelineContext, serve } from "./exchange/pipeline.ts"
import { renderProblem } from "./exchange/problem.ts"
import { explainRequest } from "./explain/explain-request.ts"
import type { RequestExplanation, RequestQuestion } from "./explain/request-explanation.ts"
import {
  certificatesServed,
  type ListenerTrusts,
  readClientTrusts,
  type Transports,
  transportsOf,
} from "./generation/certificates.ts"
import { FileWatch, type SeenFile } from "./generation/file-watch.ts"
import type { Generation } from "./generation/generation.ts"
import { LoadError, listenReason } from "./generation/load-error.ts"
import { type Provisioned, provision } from "./generation/provision.ts"
import type { OpenRecorder } from "./generation/recorder-of-plan.ts"
import type { GatewayDependencies, KeyEntry } from "./generation/resources.ts"
import type { OpenTracer } from "./generation/tracer-of-plan.ts"
import { type Observer, refusedRequest } from "./observer.ts"
import { Tunnels } from "./tunnels/tunnels.ts"

/** What a gateway needs from the process that runs it. */
export interface GatewayOptions {
  readonly createVerifier: (settings: IssuerSettings) => TokenVerifier
  readonly createKeyTable: (entries: readonly KeyEntry[]) => KeyTable
  readonly limiter: BoundedLimiter
  /** Called when the Redis with the shared counters or with the shared cache becomes unavailable, with the reason, or available again. */
  readonly onShared?: (
    what: "limits" | "cache" | "sessions",
    server: string,
    away: string | undefined,
  ) => void
  /** Absent: plans with quotas are refused. */
  readonly quotas?: QuotaCounters | undefined
  /** Opens the connection to a collector of traces. Absent: requests are not traced. */
  readonly openTracer?: OpenTracer
  /** Opens the record of requests. Absent: requests are not recorded. */
  readonly openRecorder?: OpenRecorder
  /** Answers `require` for the steps of a plan. When it is the same for two plans, their steps may be reused. */
  readonly authorizerOf: (plan: Plan) => Authorizer
  readonly observer: Observer
  /** Absent: plans with certificates from ACME are refused. */
  readonly managed?: ManagedCertificates | undefined
  /** The keys of the session tickets of its listeners (default: each has keys of its own). */
  readonly tickets?: TicketKeys | undefined
  /** The OCSP responses for its certificates (default: none are stapled). */
  readonly staples?: OcspStaples | undefined
  /** Sends requests of the gateway itself; the caller closes it. Default: a client owned by the gateway. */
  readonly http?: OutgoingHttp
  /** Default: in memory, 64 MiB. */
  readonly cache?: Cache
  /** Where `env()` reads from, usually process.env. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Folder that file names in plans are relative to. */
  readonly folder: string
  /** Finds the addresses of hosts (default: as the system does). */
  readonly names?: HostNames
  /** Called when the targets that a backend finds change, or cannot be found. */
  readonly onDiscovery?: (note: DiscoveryNote) => void
  /** Called after a plan was provisioned again because one of its files changed; with an error when that failed and the previous plan stays in use. */
  readonly onReload?: (error: LoadError | undefined) => void
  /** The wall clock in milliseconds (default: that of the machine). */
  readonly now?: () => number
  /** Timeouts for slow clients; omitted ones have their defaults. */
  readonly patience?: Partial<Patience>
  /** Interval in which open streams of clients with certificates are judged again, in milliseconds (default: 2000). */
  readonly certificatesEveryMs?: number
  /** Interval for checking files, in milliseconds (default: 2000). */
  readonly filesEveryMs?: number
  /** Whether requests on a new address wait until its plan runs (default: they get 503). */
  readonly awaitsPlan?: boolean
}

/** The result of applying a plan. */
export interface Applied {
  readonly digest: string
  /** False when the same plan was already in use. */
  readonly changed: boolean
  readonly steps: { readonly total: number; readonly reused: number }
}

/** For health and status. */
export interface GatewayState {
  readonly serving: boolean
  readonly draining: boolean
  /** Digest of the plan in use. */
  readonly digest: string | undefined
  /** Requests in progress, in all generations. */
  readonly running: number
  /** Open WebSockets. */
  readonly tunnels: number
  /** Generations that still have requests, including the current one. */
  readonly generations: number
  readonly issuers: Readonly<Record<string, KeyState>>
  /** Statistics of the cache since the process started. */
  readonly cache: CacheStats
  /** The counts of limits in this process. */
  readonly limits: LimiterStats
  /** The counters that all processes share; undefined: the plan has none. */
  readonly shared: SharedCounts | undefined
  /** The cache that all processes share; undefined: the plan has none. */
  readonly sharedCache: Pick<SharedCache, "name" | "away"> | undefined
  /** Targets of each backend, in the order of the plan. */
  readonly backends: Readonly<Record<string, readonly TargetState[]>>
  /** Backends without an available target, and why. */
  readonly backendsAway: Readonly<Record<string, string>>
  /** What finds the targets of backends; backends with targets in the plan are not in it. */
  readonly discoveries: Readonly<Record<string, DiscoveryState>>
  readonly decisionPoints: Readonly<Record<string, PdpState>>
  /** The certificates of its listeners. */
  readonly certificates: readonly ShownCertificate[]
  /** The revocation lists for client certificates of its listeners. */
  readonly revocationLists: readonly ShownRevocationList[]
  readonly handshakesFailed: HandshakeFailures["counts"]
  /** Connections that its listeners closed before TLS and HTTP, by reason. */
  readonly connectionsRefused: ConnectionRefusals["counts"]
  readonly floods: FloodCounts["counts"]
}

/** A provisioned plan that is not in use yet. Exactly one of the two methods must be called, once; until then no other plan is prepared. */
export interface PreparedPlan {
  /** Replaces the plan in use: running requests end with the old plan, none is dropped. It cannot fail. */
  activate(): Applied
  discard(): Promise<void>
}

/** The canary of this process, and what it has counted. */
export interface CanaryState {
  readonly id: string
  readonly digest: string
  readonly counts: CanaryCounts
}

/** A running gateway. */
export interface Gateway {
  /**
   * Provisions a plan next to the one in use, including its listeners. Rejects with LoadError when it cannot be used; nothing has changed then. Calls
   * run one after the other.
   */
  prepare(plan: Plan): Promise<PreparedPlan>
  /** `prepare` and `activate` in one. */
  apply(plan: Plan): Promise<Applied>
  /**
   * Provisions a plan that shall serve a share of the callers beside the plan in use, on its listeners. Rejects with LoadError when it cannot be used.
   * When another plan replaces the one in use, the canary ends; its own plan is then taken as it is.
   */
  prepareCanary(plan: Plan, terms: CanaryTerms): Promise<PreparedCanary>
  /** The plan in use serves all callers again. */
  endCanary(): void
  /** Undefined: none runs. */
  canary(): CanaryState | undefined
  /** The addresses of its listeners, as `host:port`. */
  addresses(): readonly string[]
  state(): GatewayState
  /** What the plan in use would do with a request, and why; nothing is sent, written or counted. Undefined: there is no plan. */
  explain(question: RequestQuestion): Promise<RequestExplanation | undefined>
  /** Stops accepting connections, lets requests end, and aborts the rest after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** The settings of a public listener, apart from its address. */
interface GatewayListenerSettings {
  readonly headerBytesMax: number
  readonly patience: Pick<Patience, "headMs" | "readerMs">
  readonly handle: Handle
  readonly transport: Transport | undefined
  readonly onHandshakeFailed: (failure: HandshakeFailure) => void
  readonly admit: ListenerSettings["admit"]
  readonly onRefused: ListenerSettings["onRefused"]
  readonly onFlood: FloodCounts["count"]
  readonly newId: () => string
  readonly refused: RefusalReport
  /** Listeners that the next plan does not have: they release their address when it conflicts. */
  readonly leaving: readonly Listener[]
  readonly awaitsActivation: boolean
}

/** Reports bytes that were refused before they were a request; `peer` is the client's socket address. */
type RefusalReport = (id: string, found: Problem, peer: string) => void

/** Creates a gateway without a plan and without listeners. */
export function createGateway(options: GatewayOptions): Gateway {
  return new RunningGateway(options)
}

/** The gateway. Plans are applied one after another in a queue; requests never wait for it. */
class RunningGateway implements Gateway {
  readonly #options: GatewayOptions
  readonly #pools: Pools
  readonly #ownHttp = new HttpClient()
  readonly #shared: Pick<
    GatewayDependencies,
    | "cache"
    | "http"
    | "backendsByUrl"
    | "traceLog"
    | "relationLog"
    | "mirrorLog"
    | "pdpNotes"
    | "meter"
    | "pools"
    | "waited"
    | "openShared"
    | "clock"
  >
  readonly #context: PipelineContext
  readonly #gatewayState = { draining: false }
  readonly #handshakes = new HandshakeFailures()
  readonly #connections = new AddressConnections()
  readonly #refusals = new ConnectionRefusals()
  readonly #floods = new FloodCounts()
  readonly #watch: FileWatch
  readonly #generations = new Set<Provisioned>()
  #listeners: Listener[] = []
  /** The files of the current plan. */
  #files: readonly SeenFile[] = []
  #current: Provisioned | undefined
  #transports: Transports | undefined
  /** Serves a share of the callers beside the current plan. */
  #canary: RunningCanary | undefined
  /** Its plan is prepared to become the current one, so its generation stays usable when it ends as a canary. */
  #adopted: RunningCanary | undefined
  #queue: Promise<unknown> = Promise.resolve()

  /** What outlives plans: connections, caches and counters. */
  constructor(options: GatewayOptions) {
    this.#options = options
    const { names = hostNames } = options
    const clock = options.now === undefined ? systemClock : { ...systemClock, now: options.now }
    this.#pools = new Pools(names, new Discoveries(names, options.onDiscovery), clock)
    const { observer, cache = createMemoryCache() } = options
    const connect = (what: "limits" | "cache" | "sessions", settings: RedisSettings, prefix: string) => {
      const onChange = (away: string | undefined) =>
        options.onShared?.(what, redisName(settings.address), away)
      return new RedisConnection({ ...settings, onChange }, prefix)
    }
    this.#shared = {
      clock,
      pools: this.#pools,
      cache,
      http: options.http ?? this.#ownHttp,
      backendsByUrl: new UrlBackends(this.#pools),
      traceLog: { write: (line) => observer.traced?.(line) },
      relationLog: { changed: (change) => observer.changed?.(change) },
      mirrorLog: { mirrored: (request) => observer.mirrored?.(request) },
      pdpNotes: {
        requested: (request) => observer.pdpRequested?.(request),
        decided: (decision) => observer.pdpDecided?.(decision),
      },
      meter: { add: (name, labels, value) => observer.counted?.(name, labels, value) },
      openShared: {
        limiter: (settings, prefix) =>
          new SharedLimiter(connect("limits", settings, prefix), options.limiter, prefix),
        cache: (settings, prefix, bytesMax) =>
          new SharedCache({ connection: connect("cache", settings, prefix), local: cache, prefix, bytesMax }),
        sessions: (settings, prefix) => connect("sessions", settings, `${prefix}oidc/`),
      },
      waited: observer.waited === undefined ? undefined : (kind, ms) => observer.waited?.(kind, ms),
    }
    this.#context = {
      clock,
      deadlines: new Deadlines(),
      patience: { ...defaultPatience, ...options.patience },
      observer: options.observer,
      newId: randomUUID,
      tunnels: new Tunnels(),
      certified: new Certified(options.certificatesEveryMs),
    }
    this.#watch = new FileWatch(() => this.#reload(), options.filesEveryMs)
  }

  /** Provisions a plan without serving it. The caller activates or discards it later. */
  prepare(plan: Plan): Promise<PreparedPlan> {
    return this.#held(async (done) => {
      const prepared = await this.#prepare(plan, false)
      return {
        activate: () => {
          done()
          return prepared.activate()
        },
        discard: () => prepared.discard().finally(done),
      }
    })
  }

  prepareCanary(plan: Plan, terms: CanaryTerms): Promise<PreparedCanary> {
    return this.#held(async (done) => {
      const running = this.#current
      if (running === undefined || this.#gatewayState.draining)
        throw new LoadError(["no plan is in use, so none can be tried beside it"])
      const provisioned = await this.#provision(plan)
      return {
        activate: () => {
          done()
          this.#startCanary(new RunningCanary(terms, provisioned, running, this.#options.observer))
        },
        discard: () => {
          done()
          provisioned.generation.retire()
        },
      }
    })
  }

  /** Occupies the queue until `done` is called, so that the next plan is provisioned against the one then in use. */
  #held<T>(prepare: (done: () => void) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      void this.#enqueue(async () => {
        try {
          await new Promise<void>((done, failed) => {
            prepare(done).then(resolve, failed)
          })
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #startCanary(canary: RunningCanary): void {
    this.endCanary()
    this.#canary = canary
    this.#context.observer = canary.observer
    this.#generations.add(canary.provisioned)
    this.#watchFiles()
  }

  endCanary(): void {
    const canary = this.#takeCanary()
    if (canary !== this.#adopted) canary?.provisioned.generation.retire()
    if (canary !== undefined) this.#watchFiles()
    this.#forgetEnded()
  }

  /** No request is given to the canary any more. */
  #takeCanary(): RunningCanary | undefined {
    const canary = this.#canary
    this.#canary = undefined
    this.#context.observer = this.#options.observer
    return canary
  }

  canary(): CanaryState | undefined {
    const canary = this.#canary
    return canary && { id: canary.terms.id, digest: canary.digest, counts: canary.counts }
  }

  async apply(plan: Plan): Promise<Applied> {
    return (await this.prepare(plan)).activate()
  }

  addresses(): readonly string[] {
    return this.#listeners.map((listener) => listener.bound)
  }

  /** The state for `status` and the readiness check. */
  state(): GatewayState {
    this.#forgetEnded()
    const issuers = [...(this.#current?.resources.verifiers ?? [])].map(
      ([name, { value }]) => [name, value.state()] as const,
    )
    const backends = [...(this.#current?.resources.backends ?? [])]
    return {
      serving: this.#current !== undefined && !this.#gatewayState.draining,
      draining: this.#gatewayState.draining,
      digest: this.#current?.generation.plan.digest,
      running: [...this.#generations].reduce((sum, { generation }) => sum + generation.running, 0),
      tunnels: this.#context.tunnels.size,
      generations: this.#generations.size,
      cache: (this.#current?.resources.sharedCache?.value ?? this.#shared.cache).stats(),
      limits: this.#options.limiter.stats(),
      shared: this.#current?.resources.shared?.value,
      sharedCache: this.#current?.resources.sharedCache?.value,
      issuers: Object.fromEntries(issuers),
      certificates: certificatesOf(this.#listeners),
      revocationLists: revocationListsOf(this.#listeners),
      handshakesFailed: this.#handshakes.counts,
      connectionsRefused: this.#refusals.counts,
      floods: this.#floods.counts,
      backends: Object.fromEntries(backends.map(([name, { value }]) => [name, value.states()])),
      backendsAway: Object.fromEntries(
        backends.flatMap(([name, { value }]) => (value.isAway ? [[name, value.awayReason]] : [])),
      ),
      discoveries: Object.fromEntries(
        backends.flatMap(([name, { value }]) =>
          value.discovery === undefined ? [] : [[name, value.discovery]],
        ),
      ),
      decisionPoints: Object.fromEntries(
        [...(this.#current?.resources.decisionPoints ?? [])].map(([name, { value }]) => [
          name,
          value.pdpState(),
        ]),
      ),
    }
  }

  /** Explains a request with the running generation, which cannot be discarded meanwhile. */
  async explain(question: RequestQuestion): Promise<RequestExplanation | undefined> {
    const current = this.#current
    if (current === undefined) return undefined
    const { generation, resources, steps } = current
    generation.enter()
    try {
      const { dependencies } = steps
      return await explainRequest(question, {
        ...{ generation, resources, dependencies, waiting: this.#context, live: true },
      })
    } finally {
      generation.leave()
    }
  }

  /** Ends the gateway: listeners first, then requests, then connections to backends. */
  async close(graceMs: number): Promise<void> {
    this.#gatewayState.draining = true
    this.#watch.close()
    await this.#enqueue(async () => {
      const cut = setTimeout(() => this.#context.tunnels.closeAll(), graceMs)
      await Promise.all(this.#listeners.map((listener) => listener.close(graceMs)))
      clearTimeout(cut)
      this.#context.tunnels.closeAll()
      this.#listeners = []
      this.endCanary()
      this.#watch.close()
      this.#current?.generation.retire()
      this.#current = undefined
      await Promise.all([this.#pools.destroy(), this.#ownHttp.close()])
    })
  }

  readonly #handle: Handle = (incoming, target) => {
    // Read once: the whole request uses this generation.
    const generation = this.#generationFor(incoming.request, target)
    if (generation === undefined || !incoming.listener.serves(incoming.request.socket.localAddress)) {
      incoming.reply.writeHead(503, ["content-length", "0", "retry-after", "1", "connection", "close"])
      incoming.reply.end()
      return
    }
    const { managed } = this.#options
    if (
      managed !== undefined &&
      target.startsWith(challengePrefix) &&
      (this.#current?.resources.acme.length ?? 0) > 0
    )
      void answerChallenge(incoming, target, managed).then((answered) => {
        // Another plan may run by now, and this one may have released what it used.
        if (!answered) serve(this.#context, this.#current?.generation ?? generation, incoming, target)
      })
    else serve(this.#context, generation, incoming, target)
  }

  #generationFor(request: IncomingRequest, target: string): Generation | undefined {
    const running = this.#current
    const canary = this.#canary
    if (running === undefined || canary === undefined || !canary.takes(request, target, running))
      return running?.generation
    return canary.provisioned.generation
  }

  /** Invalid requests are logged, too, so that the request id in their response can be found. */
  readonly #refused: RefusalReport = (id, found, peer) => {
    const addresses = this.#current?.generation.rules.addresses
    this.#context.observer.finished(refusedRequest(id, found, addresses?.of(peer, undefined).ip ?? peer))
  }

  /** Provisions a plan beside the running one. A plan with the same digest is applied already, unless files were changed (`again`). */
  async #prepare(plan: Plan, again: boolean): Promise<PreparedPlan> {
    if (this.#gatewayState.draining) throw new LoadError(["the gateway is shutting down"])
    const previous = this.#current
    if (!again && previous?.generation.plan.digest === plan.digest) {
      const { size } = previous.steps
      const applied = { digest: plan.digest, changed: false, steps: { total: size, reused: size } }
      return { activate: () => applied, discard: async () => undefined }
    }
    // The plan of a canary becomes that of all callers with its connections and counters.
    const canary = !again && this.#canary?.digest === plan.digest ? this.#canary : undefined
    this.#adopted = canary
    const next = canary?.provisioned ?? (await this.#provision(plan))
    const drop = () => {
      this.#adopted = undefined
      // A canary that still runs keeps its generation.
      if (canary === undefined || this.#canary !== canary) next.generation.retire()
    }
    try {
      const listeners = { side: "gateway", listen: next.listen } as const
      const { trusts, files } = await readClientTrusts(plan, listeners, this.#options)
      const { certificates } = next.resources
      const transports = transportsOf(plan, listeners, {
        certificates,
        trusts,
        managed: this.#options.managed,
        tickets: this.#options.tickets,
        staples: this.#options.staples,
        running: this.#transports,
      })
      const opened = await this.#open(plan, next.listen, transports)
      return {
        activate: () => this.#activate(plan, next, { opened, transports, files }),
        discard: async () => {
          drop()
          await discardAll(opened)
        },
      }
    } catch (error) {
      drop()
      throw error
    }
  }

  /** Provisions a plan; what is the same as in the plan in use is taken from it. */
  #provision(plan: Plan): Promise<Provisioned> {
    const authorizer = this.#options.authorizerOf(plan)
    const dependencies = { ...this.#options, ...this.#shared, authorizer }
    return provision(plan, { dependencies, gatewayState: this.#gatewayState }, this.#current)
  }

  #leaving(wanted: readonly Address[]): Listener[] {
    return this.#listeners.filter(({ asked }) => !wanted.some((other) => sameAddress(asked, other)))
  }

  /**
   * Opens the new listeners.
   * @throws LoadError; then none of them is open
   */
  async #open(plan: Plan, listen: readonly Address[], transports: Transports): Promise<Listener[]> {
    const opened: Listener[] = []
    const leaving = this.#leaving(listen)
    for (const address of listen) {
      if (this.#listeners.some((listener) => sameAddress(listener.asked, address))) continue
      try {
        const { newId } = this.#context
        const patience = { ...patienceOf(plan), ...this.#options.patience }
        const settings = {
          headerBytesMax: headerBytesMaxOf(plan),
          patience,
          handle: this.#handle,
          transport: transports.get(addressText(address)),
          onHandshakeFailed: this.#handshakes.count,
          admit: (from: string) => this.#connections.admit(from),
          onRefused: this.#refusals.count,
          onFlood: this.#floods.count,
          newId,
          refused: this.#refused,
          leaving,
          awaitsActivation: this.#options.awaitsPlan === true,
        }
        opened.push(await openGatewayListener(address, settings))
      } catch (error) {
        await discardAll(opened)
        throw listenError(plan, address, error as NodeJS.ErrnoException)
      }
    }
    return opened
  }

  /** Replaces the plan, then closes the listeners that are no longer needed, so that there is always one. */
  #activate(plan: Plan, next: Provisioned, { opened, transports, files }: OpenedListeners): Applied {
    const previous = this.#current
    this.#adopted = undefined
    // After a change of files the same plan runs, so its canary stays.
    if (previous?.generation.plan.digest !== plan.digest) {
      const canary = this.#takeCanary()
      if (canary !== undefined && canary.provisioned !== next) canary.provisioned.generation.retire()
    }
    this.#current = next
    this.#transports = transports
    this.#files = [...next.files, ...files]
    this.#options.limiter.keysMax = plan.plan.gateway?.limits.limitKeysMax ?? limitKeysDefault
    this.#connections.limits = addressLimitsOf(plan, next.generation.rules.addresses)
    this.#context.patience = { ...patienceOf(plan), ...this.#options.patience }
    this.#generations.add(next)
    const gone = this.#leaving(next.listen)
    for (const listener of opened) listener.activate()
    this.#listeners = [...this.#listeners.filter((listener) => !gone.includes(listener)), ...opened]
    for (const listener of this.#listeners) {
      listener.headerBytesMax = headerBytesMaxOf(plan)
      listener.headMs = this.#context.patience.headMs
      listener.transport = transports.get(addressText(listener.asked)) ?? {}
    }
    for (const listener of gone) void listener.close(leftGraceMs)
    previous?.generation.retire()
    this.#context.tunnels.keep((key) => Object.hasOwn(plan.plan.routes, key))
    this.#watchFiles()
    this.#options.staples?.use("gateway", certificatesServed(transports))
    this.#options.managed?.use("gateway", next.resources.acme, () => this.#reload())
    this.#forgetEnded()
    return {
      digest: plan.digest,
      changed: true,
      steps: { total: next.steps.size, reused: next.steps.reused },
    }
  }

  /** Provisions the running plan again after a file was changed. On a failure the old generation stays in use. */
  #reload(): void {
    void this.#enqueue(async () => {
      const plan = this.#current?.generation.plan
      if (plan === undefined || this.#gatewayState.draining) return
      try {
        const prepared = await this.#prepare(plan, true)
        prepared.activate()
        await this.#renewCanary()
        this.#options.onReload?.(undefined)
      } catch (error) {
        this.#options.onReload?.(error instanceof LoadError ? error : new LoadError([String(error)]))
      }
    })
  }

  /** Provisions the canary's plan again, beside the plan in use, which is new. On a failure its old generation stays in use. */
  async #renewCanary(): Promise<void> {
    const canary = this.#canary
    if (canary === undefined) return
    const provisioned = await this.#provision(canary.provisioned.generation.plan)
    if (this.#canary !== canary) {
      provisioned.generation.retire()
      return
    }
    canary.renew(provisioned).generation.retire()
    this.#generations.add(provisioned)
    this.#watchFiles()
  }

  /** Watches the files of the plans that serve. */
  #watchFiles(): void {
    this.#watch.watch([...this.#files, ...(this.#canary?.provisioned.files ?? [])])
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined)
    return done
  }

  #forgetEnded(): void {
    for (const provisioned of this.#generations) {
      if (provisioned === this.#current || provisioned === this.#canary?.provisioned) continue
      if (provisioned.generation.running === 0) this.#generations.delete(provisioned)
    }
  }
}

/** Trusted proxies are not limited: they carry the connections of many clients. */
function addressLimitsOf(plan: Plan, addresses: ClientAddresses): AddressLimits {
  const { connectionsPerAddressMax, newConnectionsPerAddressMax } = plan.plan.gateway?.limits ?? {}
  return {
    openMax:
      connectionsPerAddressMax === undefined
        ? connectionsPerAddressDefault
        : (connectionsPerAddressMax ?? undefined),
    newMax: newConnectionsPerAddressMax,
    countedAs(address) {
      const { ip, trusted } = addresses.of(address, undefined)
      return trusted ? undefined : addresses.countedAs(ip)
    },
  }
}

/** The new listeners of a plan, and how clients reach all of them. */
interface OpenedListeners {
  readonly opened: readonly Listener[]
  readonly transports: Transports
  /** The files of client certificates. */
  readonly files: ListenerTrusts["files"]
}

/** How long the plan waits for slow clients. */
function patienceOf(plan: Plan): Patience {
  const { headMs = headMsDefault, bodyRate = bodyRateDefault } = plan.plan.gateway?.limits ?? {}
  return { ...defaultPatience, headMs, bodyWindowMs: bodyRate.ms, bodyBytesMin: bodyRate.bytes }
}

function headerBytesMaxOf(plan: Plan): number {
  return plan.plan.gateway?.limits.headerBytesMax ?? 16_384
}

/** In reverse order, so that addresses return in the opposite order of their transfer. */
async function discardAll(opened: readonly Listener[]): Promise<void> {
  for (const listener of opened.toReversed()) await listener.discard(leftGraceMs)
}

function sameAddress(a: Address, b: Address): boolean {
  return a.host === b.host && a.port === b.port
}

function listenError(plan: Plan, address: Address, error: NodeJS.ErrnoException): LoadError {
  const place = plan.origins["gateway"] === undefined ? "" : `${plan.origins["gateway"]}: `
  return new LoadError([`${place}cannot listen on ${addressText(address)}: ${listenReason(error)}`])
}

/**
 * Opens a public listener with one catch-all handler, because routes belong to the generation. Until `activate` or `discard` it also serves the
 * listeners that released their address. The pipeline checks heads itself (intake.ts) and watches bodies (patience.ts).
 * @throws when the address cannot be opened, with the code of the system (`EADDRINUSE`)
 */
function openGatewayListener(address: Address, settings: GatewayListenerSettings): Promise<Listener> {
  const { headerBytesMax, patience, handle, transport } = settings
  const { headMs, readerMs } = patience
  const { onHandshakeFailed, onFlood, admit, onRefused, leaving, awaitsActivation } = settings
  return openListener(address, {
    limits: { headerBytesMax, headMs, readerMs, requestMs: 0 },
    service: { kind: "handler", handle, webSockets: true },
    answerRaw: answererOf(settings),
    ...{ transport, onHandshakeFailed, onFlood, admit, onRefused, leaving, awaitsActivation },
  })
}

/** Fields that a status requires (RFC 9110 §15.5.2, §15.5.6). */
const refusalHeaders: { readonly [Name in ProblemName]?: readonly string[] } = {
  "method-not-allowed": ["allow", ""],
  "certificate-required": ["www-authenticate", certificateChallenge],
}

/** Responds on a connection without a valid request, and reports it. */
function answererOf({ newId, refused }: GatewayListenerSettings): RawAnswerer {
  return (socket, { name, cause }) => {
    const id = newId()
    const peer = socket.remoteAddress ?? ""
    const headers = refusalHeaders[name]
    const found = problem(name, { cause, headers })
    // An invalid request has no plan, so the response uses the standard format.
    const answer = renderProblem(found, id, "problem")
    sendRaw(socket, { ...answer, headers: [...answer.headers, "x-request-id", id] })
    refused(id, found, peer)
  }
}
