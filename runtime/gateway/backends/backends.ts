import type { HeldDiscovery } from "../../discovery/discoveries.ts"
import type { DiscoveryState } from "../../discovery/discovery.ts"
import type { Connections } from "../../http/client/connections.ts"
import { shownUrl } from "../../http/client/shown-url.ts"
import type { OpeningWebSocket, UpgradeReceiver, UpgradeRequest } from "../../http/client/web-socket.ts"
import type { BackendRetry } from "../../plan/resources.ts"
import type { BackendHandle, ClientCertificate } from "../../policies/exchange.ts"
import { canonicalPath } from "../../policies/messages/canonical-path.ts"
import type { BackendSettings } from "./backend-settings.ts"
import { type Balance, consistentHash, leastOutstanding, roundRobin } from "./balancer.ts"
import { HealthChecks } from "./health-checks.ts"
import type { Pools, SharedPool } from "./pools.ts"
import type { Target, TargetPlace, TargetState } from "./target.ts"
import { TargetSet } from "./target-set.ts"

/** Retries available before any request has earned one, for short failures after the start. */
const retryReserve = 10

/** A prepared backend. */
export class BackendClient implements BackendHandle {
  readonly name: string
  readonly url: string
  readonly urls: readonly string[]
  readonly settings: BackendSettings
  readonly retry: { readonly plan: BackendRetry; readonly budget: RetryBudget } | undefined
  readonly #set: TargetSet
  readonly #discovered: HeldDiscovery | undefined
  #unfollow: (() => void) | undefined
  readonly #pools: Pools
  readonly #withCertificate = new Map<string, SharedPool>()
  #balance: Balance

  /**
   * Pools come from `pools`, which shares them with the backends of the current plan.
   * @throws Error for an invalid URL
   */
  constructor(name: string, settings: BackendSettings, pools: Pools) {
    this.name = name
    this.urls = settings.targets.map(({ url }) => url)
    this.url = this.urls[0] ?? ""
    this.settings = settings
    const { health, retry, discovery } = settings
    this.#pools = pools
    this.#set = new TargetSet(settings, pools)
    const places = settings.targets.map(({ url, weight }) => ({ place: placeOf(url, name), weight }))
    const [first] = places
    this.#discovered = discovery === undefined ? undefined : pools.discoveries?.take(discovery)
    if (this.#discovered === undefined) for (const { place, weight } of places) this.#set.add(place, weight)
    this.retry =
      retry === undefined ? undefined : { plan: retry, budget: new RetryBudget(retry.budgetPercent) }
    this.#balance = this.#newBalance()
    if (health !== undefined)
      this.#set.check(
        new HealthChecks(health, this.targets, (place) => pools.connections(place, settings, 1)),
      )
    if (this.#discovered !== undefined && first !== undefined) this.#follow(this.#discovered, first.place)
  }

  get targets(): readonly Target[] {
    return this.#set.targets
  }

  /** Forgets what earlier requests showed of its targets, and whose turn it is. */
  reset(): void {
    for (const { breaker } of this.targets) breaker?.reset()
    this.retry?.budget.reset()
    this.#balance = this.#newBalance()
  }

  #newBalance(): Balance {
    const { balance } = this.settings
    if (balance === undefined) return roundRobin()
    return balance === "hash" ? consistentHash() : leastOutstanding(this.#pools.clock.random)
  }

  /** The state of what finds its targets; undefined: they are in the plan. */
  get discovery(): DiscoveryState | undefined {
    return this.#discovered?.discovery.state()
  }

  /** Resolves when its targets are known, or cannot be found at first. */
  get ready(): Promise<void> | undefined {
    return this.#discovered?.discovery.reported
  }

  /** The credentials of the gateway at this backend. A token may have to be fetched first. */
  async credentials(): Promise<{
    readonly authorization: string | undefined
    readonly certificate: ClientCertificate | undefined
  }> {
    const { authorization, certificate } = this.settings
    if (authorization === undefined) return { authorization: undefined, certificate }
    const value =
      "basic" in authorization ? authorization.basic : `Bearer ${await authorization.tokens.token()}`
    return { authorization: value, certificate }
  }

  /** The target for a request; undefined when none is available. `key`: the key of `balance hash`. */
  pick(key: string | undefined): Target | undefined {
    const { targets } = this
    const [only] = targets
    if (targets.length === 1 && only !== undefined)
      return only.down || only.breaker?.allows(this.#pools.clock.monotonic()) === false ? undefined : only
    const usable = this.#set.best(this.#usable())
    return usable.length === 0 ? undefined : this.#balance(usable, key)
  }

  /**
   * Another target for the same request: an untried one, otherwise one that responded. `tried`: the request's targets so far, and whether they
   * responded. `hasAnswer`: there is a response that would be given up; then only healthy targets count. Undefined when there is none.
   */
  pickOther(
    key: string | undefined,
    tried: ReadonlyMap<Target, boolean>,
    hasAnswer: boolean,
  ): Target | undefined {
    const now = this.#pools.clock.monotonic()
    const usable = hasAnswer ? this.targets.filter((target) => target.isWell(now)) : this.#usable()
    const fresh = usable.filter((target) => !tried.has(target))
    const among = this.#set.best(
      fresh.length > 0 ? fresh : usable.filter((target) => tried.get(target) === true),
    )
    return among.length === 0 ? undefined : this.#balance(among, key)
  }

  /** Connections to a target that use the client certificate of one request. */
  connectionsFor(target: Target, certificate: ClientCertificate | undefined): Connections {
    if (certificate === undefined || target.place.servername === undefined) return target.connections
    const key = `${target.place.origin} ${certificate.cert}`
    let shared = this.#withCertificate.get(key)
    if (shared === undefined) {
      shared = this.#pools.take(target.place, { ...this.settings, certificate })
      this.#withCertificate.set(key, shared)
    }
    return shared.connections
  }

  /** Requests a WebSocket from a target: on a connection outside its pool, with the pool's settings. */
  openWebSocket(
    { place }: Target,
    certificate: ClientCertificate | undefined,
    request: UpgradeRequest,
    receiver: UpgradeReceiver,
  ): OpeningWebSocket {
    const settings = { ...this.settings, certificate: certificate ?? this.settings.certificate }
    return this.#pools.openWebSocket(place, settings, request, receiver)
  }

  /** Time until a target is available again, in whole seconds, at least 1. */
  get retryAfterSeconds(): number {
    const now = this.#pools.clock.monotonic()
    const everyMs = this.settings.health?.everyMs ?? 0
    const waits = this.targets.map(({ down, breaker }) => (down ? everyMs : (breaker?.remainingMs(now) ?? 0)))
    if (waits.length === 0) return 1
    return Math.max(1, Math.ceil(Math.min(...waits) / 1000))
  }

  /** No target is available: requests get 503. */
  get isAway(): boolean {
    return this.#usable().length === 0
  }

  /** Why no target is available. */
  get awayReason(): string {
    const { name, discovery } = this
    if (this.targets.length > 0 || discovery === undefined)
      return `no target of backend \`${name}\` is healthy`
    const { failure, source, targets } = discovery
    const why =
      failure ?? (targets === 0 ? `\`${source}\` has no ready target` : "the first answer is awaited")
    return `no target of backend \`${name}\` is known: ${why}`
  }

  states(): readonly TargetState[] {
    const now = this.#pools.clock.monotonic()
    return this.targets.map((target) => target.state(now))
  }

  /** Releases the pools; those without another user close when their requests have ended. */
  release(): void {
    this.#unfollow?.()
    this.#discovered?.release()
    this.#set.release()
    for (const pool of this.#withCertificate.values()) pool.release()
  }

  /** Keeps the targets equal to what is found. */
  #follow({ discovery }: HeldDiscovery, url: TargetPlace): void {
    if (discovery.targets !== undefined) this.#set.replace(url, discovery.targets)
    this.#unfollow = discovery.subscribe((found) => {
      this.#set.replace(url, found)
      this.#forgetCertificates()
    })
  }

  /** Releases connections with the client certificates of requests to targets that are gone. */
  #forgetCertificates(): void {
    const origins = new Set(this.targets.map(({ place }) => place.origin))
    for (const [key, pool] of this.#withCertificate) {
      if (origins.has(key.slice(0, key.indexOf(" ")))) continue
      this.#withCertificate.delete(key)
      pool.release()
    }
  }

  /** Targets that may get a request. If too many breakers are open they are ignored: a bad target is better than none. */
  #usable(): readonly Target[] {
    const { breaker, health } = this.settings
    const up = health === undefined ? this.targets : this.targets.filter(({ down }) => !down)
    if (breaker === undefined) return up
    const now = this.#pools.clock.monotonic()
    const closed = up.filter((target) => target.breaker?.allows(now) === true)
    if (closed.length === up.length) return up
    const { length } = this.targets
    const tooMany = length > 1 && (up.length - closed.length) * 100 > breaker.ejectedMaxPercent * length
    return tooMany ? up : closed
  }
}

/** Checks the URL of a target: what follows the host is a path only, because query and fragment come from the request. */
function placeOf(url: string, name: string): TargetPlace {
  const wrong = (why: string) => new Error(`backend \`${name}\`: \`${shownUrl(url)}\` ${why}`)
  if (!URL.canParse(url)) throw wrong("is not a URL")
  const { protocol, username, password, pathname, search, hash, origin, host, hostname } = new URL(url)
  if (protocol !== "http:" && protocol !== "https:") throw wrong("is neither http nor https")
  if (username !== "" || password !== "")
    throw new Error(`backend \`${name}\`: a URL must not contain credentials`)
  if (search !== "" || hash !== "") throw wrong("may not have a query or a fragment")
  const basePath = pathname.replace(/\/$/, "")
  if (canonicalPath(basePath === "" ? "/" : basePath) === undefined)
    throw wrong("has a path without a canonical form")
  const bare = hostname.replace(/^\[|\]$/g, "")
  const servername = protocol === "https:" ? bare : undefined
  return { origin, hostname: bare, basePath, servername, authority: host }
}

/** Limits retries to a share of the requests, so that they cannot multiply the load on failing backends. */
class RetryBudget {
  readonly #earned: number
  #tokens = retryReserve

  constructor(percent: number) {
    this.#earned = percent / 100
  }

  reset(): void {
    this.#tokens = retryReserve
  }

  /** Counts a request that is sent for the first time. */
  request(): void {
    this.#tokens = Math.min(retryReserve, this.#tokens + this.#earned)
  }

  /** Takes one retry from the budget; false when it is empty. */
  take(): boolean {
    if (this.#tokens < 1) return false
    this.#tokens -= 1
    return true
  }
}
