import { isIP } from "node:net"
import type { Connections, Endpoint } from "../../http/client/connections.ts"
import { Http1Pool } from "../../http/client/http1/pool.ts"
import { Http2Connections } from "../../http/client/http2-connections.ts"
import type { TokenSource } from "../../identity/token-client.ts"
import { canonicalJson } from "../../plan/canonical.ts"
import type { Backend as BackendPlan, BackendRetry } from "../../plan/resources.ts"
import type { BackendHandle, ClientCertificate } from "../../policies/exchange.ts"
import { canonicalPath } from "../../policies/messages/canonical-path.ts"
import { Uploads } from "../exchange/uploads.ts"
import { type Balance, consistentHash, leastOutstanding, roundRobin } from "./balancer.ts"
import { Breaker } from "./breaker.ts"
import { HealthChecks } from "./health-checks.ts"
import { Target, type TargetPlace, type TargetState } from "./target.ts"

/** A backend of the plan with its texts resolved and its files read. */
export interface BackendSettings {
  readonly targets: readonly { readonly url: string; readonly weight: number }[]
  readonly connectMs: number
  readonly totalMs: number | null
  readonly firstByteMs: number | undefined
  readonly idleMs: number | undefined
  /** PEM of the certificate authorities, when not those of the system. */
  readonly ca: string | undefined
  readonly insecure: boolean
  /** Client certificate for TLS. */
  readonly certificate: ClientCertificate | undefined
  /** Credentials for the Authorization field. */
  readonly authorization: { readonly basic: string } | { readonly tokens: TokenSource } | undefined
  /** `h2c`: without TLS, too. */
  readonly http2: boolean | "h2c"
  readonly balance: BackendPlan["balance"]
  readonly health: BackendPlan["health"]
  readonly breaker: BackendPlan["breaker"]
  readonly retry: BackendPlan["retry"]
}

/** A backend without credentials and special settings. */
export const plainBackend: Omit<BackendSettings, "targets" | "connectMs"> = {
  totalMs: null,
  firstByteMs: undefined,
  idleMs: undefined,
  ca: undefined,
  insecure: false,
  certificate: undefined,
  authorization: undefined,
  http2: false,
  balance: undefined,
  health: undefined,
  breaker: undefined,
  retry: undefined,
}

/** Maximum number of connections to one target. Further requests wait: more connections make a service slower, not faster. */
const connectionsMax = 256
/** Less than the idle timeout of common servers (Node: 5 s), so that the gateway closes first. */
const keepAliveMs = 4_000
/** Older connections are not used for new requests, so that DNS changes take effect. */
const connectionAgeMs = 60_000
/** Maximum number of streams on one HTTP/2 connection. */
const streamsMax = 100

/** Retries available before any request has earned one, for short failures after the start. */
const retryReserve = 10

/** A prepared backend. */
export class BackendClient implements BackendHandle {
  readonly name: string
  readonly url: string
  readonly urls: readonly string[]
  readonly settings: BackendSettings
  readonly targets: readonly Target[]
  readonly retry: { readonly plan: BackendRetry; readonly budget: RetryBudget } | undefined
  readonly #pools: SharedPool[]
  readonly #from: Pools
  readonly #withCertificate = new Map<string, Connections>()
  readonly #balance: Balance
  readonly #checks: HealthChecks | undefined

  /**
   * Pools come from `pools`, which shares them with the backends of the current plan.
   * @throws Error for an invalid URL
   */
  constructor(name: string, settings: BackendSettings, pools: Pools) {
    this.name = name
    this.urls = settings.targets.map(({ url }) => url)
    this.url = this.urls[0] ?? ""
    this.settings = settings
    const { breaker, health, retry, balance } = settings
    const taken: SharedPool[] = []
    this.#pools = taken
    this.#from = pools
    try {
      this.targets = settings.targets.map(({ url, weight }) => {
        const place = placeOf(url, name)
        const shared = pools.take(place.origin, place.hostname, settings)
        taken.push(shared)
        return new Target(place, shared, weight, breaker === undefined ? undefined : new Breaker(breaker))
      })
    } catch (error) {
      for (const pool of taken) pool.release()
      throw error
    }
    this.retry =
      retry === undefined ? undefined : { plan: retry, budget: new RetryBudget(retry.budgetPercent) }
    this.#balance =
      balance === "hash" ? consistentHash() : balance === undefined ? roundRobin() : leastOutstanding()
    this.#checks =
      health === undefined
        ? undefined
        : new HealthChecks(health, this.targets, ({ origin, hostname }) =>
            newConnections(origin, hostname, settings, 1),
          )
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
      return only.down || only.breaker?.allows(performance.now()) === false ? undefined : only
    const usable = this.#usable()
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
    const now = performance.now()
    const usable = hasAnswer ? this.targets.filter((target) => target.isWell(now)) : this.#usable()
    const fresh = usable.filter((target) => !tried.has(target))
    const among = fresh.length > 0 ? fresh : usable.filter((target) => tried.get(target) === true)
    return among.length === 0 ? undefined : this.#balance(among, key)
  }

  /** Connections to a target that use the client certificate of one request. */
  connectionsFor(target: Target, certificate: ClientCertificate | undefined): Connections {
    if (certificate === undefined || target.place.servername === undefined) return target.connections
    const { origin, hostname } = target.place
    const key = `${origin} ${certificate.cert}`
    let connections = this.#withCertificate.get(key)
    if (connections === undefined) {
      const shared = this.#from.take(origin, hostname, { ...this.settings, certificate })
      this.#pools.push(shared)
      connections = shared.connections
      this.#withCertificate.set(key, connections)
    }
    return connections
  }

  /** Time until a target is available again, in whole seconds, at least 1. */
  get retryAfterSeconds(): number {
    const now = performance.now()
    const everyMs = this.settings.health?.everyMs ?? 0
    const waits = this.targets.map(({ down, breaker }) => (down ? everyMs : (breaker?.remainingMs(now) ?? 0)))
    return Math.max(1, Math.ceil(Math.min(...waits) / 1000))
  }

  /** No target is available: requests get 503. */
  get isAway(): boolean {
    return this.#usable().length === 0
  }

  states(): readonly TargetState[] {
    const now = performance.now()
    return this.targets.map((target) => target.state(now))
  }

  /** Releases the pools; those without another user close when their requests have ended. */
  release(): void {
    this.#checks?.close()
    for (const pool of this.#pools) pool.release()
  }

  /** Targets that may get a request. If too many breakers are open they are ignored: a bad target is better than none. */
  #usable(): readonly Target[] {
    const { breaker, health } = this.settings
    const up = health === undefined ? this.targets : this.targets.filter(({ down }) => !down)
    if (breaker === undefined) return up
    const now = performance.now()
    const closed = up.filter((target) => target.breaker?.allows(now) === true)
    if (closed.length === up.length) return up
    const { length } = this.targets
    const tooMany = length > 1 && (up.length - closed.length) * 100 > breaker.ejectedMaxPercent * length
    return tooMany ? up : closed
  }
}

/** The endpoint of a connection to a target outside its pool, with the pool's settings. */
export function endpointFor({ place }: Target, settings: BackendSettings): Endpoint {
  return placeOfOrigin(place.origin, place.hostname, settings)
}

interface SharedPool {
  readonly connections: Connections
  readonly uploads: Uploads
  release(): void
}

/** The connections of the process, by address and settings. A new plan that keeps a target keeps its connections. */
export class Pools {
  readonly #entries = new Map<
    string,
    { readonly connections: Connections; readonly uploads: Uploads; holders: number }
  >()

  /** A pool for each origin and its settings, shared by all backends that use it and closed with the last of them. */
  take(origin: string, hostname: string, settings: BackendSettings): SharedPool {
    const { connectMs, ca, insecure, http2, certificate } = settings
    const key = canonicalJson({ origin, connectMs, ca, insecure, http2, certificate })
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      entry = {
        connections: newConnections(origin, hostname, settings, connectionsMax),
        uploads: new Uploads(http2 !== false ? connectionsMax * streamsMax : connectionsMax),
        holders: 0,
      }
      this.#entries.set(key, entry)
    }
    const held = entry
    held.holders += 1
    let released = false
    return {
      connections: held.connections,
      uploads: held.uploads,
      release: () => {
        if (released) return
        released = true
        held.holders -= 1
        if (held.holders > 0) return
        this.#entries.delete(key)
        held.connections.close().catch(() => undefined)
      },
    }
  }

  get size(): number {
    return this.#entries.size
  }

  /** Ends all connections at once. */
  async destroy(): Promise<void> {
    const ended = [...this.#entries.values()].map(({ connections }) =>
      connections.destroy().catch(() => undefined),
    )
    this.#entries.clear()
    await Promise.all(ended)
  }
}

/** The client of connections: HTTP/2 needs one connection for many requests, HTTP/1.1 one for each. */
function newConnections(
  origin: string,
  hostname: string,
  settings: BackendSettings,
  connectionsMax: number,
): Connections {
  const endpoint = placeOfOrigin(origin, hostname, settings)
  const common = { endpoint, connectionsMax, idleMs: keepAliveMs, ageMs: connectionAgeMs }
  const { http2 } = settings
  return http2 !== false
    ? new Http2Connections({ ...common, origin, streamsMax, priorKnowledge: http2 === "h2c" })
    : new Http1Pool({ ...common, authority: new URL(origin).host })
}

/** The endpoint of an origin. SNI has no IP addresses (RFC 6066, section 3). */
function placeOfOrigin(
  origin: string,
  hostname: string,
  { connectMs, ca, insecure, certificate }: BackendSettings,
): Endpoint {
  const { protocol, port } = new URL(origin)
  const isSecure = protocol === "https:"
  const servername = isIP(hostname) === 0 ? hostname : undefined
  return {
    hostname,
    port: port === "" ? (isSecure ? 443 : 80) : Number(port),
    tls: isSecure ? { ca, insecure, certificate, servername } : undefined,
    connectMs,
  }
}

/** Checks the URL of a target: what follows the host is a path only, because query and fragment come from the request. */
function placeOf(url: string, name: string): TargetPlace {
  const wrong = (why: string) => new Error(`backend \`${name}\`: \`${url}\` ${why}`)
  if (!URL.canParse(url)) throw wrong("is not a URL")
  const { protocol, username, password, pathname, search, hash, origin, hostname } = new URL(url)
  if (protocol !== "http:" && protocol !== "https:") throw wrong("is neither http nor https")
  if (username !== "" || password !== "")
    throw new Error(`backend \`${name}\`: a URL must not contain credentials`)
  if (search !== "" || hash !== "") throw wrong("may not have a query or a fragment")
  const basePath = pathname.replace(/\/$/, "")
  if (canonicalPath(basePath === "" ? "/" : basePath) === undefined)
    throw wrong("has a path without a canonical form")
  const bare = hostname.replace(/^\[|\]$/g, "")
  return { origin, hostname: bare, basePath, servername: protocol === "https:" ? bare : undefined }
}

/** Limits retries to a share of the requests, so that they cannot multiply the load on failing backends. */
class RetryBudget {
  readonly #earned: number
  #tokens = retryReserve

  constructor(percent: number) {
    this.#earned = percent / 100
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
