import type { Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Client, type ClientConfig } from "pg"
import { hostName, type ServerAddress, type ServerTarget } from "./connection-url.ts"
import { describeFault, explainPooler, isServerReply, ReadOnlyServer } from "./fault.ts"
import type { PasswordSource } from "./password-source.ts"
import { type Encryption, openSocket, TlsFault } from "./server-socket.ts"

/** All optional. */
export interface DialOptions {
  readonly signal?: AbortSignal | undefined
  /** Called for each reply of a server on the way. */
  readonly onSign?: (() => void) | undefined
  /** Settings of node-postgres for this connection. */
  readonly config?: ClientConfig | undefined
}

/** Far below the time after which a probe without a sign means that the server is down. */
const signMs = 100
/** SQLSTATE of a password that is wrong. */
const wrongPassword = "28P01"
/** SQLSTATE of a connection that pg_hba.conf does not allow, for example because it is (not) encrypted. */
const notAllowed = "28000"

/** The first eight digits are the timeline; unlike that of the last checkpoint, it changes at once with a promotion. */
const selectTimeline = "select left(pg_walfile_name(pg_current_wal_lsn()), 8)"

interface DialerOptions {
  readonly target: ServerTarget
  /** The hosts are poolers: what they report at the start of a connection may be old, and they answer when the server behind is away. */
  readonly pooled: boolean
  /** Settings of all connections. */
  readonly config: ClientConfig
  readonly password: PasswordSource
  /** The attempts found another server than the one in use: its connections are out of date. */
  readonly onMoved: () => void
}

/** A connection to a server that fits. */
interface Found {
  readonly client: Client
  readonly address: ServerAddress
  /** Timeline of its history, raised by each promotion of a standby; 0 when there is one host, or the server does not tell. */
  readonly timeline: number
}

/**
 * How long the other hosts may take after the first one that fits. At first longer, because the first one may be a primary of before that came back, and
 * only the others can show it: a process that knows the timeline of the newest primary refuses it anyway.
 */
const othersMs = { first: 1_000, later: 100 }

/**
 * Connects to the server of the URL that accepts writes (`target_session_attrs`). With several hosts it dials all at once, and stays with
 * the one it chose until a probe chooses another one. When two accept writes, the one that was promoted last is the primary; the other one
 * was the primary before, and came back without having been told.
 */
export class ServerDialer {
  readonly #options: DialerOptions
  #current: ServerAddress | undefined
  #timeline = 0

  constructor(options: DialerOptions) {
    this.#options = options
  }

  /** The server in use, for messages; undefined before the first connection. */
  get server(): string | undefined {
    return this.#current === undefined ? undefined : hostName(this.#current)
  }

  /** A connection for statements. */
  async connect(options: DialOptions = {}): Promise<Client> {
    const { target } = this.#options
    if (target.balanced) return this.#inTurn(shuffled(target.hosts), options)
    if (this.#current !== undefined) return (await this.#dial(this.#current, options)).client
    return (await this.#race(options)).client
  }

  /**
   * Finds out whether a server that fits is there, by a connection of its own to each host. A refusal of the server in use (too many
   * connections, wrong password) proves that it is alive.
   */
  async probe(signal: AbortSignal, onSign: () => void): Promise<void> {
    try {
      const { client, address } = await this.#race({ signal, onSign })
      closeClient(client)
      if (this.#options.target.balanced || signal.aborted) return
      const previous = this.#current
      this.#current = address
      if (previous !== undefined && previous !== address) this.#options.onMoved()
    } catch (error) {
      const errors = error instanceof NoServer ? error.errors : [error]
      const { hosts } = this.#options.target
      const at = this.#current === undefined ? 0 : hosts.indexOf(this.#current)
      if (!isServerReply(errors[at])) throw error
    }
  }

  /** One after the other until one fits. */
  async #inTurn(hosts: readonly ServerAddress[], options: DialOptions): Promise<Client> {
    const errors: unknown[] = []
    for (const address of hosts) {
      try {
        return (await this.#dial(address, options)).client
      } catch (error) {
        errors.push(error)
      }
    }
    throw noServer(hosts, errors)
  }

  /** All at once; the connections that lose are closed. */
  async #race(options: DialOptions): Promise<Found> {
    const { hosts } = this.#options.target
    const over = new AbortController()
    const signal = options.signal === undefined ? over.signal : AbortSignal.any([options.signal, over.signal])
    const found: Found[] = []
    const attempts = hosts.map(async (address) =>
      found.push(await this.#dial(address, { ...options, signal })),
    )
    try {
      await Promise.any(attempts)
      if (hosts.length > 1) await this.#othersOf(attempts, options)
    } catch (error) {
      throw noServer(hosts, (error as AggregateError).errors)
    } finally {
      over.abort()
    }
    const [best, ...others] = found.sort((one, other) => other.timeline - one.timeline) as [Found, ...Found[]]
    for (const { client } of others) closeClient(client)
    this.#timeline = Math.max(this.#timeline, best.timeline)
    this.#current ??= best.address
    return best
  }

  /** Waits for the hosts that have not answered. One has, which is a sign of life. */
  async #othersOf(
    attempts: readonly Promise<unknown>[],
    { onSign = () => undefined }: DialOptions,
  ): Promise<void> {
    const ms = this.#current === undefined ? othersMs.first : othersMs.later
    const signs = setInterval(onSign, signMs)
    // Without `ref`, a command that is done does not wait for it.
    await Promise.race([Promise.allSettled(attempts), sleep(ms, undefined, { ref: false })])
    clearInterval(signs)
  }

  /** A password that was rotated is refused once. */
  async #dial(address: ServerAddress, options: DialOptions): Promise<Found> {
    try {
      return await this.#dialEncrypted(address, options)
    } catch (error) {
      if ((error as { code?: unknown }).code !== wrongPassword || !this.#options.password.refused())
        throw error
      return this.#dialEncrypted(address, options)
    }
  }

  /** With libpq's `allow` and `prefer`, the other way is tried when the server refuses the first one. */
  async #dialEncrypted(address: ServerAddress, options: DialOptions): Promise<Found> {
    const [first, second] = encryptionsOf(this.#options.target)
    try {
      return await this.#attempt(address, first, options)
    } catch (error) {
      const isRefused = error instanceof TlsFault || (error as { code?: unknown }).code === notAllowed
      if (second === undefined || !isRefused || options.signal?.aborted) throw error
      return this.#attempt(address, second, options)
    }
  }

  async #attempt(address: ServerAddress, encryption: Encryption, options: DialOptions): Promise<Found> {
    const { target, config } = this.#options
    const { onSign = () => undefined } = options
    const late = target.connectTimeoutMs === undefined ? [] : [AbortSignal.timeout(target.connectTimeoutMs)]
    const signal = AbortSignal.any([...late, ...(options.signal === undefined ? [] : [options.signal])])
    signal.throwIfAborted()
    const { tls, keepAliveMs } = target
    const socket = await openSocket(address, { encryption, tls, keepAliveMs, signal, onSign })
    const abort = () => socket.destroy()
    signal.addEventListener("abort", abort)
    socket.on("data", onSign)
    const client = new Client({
      ...{ user: target.user, database: target.database, options: target.options ?? "" },
      ...{ enableChannelBinding: target.channelBinding, application_name: target.applicationName },
      ...{ ...config, ...options.config },
      // The socket is connected, and encrypted: node-postgres is not to do it again, nor to read libpq's variables.
      ...{ stream: () => connected(socket), ssl: false, sslnegotiation: "postgres" },
      password: () => this.#password(onSign),
    } as ClientConfig)
    client.on("error", () => undefined)
    try {
      const reports = readOnlyReports(client)
      await client.connect()
      await this.#demandRole(client, address, reports())
      return { client, address, timeline: await this.#demandTimeline(client, address) }
    } catch (error) {
      socket.destroy()
      throw explainPooler(error)
    } finally {
      signal.removeEventListener("abort", abort)
      socket.removeListener("data", onSign)
    }
  }

  /** The server has asked and waits for us: a command that takes a second must not make it look silent. */
  async #password(onSign: () => void): Promise<string> {
    const waiting = setInterval(onSign, signMs)
    const password = await this.#options.password.read().finally(() => clearInterval(waiting))
    if (password !== undefined) return password
    throw new Error(
      "the server asks for a password, and none is set: write it into the URL, or set SALLYPORT_DATABASE_PASSWORD_FILE",
    )
  }

  async #demandTimeline(client: Client, address: ServerAddress): Promise<number> {
    const { hosts, balanced } = this.#options.target
    if (hosts.length === 1 || balanced) return 0
    const timeline = await timelineOf(client)
    if (timeline === 0 || timeline >= this.#timeline) return timeline
    throw new Error(
      `${hostName(address)} was the primary before the last failover (timeline ${timeline}, now ${this.#timeline})`,
    )
  }

  /** Servers before PostgreSQL 14, and poolers, do not report it by themselves: ask. */
  async #demandRole(client: Client, address: ServerAddress, reported: ReadOnlyReport): Promise<void> {
    const { pooled, target } = this.#options
    const { sessionAttributes } = target
    if (sessionAttributes === "standby") return demandStandby(client, address)
    if (sessionAttributes === "any" && !pooled) return
    if (!pooled && reported.standby) throw new ReadOnlyServer(hostName(address), "it is a standby")
    if (!pooled && sessionAttributes === "read-write" && reported.byDefault)
      throw new ReadOnlyServer(hostName(address), "its default_transaction_read_only is on")
    if (!pooled && reported.isComplete) return
    const text =
      sessionAttributes === "primary"
        ? "select case when pg_catalog.pg_is_in_recovery() then 'on' else 'off' end"
        : "show transaction_read_only"
    const { rows } = await client.query<string[]>({ text, rowMode: "array" })
    if (rows[0]?.[0] === "on" && sessionAttributes !== "any")
      throw new ReadOnlyServer(hostName(address), "it is a standby, or read-only by default")
  }
}

async function demandStandby(client: Client, address: ServerAddress): Promise<void> {
  const text = "select pg_catalog.pg_is_in_recovery()"
  const { rows } = await client.query<boolean[]>({ text, rowMode: "array" })
  if (rows[0]?.[0] === true) return
  throw new Error(
    `${hostName(address)} is not a standby: it was promoted, or never was one. Make it a streaming standby of the primary`,
  )
}

async function timelineOf(client: Client): Promise<number> {
  try {
    const { rows } = await client.query<string[]>({ text: selectTimeline, rowMode: "array" })
    return Number.parseInt(rows[0]?.[0] ?? "0", 16)
  } catch (error) {
    // A standby has none of its own, and other servers do not have the function.
    if (/^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code))) return 0
    throw error
  }
}

/** No host fits; `errors` has the reason of each in the order of the URL. */
class NoServer extends Error {
  override readonly name = "NoServer"
  readonly errors: readonly unknown[]

  constructor(message: string, errors: readonly unknown[]) {
    super(message)
    this.errors = errors
  }
}

function noServer(hosts: readonly ServerAddress[], errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0]
  const reasons = errors.map((error, at) => {
    const address = hosts[at]
    return `${address === undefined ? "?" : hostName(address)}: ${describeFault(error).message}`
  })
  return new NoServer(`none of the database servers can be used: ${reasons.join("; ")}`, errors)
}

/** What a server says about itself while a connection starts (PostgreSQL 14 and later). */
interface ReadOnlyReport {
  readonly standby: boolean
  readonly byDefault: boolean
  readonly isComplete: boolean
}

function readOnlyReports(client: Client): () => ReadOnlyReport {
  const reports = new Map<string, string>()
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
  connection.on("parameterStatus", (message: { parameterName: string; parameterValue: string }) =>
    reports.set(message.parameterName, message.parameterValue),
  )
  return () => ({
    standby: reports.get("in_hot_standby") === "on",
    byDefault: reports.get("default_transaction_read_only") === "on",
    isComplete: reports.has("in_hot_standby"),
  })
}

function encryptionsOf({ tls }: ServerTarget): readonly [Encryption, Encryption?] {
  if (tls.mode === "disable") return ["plain"]
  if (tls.mode === "allow") return ["plain", "tls"]
  if (tls.mode === "prefer") return ["tls-if-offered", "plain"]
  return ["tls"]
}

/**
 * node-postgres connects the stream that it is given: this one already is. Bytes that are no message of the protocol, as a pooler sends them whose server
 * crashed in the middle of a message, end the connection: node-postgres would throw in the event loop, which ends the process.
 */
function connected(socket: Socket): Socket {
  const connect = () => {
    process.nextTick(() => socket.emit("connect"))
    return socket
  }
  const on = (event: string, listener: (...values: unknown[]) => void) => {
    const guarded = (bytes: unknown) => {
      try {
        listener(bytes)
      } catch (error) {
        socket.destroy(
          new Error(
            `the server sent what is no message of PostgreSQL's protocol (${(error as Error).message})`,
          ),
        )
      }
    }
    return socket.addListener(event, event === "data" ? guarded : listener)
  }
  return Object.assign(socket, { connect, on })
}

function closeClient(client: Client): void {
  client.end().catch(() => undefined)
}

function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item)
}
