import { AsyncLocalStorage } from "node:async_hooks"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import type { LoadedModel } from "../../check/loaded-model.ts"
import type { ListenerState } from "../../http/server/incoming.ts"
import { createKeyTable, type Subscriber } from "../../identity/keys.ts"
import type { Plan } from "../../plan/plan.ts"
import type { Authorizer } from "../../policies/policy.ts"
import { UrlBackends } from "../backends/backends-by-url.ts"
import { defaultPatience } from "../backends/patience.ts"
import { Certified } from "../exchange/certified.ts"
import { type PipelineContext, serve } from "../exchange/pipeline.ts"
import { planOfProcess } from "../generation/plan-of-process.ts"
import { type Provisioned, provision } from "../generation/provision.ts"
import type { GatewayDependencies, KeyEntry } from "../generation/resources.ts"
import type { Observer } from "../observer.ts"
import { Tunnels } from "../tunnels/tunnels.ts"
import { DoubledHttp, DoubledPools } from "./backend-doubles.ts"
import { ArrivedRequest, type ClientResponse, KeptReply, responseOf } from "./client-double.ts"
import { CountedLimits, CountedQuotas, type LimitLeft } from "./counted-limits.ts"
import { MemorySessions } from "./memory-sessions.ts"
import { MemoryStores } from "./memory-stores.ts"
import { type Passage, PassageRecording } from "./passage.ts"
import { type Credentials, withCredentials } from "./placed-credentials.ts"
import { PlayedBrowser } from "./played-browser.ts"
import { PlayedCertificates } from "./played-certificates.ts"
import { PlayedConnection } from "./played-connection.ts"
import { type IssuedToken, PlayedIssuers } from "./played-issuers.ts"
import { withLogout } from "./played-logouts.ts"
import { PlayedProviders } from "./played-providers.ts"
import { RenewedCache } from "./renewed-cache.ts"
import type { Stage } from "./stage.ts"
import { VirtualClock } from "./virtual-clock.ts"
import { type Alternatives, WatchedSteps, type WeakenedWebSockets, type Weakening } from "./watched-steps.ts"
import { withoutServer } from "./without-server.ts"
import type { BackendAnswer, BackendRequest, ClientRequest, PlayedLogin, World } from "./world.ts"

/** A request and its credentials. */
export interface Order {
  readonly request: ClientRequest
  readonly credentials: Credentials | undefined
}

/** A request of a browser. Requests with the same `login` are of one browser, which keeps its cookies until the next restart. */
export interface BrowserVisit extends Order {
  readonly login: PlayedLogin
  /** Whether the browser goes where it is sent: to the provider, which logs in at once, and to pages of the gateway. */
  readonly follows: boolean
  /** Called with each passage, also with those of redirects. */
  readonly onPassage?: ((passage: Passage) => void) | undefined
}

/** Redirects that a browser follows, as many as browsers do. */
const redirectsMax = 20

/** How a plan is opened. */
export interface InProcessOptions {
  /** Where `env()` reads. A variable that is missing gets a fixed value. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The folder of files named in the plan. */
  readonly folder: string
  /** For mutation: how else each step could be. */
  readonly alternatives?: Alternatives
  /** Answers questions about relations instead of the engine with the tuples of the world. */
  readonly authorizer?: Authorizer
  /** Answers instead of the decision points of the plan. */
  readonly decisionPointOf?: (name: string) => Authorizer
}

type Matched = ReturnType<Provisioned["generation"]["routes"]["find"]>

const noWorld: World = {
  timeMs: 0,
  answer: () => ({ failure: "refused" }),
  tuples: {},
  issued: new Map(),
  issuersDown: new Set(),
}

/**
 * The gateway of a plan without listeners and without a server: the pipeline, the steps, the engine and the verification of tokens are those of
 * production; clients, backends, issuers' keys, clocks and databases are replaced by a world. One request runs at a time, or several that are sent together.
 */
export class InProcessGateway {
  /** Variables of the environment that had no value. */
  readonly unset: readonly string[]
  readonly #plan: Plan
  readonly #dependencies: GatewayDependencies
  readonly #context: PipelineContext
  readonly #clock: VirtualClock
  readonly #issuers: PlayedIssuers
  readonly #providers: PlayedProviders
  readonly #browsers = new Map<PlayedLogin, PlayedBrowser>()
  readonly #stores: MemoryStores
  readonly #limits: CountedLimits
  readonly #quotas: CountedQuotas
  readonly #steps: WatchedSteps
  readonly #cache: RenewedCache
  readonly #sessions: MemorySessions
  readonly #keys = new Map<string, string>()
  readonly #certificates: PlayedCertificates
  #provisioned: Provisioned | undefined
  /** The route of the last request: a replay asks for it several times. */
  #matched: { readonly request: ClientRequest; readonly match: Matched | undefined } | undefined
  #world: World = noWorld
  #recording = new PassageRecording()
  /** The recordings of requests that run together: what happens in a request is noted in its own. */
  readonly #together = new AsyncLocalStorage<PassageRecording>()
  readonly #running = new Map<string, PassageRecording>()
  /** Ends the requests that wait when nothing will ever happen. */
  readonly #unfinished = new Set<() => void>()
  /** Number of signatures that needed an id. */
  #signed = 0
  /** Backends that got a request since the last restart. */
  readonly #contacted = new Set<string>()
  /** Whether another server got one: an introspection endpoint, a decision point, a token endpoint. */
  #hasContacts = false
  #queue: Promise<unknown> = Promise.resolve()

  /** Not provisioned yet: see `openInProcess`. @throws LoadError when the environment has a value that does not fit */
  constructor(plan: Plan, options: InProcessOptions) {
    const own = planOfProcess(plan, options.environment)
    const { body, environment, unset } = withoutServer(own.plan, options.environment)
    this.unset = unset
    this.#plan = { ...plan, plan: body }
    const clock = new VirtualClock(0)
    this.#clock = clock
    clock.onStuck = () => {
      for (const giveUp of this.#unfinished) giveUp()
      this.#unfinished.clear()
    }
    this.#issuers = new PlayedIssuers(clock)
    this.#providers = new PlayedProviders(body, this.#issuers)
    this.#certificates = new PlayedCertificates(plan.plan)
    this.#stores = new MemoryStores(this.#plan, clock)
    this.#limits = new CountedLimits(clock)
    this.#quotas = new CountedQuotas(clock)
    this.#steps = new WatchedSteps(body, options.alternatives)
    this.#cache = new RenewedCache(clock)
    this.#sessions = new MemorySessions(clock)
    this.#note()
    const stage: Stage = {
      clock,
      play: (request) => this.#play(request),
      upgraded: (connection) => {
        this.#current.upstream = connection
      },
    }
    const pools = new DoubledPools(stage)
    this.#dependencies = {
      ...{ environment, folder: options.folder, clock, pools },
      createVerifier: this.#issuers.createVerifier,
      createKeyTable: (entries) => this.#keyTable(entries),
      ...{ limiter: this.#limits, quotas: this.#quotas, sessionStore: this.#sessions },
      authorizer: options.authorizer ?? this.#stores,
      decisionPointOf: options.decisionPointOf,
      cache: this.#cache,
      http: new DoubledHttp(stage),
      backendsByUrl: new UrlBackends(pools),
      traceLog: { write: (line) => void this.#current.log.push(line) },
      meter: { add: () => undefined },
      relationLog: { changed: (change) => this.#current.changes.push(change) },
      policies: this.#steps.policies(),
    }
    this.#context = {
      ...{ clock, deadlines: clock.deadlines, patience: defaultPatience, newId: () => this.#newId() },
      observer: this.#observer(),
      webSocketsOf: (route) => this.#steps.webSocketsOf(route),
      ...{ tunnels: new Tunnels(), certified: new Certified() },
    }
  }

  /** Facts go to the recording of their id: a deadline ends a request outside of what began it. */
  #observer(): Observer {
    return {
      finished: (finished) => {
        const recording = this.#running.get(finished.id)
        if (recording === undefined) return
        recording.finished = finished
        if (recording.opened !== undefined) this.#running.delete(finished.id)
      },
      opened: (facts) => {
        const recording = this.#running.get(facts.id)
        if (recording === undefined) return
        recording.opened = facts
        recording.whenOpened()
      },
    }
  }

  /** The wall clock, in milliseconds since the epoch. */
  get nowMs(): number {
    return this.#clock.now()
  }

  get issuers(): readonly string[] {
    return this.#issuers.names
  }

  /** Runs what is weakened from the next request on; undefined: the plan as it is. */
  set weakening(weakening: Weakening | WeakenedWebSockets | undefined) {
    this.#steps.weakening = weakening
  }

  /**
   * Begins again in another world: nothing is counted, cached or broken. `models`: replace those of the plan, by store.
   * @throws LoadError when the plan cannot be provisioned
   */
  async restart(world: World, models?: ReadonlyMap<string, LoadedModel>): Promise<void> {
    this.#context.tunnels.closeAll()
    this.#world = world
    this.#clock.restart(world.timeMs)
    this.#issuers.restart(world.issuersDown)
    this.#providers.restart(world.issuersDown)
    this.#browsers.clear()
    this.#stores.restart(world.tuples, (decision) => this.#current.decisions.push(decision), models)
    this.#limits.restart()
    this.#quotas.restart()
    this.#cache.restart()
    this.#sessions.restart()
    this.#signed = 0
    await this.#provision()
  }

  /** Sends a request and waits for its end. Credentials are put where the route of the request reads them. */
  send(request: ClientRequest, credentials?: Credentials): Promise<Passage> {
    const sent = this.#queue.then(() => {
      this.#recording = new PassageRecording()
      return this.#send({ request, credentials }, this.#recording)
    })
    this.#queue = sent.catch(() => undefined)
    return sent
  }

  /** Sends a request of a browser, and follows redirects. Returns the last passage. */
  async visit({ request, credentials, login, follows, onPassage }: BrowserVisit): Promise<Passage> {
    let browser = this.#browsers.get(login)
    if (browser === undefined) {
      browser = new PlayedBrowser()
      this.#browsers.set(login, browser)
    }
    const host = request.headers.filter(([name]) => name.toLowerCase() === "host")
    let asked = request
    for (let left = redirectsMax; ; left -= 1) {
      const passage = await this.send(browser.complete(asked), credentials)
      onPassage?.(passage)
      browser.keep(passage.response.headers, this.nowMs)
      const next = follows ? this.#next(passage.response, asked, login) : undefined
      if (next === undefined) return passage
      if (left === 0) throw new Error(`the browser was redirected more than ${redirectsMax} times`)
      asked = { method: "GET", target: next, headers: host, ip: request.ip, certificate: request.certificate }
    }
  }

  /** The target of the request that follows a redirect; undefined: there is none, or it leads to a page of another server. */
  #next({ status, headers }: ClientResponse, asked: ClientRequest, login: PlayedLogin): string | undefined {
    const location = headers.find(([name]) => name === "location")?.[1]
    if (![301, 302, 303].includes(status) || location === undefined) return undefined
    const host = asked.headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? "localhost"
    if (!URL.canParse(location, `http://${host}`)) return undefined
    const there = new URL(location, `http://${host}`)
    const back = this.#providers.leads(there, login)
    // A provider leads back to the gateway, which may have another name for browsers (`external`).
    if (back !== undefined) return back.pathname + back.search
    return there.host === host ? there.pathname + there.search : undefined
  }

  /** Sends requests at one moment, in this order, and waits for the end of all. */
  sendTogether(orders: readonly Order[]): Promise<readonly Passage[]> {
    const sent = this.#queue.then(() =>
      Promise.all(
        orders.map((order) => {
          const recording = new PassageRecording()
          return this.#together.run(recording, () => this.#send(order, recording))
        }),
      ),
    )
    this.#queue = sent.catch(() => undefined)
    return sent
  }

  /** Lets time pass between two requests, in milliseconds. */
  advance(ms: number): Promise<void> {
    return this.#clock.advance(ms)
  }

  /** Waits until what was sent through WebSockets has arrived. No time passes. */
  settled(): Promise<void> {
    return this.#clock.turn()
  }

  /** Signs a token as an issuer of the plan. @throws Error for an issuer that the plan does not have */
  token(order: IssuedToken): string {
    return this.#issuers.sign(order)
  }

  /** Name of the issuer in the plan whose tokens have this `iss`; undefined: none. */
  issuerOf(iss: string): string | undefined {
    return this.#issuers.named(iss)
  }

  /** Key of the route of a request in the plan; undefined: it has none. */
  routeOf(request: ClientRequest): string | undefined {
    const match = this.#match(request)
    return match?.kind === "found" ? match.route.key : undefined
  }

  /** A key of a subscription that the plan declares; undefined: it declares none with this name. */
  keyOf(subscription: string): string | undefined {
    return this.#keys.get(subscription)
  }

  close(): void {
    this.#context.tunnels.closeAll()
    this.#provisioned?.generation.retire()
    this.#provisioned = undefined
    this.#stores.close()
  }

  /**
   * Backends that were contacted forget it. What asks other servers has caches and breakers of its own, so it is made again. Everything else is kept.
   */
  async #provision(): Promise<void> {
    const before = this.#provisioned
    for (const name of this.#contacted) before?.resources.backends.get(name)?.value.reset()
    this.#contacted.clear()
    if (before !== undefined && !this.#hasContacts) return
    const kept = before === undefined ? undefined : withoutContacts(before)
    const context = { dependencies: this.#dependencies, gatewayState: { draining: false } }
    this.#provisioned = await provision(this.#plan, context, kept)
    before?.generation.retire()
    this.#hasContacts = false
  }

  /** The recording of the request in which something happens. */
  get #current(): PassageRecording {
    return this.#together.getStore() ?? this.#recording
  }

  /** The pipeline asks for an id when it begins a request. */
  #newId(): string {
    const id = randomUUID()
    const recording = this.#current
    if (recording.id === undefined) {
      recording.id = id
      this.#running.set(id, recording)
    }
    return id
  }

  async #send({ request, credentials }: Order, recording: PassageRecording): Promise<Passage> {
    const generation = this.#provisioned?.generation
    if (generation === undefined) throw new Error("the gateway is closed, or was never started")
    const placed = credentials === undefined ? request : this.#placed(request, credentials)
    const arrived: ArrivedRequest = new ArrivedRequest(placed, () => reply.destroy())
    const reply: KeptReply = new KeptReply(arrived)
    const client = arrived.asksForWebSocket ? new PlayedConnection() : undefined
    let head: Buffer | undefined
    await new Promise<void>((resolve, reject) => {
      const giveUp = () =>
        reject(
          new Error(
            "the request never ends: a backend is silent, and neither the route nor the backend has a timeout",
          ),
        )
      const ended = () => {
        this.#unfinished.delete(giveUp)
        resolve()
      }
      this.#unfinished.add(giveUp)
      recording.whenOpened = () => {
        head = client?.take()
        ended()
      }
      // The pipeline listens first, so the facts are complete when the reply closes.
      const listener = this.#listenerOf(arrived, placed)
      const upgrade = client && { socket: client, detach: () => undefined, takeOver: () => Buffer.alloc(0) }
      const incoming = { request: arrived, reply, listener, upgrade }
      serve(this.#context, generation, incoming, placed.target)
      reply.once("close", ended)
    })
    if (head === undefined) this.#running.delete(recording.id ?? "")
    return recording.passage(head === undefined ? reply.response : responseOf(head), client)
  }

  #listenerOf({ socket, headers }: ArrivedRequest, { certificate }: ClientRequest): ListenerState {
    if (certificate === undefined) return listener
    return this.#certificates.present(socket, headers.host ?? "localhost", certificate)
  }

  #placed(request: ClientRequest, credentials: Credentials): ClientRequest {
    const match = this.#match(request)
    const route = match?.kind === "found" ? match.route.plan : undefined
    const { plan } = this.#plan
    const next = () => {
      this.#signed += 1
      return this.#signed
    }
    if (credentials.logout !== undefined) {
      const idOf = (client: string) => this.#provisioned?.resources.oidcClients.get(client)?.value.id ?? ""
      return withLogout(request, credentials.logout, plan, { issuers: this.#issuers, idOf, next })
    }
    const sign = (token: IssuedToken) => this.token(token)
    const secretOf = (name: string) => this.#secretOf(name)
    return withCredentials(request, credentials, plan, route, { sign, nowMs: this.nowMs, secretOf, next })
  }

  /** @throws Error for a file that cannot be read */
  #secretOf(name: string): string | undefined {
    const reference = this.#plan.plan.secrets[name]
    if (reference === undefined) return undefined
    const { environment, folder } = this.#dependencies
    return "env" in reference
      ? (environment[reference.env] ?? reference.default)
      : readFileSync(resolve(folder, reference.file), "utf8").trimEnd()
  }

  #match(request: ClientRequest) {
    if (this.#matched?.request === request) return this.#matched.match
    const match = this.#find(request)
    this.#matched = { request, match }
    return match
  }

  #find({ headers, target, method }: ClientRequest) {
    const host = headers.find(([name]) => name.toLowerCase() === "host")?.[1] ?? "localhost"
    const [path = ""] = target.split("?")
    return this.#provisioned?.generation.routes.find(method, path, host)
  }

  #play(request: BackendRequest): BackendAnswer | Promise<BackendAnswer> {
    const { sent } = this.#current
    if (request.backend === undefined) this.#hasContacts = true
    else this.#contacted.add(request.backend)
    const note = (answer: BackendAnswer): BackendAnswer => {
      const { backend, origin, method, target, headers, body } = request
      sent.push({ backend, origin, method, target, headers, body, answer })
      return answer
    }
    const isProvider = request.backend === undefined && this.#world.playsProviderAt?.(request.origin) === true
    const played = isProvider ? this.#providers.answer(request) : undefined
    // Like the keys of issuers, what providers are asked is no part of a passage.
    if (played !== undefined) return played
    const answer = this.#world.answer(request)
    return answer instanceof Promise ? answer.then(note) : note(answer)
  }

  #keyTable(entries: readonly KeyEntry[]) {
    for (const { subscriber, key } of entries)
      if (!this.#keys.has(subscriber.name)) this.#keys.set(subscriber.name, key)
    const declared = createKeyTable(entries)
    return {
      find: (key: string): Subscriber | string | undefined =>
        declared.find(key) ?? this.#world.issued.get(key),
      complete: true,
    }
  }

  #note(): void {
    const noted = (left: LimitLeft) =>
      void this.#current.limits.set(`${left.is} ${left.counter} ${left.key} ${left.periodSeconds}`, left)
    this.#limits.note = noted
    this.#quotas.note = noted
    this.#steps.note = (run) => void this.#current.steps.push(run)
  }
}

const listener: ListenerState = { closing: false, transport: {} }

function withoutContacts({ resources, ...rest }: Provisioned): Provisioned {
  const gone = new Map<string, never>()
  return {
    ...rest,
    resources: {
      ...resources,
      ...{
        backends: gone,
        decisionPoints: gone,
        introspections: gone,
        tokenClients: gone,
        oidcClients: gone,
      },
    },
  }
}

/**
 * Opens a plan in this process, in a world.
 * @throws LoadError when the plan cannot be provisioned
 */
export async function openInProcess(
  plan: Plan,
  world: World,
  options: InProcessOptions,
): Promise<InProcessGateway> {
  const gateway = new InProcessGateway(plan, options)
  await gateway.restart(world)
  return gateway
}
