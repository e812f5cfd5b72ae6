import { isIP, type Socket } from "node:net"
import { buildConnector, errors, Pool } from "undici"
import { canonicalJson } from "../plan/canonical.ts"
import { canonicalPath } from "../policies/canonical-path.ts"
import type { BackendHandle } from "../policies/exchange.ts"

/** A backend of the plan with its texts resolved and its files read. */
export interface BackendSettings {
  readonly targets: readonly { readonly url: string; readonly weight: number }[]
  readonly connectMs: number
  readonly totalMs: number | null
  /** PEM of the certificate authorities, when not those of the system. */
  readonly ca: string | undefined
  readonly insecure: boolean
}

/** One address of a backend with its connections. */
export interface Target {
  readonly origin: string
  /** Without a slash at the end. */
  readonly basePath: string
  readonly host: string
  readonly servername: string | undefined
  readonly pool: Pool
  readonly weight: number
  /** Requests given to the pool that have no connection yet. */
  waiting: number
}

/** Connections to one target. More requests than this wait; a browser-facing service is slower with more, not faster. */
const connectionsMax = 256
/** Requests waiting for a connection to one target; beyond it the backend has lost, and waiting makes it worse. */
const waitingMax = 1024
/** Below the idle time of common servers (Node 5 s), so that we close first. */
const keepAliveMs = 4_000
/** An answer without a deadline of its own must begin within this. */
const headersMs = 300_000
const answerHeaderBytesMax = 64 * 1024

/** A backend ready for use. */
export class Backend implements BackendHandle {
  readonly name: string
  readonly totalMs: number | null
  readonly targets: readonly Target[]
  readonly #pools: readonly SharedPool[]
  readonly #current: number[]
  readonly #weightSum: number

  /** Pools are taken from `pools`, which shares them with the backends of the running plan. @throws Error for a URL that is not one. */
  constructor(name: string, settings: BackendSettings, pools: Pools) {
    this.name = name
    this.totalMs = settings.totalMs
    const taken: SharedPool[] = []
    this.#pools = taken
    try {
      this.targets = settings.targets.map(({ url, weight }) => {
        const place = placeOf(url, name)
        const shared = pools.take(place.origin, place.hostname, settings)
        taken.push(shared)
        return { ...place, pool: shared.pool, weight, waiting: 0 }
      })
    } catch (error) {
      for (const pool of taken) pool.release()
      throw error
    }
    this.#current = this.targets.map(() => 0)
    this.#weightSum = this.targets.reduce((sum, { weight }) => sum + weight, 0)
  }

  /** The next target by weight, spread evenly (smooth weighted round-robin: 3:1 gives a a b a, not a a a b). */
  next(): Target {
    const { targets } = this
    if (targets.length === 1) return targets[0] as Target
    let best = 0
    for (let at = 0; at < targets.length; at += 1) {
      const value = (this.#current[at] as number) + (targets[at] as Target).weight
      this.#current[at] = value
      if (value > (this.#current[best] as number)) best = at
    }
    this.#current[best] = (this.#current[best] as number) - this.#weightSum
    return targets[best] as Target
  }

  /** Gives the pools back; those nobody else holds close when their requests have ended. */
  release(): void {
    for (const pool of this.#pools) pool.release()
  }
}

/** Whether one more request would only wait behind too many others. */
export function isOverloaded(target: Target): boolean {
  return target.waiting >= waitingMax
}

interface SharedPool {
  readonly pool: Pool
  release(): void
}

/** The connections of the process, by what they connect to and how. A new plan that keeps a target keeps its connections. */
export class Pools {
  readonly #entries = new Map<string, { readonly pool: Pool; holders: number }>()

  take(origin: string, hostname: string, settings: BackendSettings): SharedPool {
    const { connectMs, ca, insecure } = settings
    const key = canonicalJson({ origin, connectMs, ca, insecure })
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
    pipelining: 1,
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
function connector(hostname: string, { connectMs, ca, insecure }: BackendSettings): buildConnector.connector {
  const servername = isIP(hostname) === 0 ? hostname : undefined
  const open = buildConnector({
    rejectUnauthorized: !insecure,
    ...(ca === undefined ? {} : { ca }),
    minVersion: "TLSv1.2",
    maxCachedSessions: 0,
    timeout: 0,
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

interface Place {
  readonly origin: string
  readonly hostname: string
  readonly basePath: string
  readonly host: string
  readonly servername: string | undefined
}

function placeOf(url: string, name: string): Place {
  const wrong = (why: string) => new Error(`backend \`${name}\`: \`${url}\` ${why}`)
  if (!URL.canParse(url)) throw wrong("is no URL")
  const { protocol, username, password, pathname, search, hash, origin, host, hostname } = new URL(url)
  if (protocol !== "http:" && protocol !== "https:") throw wrong("is neither http nor https")
  if (username !== "" || password !== "")
    throw new Error(`backend \`${name}\`: a URL may not hold credentials`)
  if (search !== "" || hash !== "") throw wrong("may not have a query or a fragment")
  const basePath = pathname.replace(/\/$/, "")
  if (canonicalPath(basePath === "" ? "/" : basePath) === undefined)
    throw wrong("has a path without a canonical form")
  const bare = hostname.replace(/^\[|\]$/g, "")
  return { origin, hostname: bare, basePath, host, servername: protocol === "https:" ? bare : undefined }
}
