import type { Cluster, Redis } from "ioredis"
import { type RedisAddress, redisName } from "./redis-url.ts"

/** What a connection needs. `waitMs`: longest time for a reply; after it the process continues without Redis. */
export interface RedisSettings {
  readonly address: RedisAddress
  readonly ca: string | undefined
  readonly insecure: boolean
  readonly waitMs: number
  /** Reports that Redis became unavailable, with the reason, or available again. */
  readonly onChange?: (away: string | undefined) => void
}

/** A script on the server. Its only key is that of the call: so it runs on any node of a cluster. */
export interface RedisScript {
  readonly text: string
  readonly sha: string
}

const probeEveryMs = 500
/** The probe does not find that a right is missing, so that each success would be followed by a failed call. */
const afterMissingRightMs = 30_000
const reconnectMsMax = 1000
const connectMs = 2000
/** Keys that a probe of a cluster writes: so many that they are on all nodes of a small cluster. */
const clusterProbeKeys = 16

/**
 * One connection to Redis or Valkey, with a breaker: after the first failure all calls fail at once, until a probe has succeeded. The probe writes, so that
 * a replica or a full server does not pass as available.
 */
export class RedisConnection {
  readonly name: string
  readonly isCluster: boolean
  readonly #settings: RedisSettings
  readonly #probeKeys: readonly string[]
  #client: Redis | Cluster | undefined
  #away: string | undefined = "it is not connected yet"
  #lastError: string | undefined
  #probe: NodeJS.Timeout | undefined
  #closed = false

  /** `prefix`: of the keys that the probe writes. */
  constructor(settings: RedisSettings, prefix: string) {
    this.#settings = settings
    this.name = redisName(settings.address)
    this.isCluster = settings.address.kind === "cluster"
    const number = this.isCluster ? clusterProbeKeys : 1
    this.#probeKeys = Array.from({ length: number }, (_, index) => `${prefix}probe/${index}`)
    void this.#open()
  }

  /** Why Redis is unavailable; undefined: it is available. */
  get away(): string | undefined {
    return this.#away
  }

  /**
   * The client.
   * @throws Error while Redis is unavailable
   */
  get client(): Redis | Cluster {
    if (this.#away !== undefined || this.#client === undefined) throw new Error(this.#away ?? "closed")
    return this.#client
  }

  /**
   * Runs a command, and at the first failure or after `waitMs` opens the breaker.
   * @throws Error with the reason in words; the command may have been carried out
   */
  async run<T>(command: (client: Redis | Cluster) => Promise<T>): Promise<T> {
    try {
      return await withinMs(command(this.client), this.#settings.waitMs)
    } catch (error) {
      const reason = redisReason(error, this.#lastError)
      this.#fail(reason, missingRight(messageOf(error)) === undefined ? probeEveryMs : afterMissingRightMs)
      throw new Error(reason)
    }
  }

  /** Runs a script by its digest, and loads it when the server does not know it (after a restart, or on another node). */
  async script(
    client: Redis | Cluster,
    script: RedisScript,
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ): Promise<unknown> {
    try {
      return await client.evalsha(script.sha, keys.length, ...keys, ...args)
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error
      return client.eval(script.text, keys.length, ...keys, ...args)
    }
  }

  /** Opens the breaker. */
  #fail(reason: string, probeAfterMs: number): void {
    if (this.#away !== undefined || this.#closed) return
    this.#away = reason
    this.#settings.onChange?.(reason)
    this.#probeLater(probeAfterMs)
  }

  close(): void {
    this.#closed = true
    this.#away = "the connection is closed"
    clearTimeout(this.#probe)
    this.#client?.disconnect()
  }

  async #open(): Promise<void> {
    // Bundled, the CommonJS package has its names only in the default export.
    const loaded = await import("ioredis")
    const { Cluster, Redis } = loaded.default as unknown as Pick<typeof loaded, "Cluster" | "Redis">
    if (this.#closed) return
    const { address } = this.#settings
    this.#client =
      address.kind === "cluster"
        ? new Cluster([...address.nodes], clusterOptions(this.#settings))
        : new Redis({ ...nodeOptions(this.#settings), ...placeOf(this.#settings) })
    const note = (error: unknown) => {
      this.#lastError = redisReason(error, this.#lastError)
    }
    this.#client.on("error", note)
    if (address.kind === "cluster") this.#client.on("node error", note)
    if (address.kind === "sentinel") this.#watchSentinels(this.#client as Redis)
    this.#client.on("ready", () => {
      if (this.#away !== undefined) void this.#probeNow()
    })
    // Without calls nothing else would find that the server is gone. One that only closes idle connections is back before the probe.
    this.#client.on("close", () => {
      if (this.#probe === undefined) this.#probeLater(probeEveryMs)
    })
    this.#probeLater(probeEveryMs)
  }

  /** Sentinels often have no password although Redis has one, so it is sent only to those that require it. */
  #watchSentinels(client: Redis): void {
    const { username, password, group } = this.#settings.address
    const { options } = client
    client.on("sentinelError", ({ message }: Error) => {
      if (message.includes("NOAUTH") && password !== undefined && options.sentinelPassword === undefined)
        Object.assign(options, { sentinelUsername: username, sentinelPassword: password })
      else if (message.includes("No such master"))
        this.#lastError = `the Sentinels know no group \`${group}\`; check the URL of Redis`
      else
        this.#lastError = `Sentinel: ${redisReason(new Error(message.replace(/^.*? because /, "")), undefined)}`
    })
  }

  #probeLater(afterMs: number): void {
    if (this.#closed) return
    clearTimeout(this.#probe)
    this.#probe = setTimeout(() => {
      this.#probe = undefined
      void this.#probeNow()
    }, afterMs)
    this.#probe.unref()
  }

  async #probeNow(): Promise<void> {
    const client = this.#client
    if (client === undefined || this.#closed) return
    try {
      await withinMs(
        Promise.all(this.#probeKeys.map((key) => client.set(key, "1", "PX", 60_000))),
        Math.max(probeEveryMs, this.#settings.waitMs),
      )
      if (this.#closed) return
      const wasAway = this.#away !== undefined
      this.#away = undefined
      this.#lastError = undefined
      if (wasAway) this.#settings.onChange?.(undefined)
    } catch (error) {
      // The server may be gone without closing its connections, and after a failover another one has taken its place.
      if (error instanceof NoReply && !this.#closed) client.disconnect(true)
      const reason = redisReason(error, this.#lastError)
      if (this.#away !== reason && !this.#closed) {
        this.#away = reason
        this.#settings.onChange?.(reason)
      }
      this.#probeLater(probeEveryMs)
    }
  }
}

function tlsOf({ address, ca, insecure }: RedisSettings) {
  return address.tls ? { ...(ca === undefined ? {} : { ca }), rejectUnauthorized: !insecure } : undefined
}

/** How every node is used. */
function nodeOptions(settings: RedisSettings) {
  const { username, password } = settings.address
  const tls = tlsOf(settings)
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
    // The commands used here have the same replies in both; proxies and older servers know only 2.
    protocol: 2 as const,
    // A repeated command would be counted twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectMs,
    disableClientInfo: true,
    connectionName: "sallyport",
    // The probe tells whether the server works, without the right to call INFO.
    enableReadyCheck: false,
    // The address may lead to another server after a failover.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  }
}

/** Where to find the server, outside of a cluster. */
function placeOf(settings: RedisSettings) {
  const { kind, nodes, group, db } = settings.address
  const tls = tlsOf(settings)
  const [first] = nodes
  return {
    ...(kind === "sentinel"
      ? {
          ...{ sentinels: [...nodes], name: group as string },
          ...(tls === undefined ? {} : { sentinelTLS: tls, enableTLSForSentinelMode: true }),
        }
      : { host: first?.host as string, port: first?.port as number }),
    db,
    // A queued command would be counted after its request has ended.
    enableOfflineQueue: false,
    retryStrategy: backOff,
  }
}

function clusterOptions(settings: RedisSettings) {
  return {
    redisOptions: nodeOptions(settings),
    enableOfflineQueue: false,
    enableReadyCheck: false,
    // A certificate is valid for the name, not for the address behind it.
    dnsLookup: (name: string, found: (error: null, address: string) => void) => found(null, name),
    clusterRetryStrategy: backOff,
    slotsRefreshTimeout: connectMs,
    // Moved slots are followed; a node that is gone fails the call, and the breaker opens.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    maxRedirections: 4,
  }
}

function backOff(times: number): number {
  return Math.min(reconnectMsMax, times * 100)
}

/** No reply in time. */
class NoReply extends Error {}

async function withinMs<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  try {
    return await Promise.race([
      work,
      new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new NoReply(`it did not reply within ${ms} ms`)), ms)
      }),
    ])
  } finally {
    clearTimeout(timer)
    // The loser of the race may still fail.
    work.catch(() => undefined)
  }
}

/** What Redis' own error codes mean for the operator. */
const meanings: Readonly<Record<string, string>> = {
  WRONGPASS: "it refuses the user or password; check the URL of Redis",
  NOAUTH: "it requires a password; add it to the URL of Redis",
  READONLY: "it is a replica that takes no writes",
  OOM: "its memory is full; raise `maxmemory` or set another `maxmemory-policy`",
  LOADING: "it is loading its data",
  MASTERDOWN: "it is a replica without its primary",
  CLUSTERDOWN: "the cluster is down",
  MISCONF: "it takes no writes, because it cannot save to its disk",
  MOVED: "it is a node of a cluster; write `redis+cluster://` in the URL of Redis",
  CROSSSLOT: "it is a cluster; write `redis+cluster://` in the URL of Redis",
}

/** Words for an error of the client. `last`: the last error of the connection, which says more than the failure of a command. */
function redisReason(error: unknown, last: string | undefined): string {
  const message = messageOf(error)
  const right = missingRight(message)
  if (right !== undefined) return right
  const code = /^(?:-)?([A-Z]+)\b/.exec(message)?.[1] ?? ""
  const meaning = meanings[code]
  if (meaning !== undefined) return `${meaning} (${code})`
  const hidden =
    /enableOfflineQueue|max retries per request|Connection is closed|All sentinels|Failed to refresh slots|None of startup/i
  if (hidden.test(message)) return last ?? "it cannot be reached"
  return message
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What the user of the connection may not do, for an error that says so: of a command, or of one in a script by Redis 7.0, or by later ones and Valkey. */
function missingRight(message: string): string | undefined {
  if (!/^NOPERM|^ERR (The user executing the script can't|ACL failure in script)/.test(message))
    return undefined
  const command = /the '([^']+)' command/.exec(message)?.[1]
  const what = /\bkeys?\b/.test(message)
    ? "use a key"
    : `run ${command === undefined ? "a command of a script" : `\`${command}\``}`
  const help = 'allow the commands that the manual lists in "Shared limits", on the keys `sallyport/*`'
  return `the user may not ${what}; ${help} (NOPERM)`
}
