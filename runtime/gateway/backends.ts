import { isIP, type Socket } from "node:net"
import { buildConnector, errors, Pool } from "undici"
import type { TokenSource } from "../identity/token-client.ts"
import type { Backend as BackendPlan, BackendRetry } from "../plan/backend.ts"
import { canonicalJson } from "../plan/canonical.ts"
import { canonicalPath } from "../policies/canonical-path.ts"
import type { BackendHandle, ClientCertificate } from "../policies/exchange.ts"
import { AgingClient } from "./aging-client.ts"
import { type Balance, consistentHash, leastOutstanding, roundRobin } from "./balancer.ts"
import { Breaker } from "./breaker.ts"
import { HealthChecks } from "./health-checks.ts"
import { RetryBudget } from "./retry-budget.ts"
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
  /** What we show in TLS. */
  readonly certificate: ClientCertificate | undefined
  /** What we say in Authorization. */
  readonly authorization: { readonly basic: string } | { readonly tokens: TokenSource } | undefined
  readonly http2: boolean
  readonly balance: BackendPlan["balance"]
  readonly health: BackendPlan["health"]
  readonly breaker: BackendPlan["breaker"]
  readonly retry: BackendPlan["retry"]
}

/** A backend that is only asked. */
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

/** Connections to one target. More requests than this wait; a browser-facing service is slower with more, not faster. */
const connectionsMax = 256
/** Below the idle time of common servers (Node 5 s), so that we close first. */
const keepAliveMs = 4_000
/** An answer without a deadline of its own must begin within this. */
const headersMs = 300_000
const answerHeaderBytesMax = 64 * 1024

/** Connections of this age are not used for new requests: a name that means another address by then is looked up again. */
const connectionAgeMs = 60_000
/** Streams of one HTTP/2 connection. */
const streamsMax = 100

/** A backend ready for use. */
export class Backend implements BackendHandle {
  readonly name: string
  readonly url: string
  readonly settings: BackendSettings
  readonly targets: readonly Target[]
  readonly retry: { readonly plan: BackendRetry; readonly budget: RetryBudget } | undefined
  readonly #pools: SharedPool[]
  readonly #from: Pools
  readonly #withCertificate = new Map<string, Pool>()
  readonly #balance: Balance
  readonly #checks: HealthChecks | undefined

  /** Pools are taken from `pools`, which shares them with the backends of the running plan. @throws Error for a URL that is not one. */
  constructor(name: string, settings: BackendSettings, pools: Pools) {
    this.name = name
    this.url = settings.targets[0]?.url ?? ""
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
        return new Target(
          place,
          shared.pool,
          weight,
          breaker === undefined ? undefined : new Breaker(breaker),
        )
      })
    } catch (error) {
      for (const pool of taken) pool.release()
      throw error
    }
    this.retry =
      retry === undefined ? undefined : { plan: retry, budget: new RetryBudget(retry.budgetPercent) }
    this.#balance =
      balance === "hash" ? consistentHash() : balance === undefined ? roundRobin() : leastOutstanding()
    this.#checks = health === undefined ? undefined : new HealthChecks(health, this.targets)
  }

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

  /** The target for the next request, one that was not tried where there is such; undefined when none may be used. `key` is what `hash` goes by. */
  pick(key: string | undefined, tried: ReadonlySet<Target> | undefined): Target | undefined {
    const { targets } = this
    const [only] = targets
    if (targets.length === 1 && only !== undefined)
      return only.down || only.breaker?.allows(performance.now()) === false ? undefined : only
    const usable = this.#usable()
    const fresh = tried === undefined ? usable : usable.filter((target) => !tried.has(target))
    const among = fresh.length > 0 ? fresh : usable
    return among.length === 0 ? undefined : this.#balance(among, key)
  }

  /** Connections to a target that show a certificate of the request's own. */
  poolFor(target: Target, certificate: ClientCertificate | undefined): Pool {
    if (certificate === undefined || target.place.servername === undefined) return target.pool
    const { origin, hostname } = target.place
    const key = `${origin} ${certificate.cert}`
    let pool = this.#withCertificate.get(key)
    if (pool === undefined) {
      const shared = this.#from.take(origin, hostname, { ...this.settings, certificate })
      this.#pools.push(shared)
      pool = shared.pool
      this.#withCertificate.set(key, pool)
    }
    return pool
  }

  /** How long until a target may be used again, in whole seconds, 1 at least. */
  get retryAfterSeconds(): number {
    const now = performance.now()
    const everyMs = this.settings.health?.everyMs ?? 0
    const waits = this.targets.map(({ down, breaker }) => (down ? everyMs : (breaker?.remainingMs(now) ?? 0)))
    return Math.max(1, Math.ceil(Math.min(...waits) / 1000))
  }

  states(): readonly TargetState[] {
    const now = performance.now()
    return this.targets.map((target) => target.state(now))
  }

  /** Gives the pools back; those nobody else holds close when their requests have ended. */
  release(): void {
    this.#checks?.close()
    for (const pool of this.#pools) pool.release()
  }

  #usable(): readonly Target[] {
    const { breaker, health } = this.settings
    const up = health === undefined ? this.targets : this.targets.filter(({ down }) => !down)
    if (breaker === undefined) return up
    const now = performance.now()
    const closed = up.filter((target) => target.breaker?.allows(now) === true)
    if (closed.length === up.length) return up
    const tooMany = (up.length - closed.length) * 100 > breaker.ejectedMaxPercent * this.targets.length
    return tooMany ? up : closed
  }
}

/** Opens a connection to a target outside of its pool, as its pool would. */
export function connectTo(
  { place }: Target,
  settings: BackendSettings,
  done: (error: Error | null, socket: Socket | null) => void,
): void {
  const { protocol, port } = new URL(place.origin)
  const open = connector(place.hostname, { ...settings, http2: false })
  const defaultPort = protocol === "https:" ? "443" : "80"
  open({ hostname: place.hostname, protocol, port: port === "" ? defaultPort : port }, (error, socket) =>
    done(error, socket as Socket | null),
  )
}

interface SharedPool {
  readonly pool: Pool
  release(): void
}

/** The connections of the process, by what they connect to and how. A new plan that keeps a target keeps its connections. */
export class Pools {
  readonly #entries = new Map<string, { readonly pool: Pool; holders: number }>()

  take(origin: string, hostname: string, settings: BackendSettings): SharedPool {
    const { connectMs, ca, insecure, http2, certificate } = settings
    const key = canonicalJson({ origin, connectMs, ca, insecure, http2, certificate })
    let entry = this.#entries.get(key)
    if (entry === undefined) {
      entry = { pool: newPool(origin, hostname, settings), holders: 0 }
      this.#entries.set(key, entry)
    }
    const held = entry
    held.holders += 1
    let released = false
    return {
      pool: held.pool,
      release: () => {
        if (released) return
        released = true
        held.holders -= 1
        if (held.holders > 0) return
        this.#entries.delete(key)
        held.pool.close().catch(() => undefined)
      },
    }
  }

  get size(): number {
    return this.#entries.size
  }

  /** Ends all connections at once. */
  async destroy(): Promise<void> {
    const pools = [...this.#entries.values()].map(({ pool }) => pool.destroy().catch(() => undefined))
    this.#entries.clear()
    await Promise.all(pools)
  }
}

function newPool(origin: string, hostname: string, settings: BackendSettings): Pool {
  return new Pool(origin, {
    connections: connectionsMax,
    clientTtl: connectionAgeMs,
    factory: (url, options) => new AgingClient(url, { ...options, ageMs: connectionAgeMs }),
    // Without `pipelining` undici sends one request at a time over HTTP/1.1 and many over HTTP/2.
    ...(settings.http2 ? { allowH2: true, maxConcurrentStreams: streamsMax } : { pipelining: 1 }),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    headersTimeout: headersMs,
    bodyTimeout: 0,
    maxHeaderSize: answerHeaderBytesMax,
    connect: connector(hostname, settings),
  })
}

/**
 * Opens connections: certificates are verified unless the plan says `insecure`, and always against the name in the plan, never against a Host
 * that a client sent. The time-out is exact; undici's own ticks in seconds. Sessions are not resumed: resumption skips the name check.
 */
function connector(
  hostname: string,
  { connectMs, ca, insecure, http2, certificate }: BackendSettings,
): buildConnector.connector {
  const servername = isIP(hostname) === 0 ? hostname : undefined
  const open = buildConnector({
    rejectUnauthorized: !insecure,
    ...(ca === undefined ? {} : { ca }),
    ...certificate,
    minVersion: "TLSv1.2",
    maxCachedSessions: 0,
    timeout: 0,
    allowH2: http2,
  })
  return (options, callback) => {
    const { servername: _fromTheRequest, host: _itsHost, ...rest } = options
    let timer: NodeJS.Timeout | undefined
    // `connect` returns the socket, which its type does not say.
    const socket = open(
      { ...rest, ...(servername === undefined ? {} : { servername }) } as typeof options,
      (...result) => {
        clearTimeout(timer)
        callback(...result)
      },
    ) as unknown as Socket
    // Before undici's own listener: what it hands to the request then knows whether this connection had answered before.
    socket.once("error", (error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }))
    timer = setTimeout(
      () => socket.destroy(new errors.ConnectTimeoutError(`no connection in ${connectMs} ms`)),
      connectMs,
    )
  }
}

function placeOf(url: string, name: string): TargetPlace {
  const wrong = (why: string) => new Error(`backend \`${name}\`: \`${url}\` ${why}`)
  if (!URL.canParse(url)) throw wrong("is no URL")
  const { protocol, username, password, pathname, search, hash, origin, hostname } = new URL(url)
  if (protocol !== "http:" && protocol !== "https:") throw wrong("is neither http nor https")
  if (username !== "" || password !== "")
    throw new Error(`backend \`${name}\`: a URL may not hold credentials`)
  if (search !== "" || hash !== "") throw wrong("may not have a query or a fragment")
  const basePath = pathname.replace(/\/$/, "")
  if (canonicalPath(basePath === "" ? "/" : basePath) === undefined)
    throw wrong("has a path without a canonical form")
  const bare = hostname.replace(/^\[|\]$/g, "")
  return { origin, hostname: bare, basePath, servername: protocol === "https:" ? bare : undefined }
}
