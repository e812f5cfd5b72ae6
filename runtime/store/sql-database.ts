import type { Duplex } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { Client, type ClientConfig, Pool, type PoolClient, type PoolConfig, types } from "pg"
import { SourceUnavailable } from "../check/ports.ts"
import type {
  Database,
  PreparedStatement,
  Queryable,
  SqlRow,
  Transaction,
  TransactionOptions,
} from "./database.ts"
import { faultOf, repeatableState } from "./fault.ts"
import { Liveness, type Probe } from "./liveness.ts"

export interface SqlDatabaseOptions {
  readonly kind: Database["kind"]
  readonly connection: ClientConfig
  readonly connectionsMax: number
  readonly statementMs: number
  /** Timeout for getting a connection, in milliseconds. */
  readonly connectMs: number
  /** See `LivenessOptions.probe`. */
  readonly probe?: Probe | undefined
  /** Called after the last connection has closed. */
  readonly onClose?: (() => Promise<void>) | undefined
  /** Called with faults between statements (a lost idle connection), for the log. */
  readonly onFault?: ((error: Error) => void) | undefined
  /** Called with the SQLSTATE before a rolled-back statement or transaction runs again. */
  readonly onRepeat?: ((sqlState: string) => void) | undefined
}

/** Five attempts have pauses of 5, 10, 20 and 40 ms, at most 75 ms together. */
const attemptsMax = 5
const firstPauseMs = 5
const politeMs = 300
const int8Oid = 20

const begin: PreparedStatement = { name: "", text: "begin isolation level read committed" }
const beginSnapshot: PreparedStatement = { name: "", text: "begin isolation level repeatable read read only" }
const commit: PreparedStatement = { name: "", text: "commit" }
const rollback: PreparedStatement = { name: "", text: "rollback" }

/** bigint as number: our revisions, serials and counts stay far below 2^53. */
const typeParsers: NonNullable<ClientConfig["types"]> = {
  // biome-ignore lint/suspicious/noExplicitAny: the package's own signature.
  getTypeParser: (oid: number, format?: any) => (oid === int8Oid ? Number : types.getTypeParser(oid, format)),
}

const firstReconnectMs = 200
const longestReconnectMs = 10_000

/**
 * The only SQL implementation. It reaches PostgreSQL by sockets and the embedded database by a stream to its worker. Above the stream both
 * carry the same bytes, so the two cannot behave differently here.
 *
 * Connections are pipelined: statements that a transaction sends without waiting travel together. A pipelined connection has no portals, so
 * large results are read from an SQL cursor.
 */
export class SqlDatabase implements Database {
  readonly kind: Database["kind"]
  readonly listen: Database["listen"]
  readonly #options: SqlDatabaseOptions
  readonly #liveness: Liveness
  readonly #clients = new Set<PoolClient>()
  readonly #listeners = new Set<() => void>()
  #pool: Pool
  #closed = false

  constructor(options: SqlDatabaseOptions) {
    this.kind = options.kind
    this.#options = options
    if (options.kind === "postgres") this.listen = (channel, heard) => this.#listen(channel, heard)
    this.#liveness = new Liveness({
      probe: options.probe,
      statementMs: options.statementMs,
      onDown: () => this.#dropConnections(),
    })
    this.#pool = this.#newPool()
  }

  query<Row extends SqlRow = SqlRow>(
    statement: PreparedStatement,
    parameters: readonly unknown[] = [],
  ): Promise<readonly Row[]> {
    return this.#repeating((client) => this.#send<Row>(client, statement, parameters))
  }

  async batch(
    statements: readonly (readonly [PreparedStatement, readonly unknown[]])[],
  ): Promise<readonly (readonly SqlRow[])[]> {
    return this.transaction((transaction) =>
      Promise.all(statements.map(([statement, parameters]) => transaction.query(statement, parameters))),
    )
  }

  transaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    return this.#repeating((client) => this.#transact(client, work, options))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#liveness.close()
    for (const stop of this.#listeners) stop()
    const ended = this.#pool.end().catch(() => undefined)
    // Idle connections close gracefully. Cut those that do not (in use, or a silent server).
    const cut = setTimeout(() => {
      for (const client of this.#clients) streamOf(client).destroy()
    }, politeMs)
    await ended
    clearTimeout(cut)
    await this.#options.onClose?.()
  }

  #listen(channel: string, onNotice: (payload: string) => void): () => void {
    const stop = listenOn(this.#options.connection, channel, onNotice)
    this.#listeners.add(stop)
    return () => {
      this.#listeners.delete(stop)
      stop()
    }
  }

  /**
   * Runs `work` on a connection, and again when the server rolled it back. A single statement is a transaction too. After the last attempt
   * the error is `SourceUnavailable`, because callers treat it like a database that is down.
   */
  async #repeating<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const client = await this.#acquire()
        return await this.#using(client, () => work(client))
      } catch (error) {
        const state = repeatableState(error)
        if (state === undefined) throw error
        if (attempt === attemptsMax) throw usedUp(error, state)
        this.#options.onRepeat?.(state)
        // Wait for a random half to all of the pause, so that transactions that collided do not collide again.
        await sleep(firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2))
      }
    }
  }

  async #transact<T>(
    client: PoolClient,
    work: (transaction: Transaction) => Promise<T>,
    { snapshot, statementMs }: TransactionOptions,
  ): Promise<T> {
    const send: Queryable["query"] = (statement, parameters = []) =>
      this.#send(client, statement, parameters, statementMs)
    const script = async (text: string) => {
      await this.#send(client, { name: "", text }, undefined, statementMs)
    }
    // Not awaited, so that it travels with the first statement. When it fails, that statement fails too.
    const begun = send(snapshot ? beginSnapshot : begin)
    begun.catch(() => undefined)
    let result: T
    try {
      result = await work({ query: send, script })
      await begun
    } catch (error) {
      if (!(error instanceof SourceUnavailable)) await send(rollback)
      throw error
    }
    await send(commit)
    return result
  }

  /** Acquires a client or throws a fault. Pass the client to `#using`, which releases it. */
  async #acquire(): Promise<PoolClient> {
    if (this.#closed) throw new SourceUnavailable("the database was closed")
    if (this.#liveness.down !== undefined) throw this.#liveness.down
    const acquired = this.#pool.connect()
    try {
      return await this.#liveness.watch(acquired, this.#options.connectMs)
    } catch (error) {
      // Release a client that arrives later, or the pool would lose it.
      acquired.then((client) => client.release(true)).catch(() => undefined)
      this.#liveness.suspect()
      throw faultOf(error)
    }
  }

  /** Returns the client to the pool, or destroys it when its state is uncertain. */
  async #using<T>(client: PoolClient, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      client.release()
      return result
    } catch (error) {
      const fault = error instanceof Error ? error : new Error(String(error))
      const broken = fault instanceof SourceUnavailable
      if (broken) streamOf(client).destroy()
      client.release(broken)
      if (broken) this.#liveness.suspect()
      throw error
    }
  }

  async #send<Row extends SqlRow>(
    client: PoolClient,
    { name, text }: PreparedStatement,
    parameters: readonly unknown[] | undefined,
    statementMs = this.#options.statementMs,
  ): Promise<readonly Row[]> {
    // Without parameters and a name it is sent as a simple query, the only form that accepts several statements.
    const config = {
      text,
      rowMode: "array" as const,
      ...(name === "" ? {} : { name }),
      ...(parameters === undefined || (name === "" && parameters.length === 0)
        ? {}
        : { values: parameters as unknown[] }),
    }
    try {
      const result = await this.#liveness.watch(client.query<unknown[]>(config), statementMs)
      return result.rows as unknown as readonly Row[]
    } catch (error) {
      throw faultOf(error)
    }
  }

  #newPool(): Pool {
    const config: PoolConfig = {
      ...this.#options.connection,
      max: this.#options.connectionsMax,
      idleTimeoutMillis: 0,
      pipeline: true,
      types: typeParsers,
    }
    const pool = new Pool(config)
    // A lost idle connection must not end the process. The pool drops it, and the next statement opens another.
    pool.on("error", (error) => {
      this.#options.onFault?.(error)
      if (!this.#closed) this.#liveness.suspect()
    })
    pool.on("connect", (client) => {
      this.#clients.add(client)
      // The pool does not listen while a client is checked out, and an `error` event without a listener ends the process.
      client.on("error", () => undefined)
    })
    pool.on("remove", (client) => this.#clients.delete(client))
    return pool
  }

  #dropConnections(): void {
    const old = this.#pool
    this.#pool = this.#newPool()
    old.end().catch(() => undefined)
    for (const client of this.#clients) streamOf(client).destroy()
    this.#clients.clear()
  }
}

function usedUp(error: unknown, state: string): SourceUnavailable {
  const reason = error instanceof Error ? error.message : String(error)
  const coded = error instanceof SourceUnavailable ? reason : `${reason} (${state})`
  return new SourceUnavailable(`rolled back ${attemptsMax} times: ${coded}`, { cause: error })
}

/**
 * Ending a client gracefully waits for its replies; this stream is for a client whose replies will not come. The property is not in the
 * public types.
 */
function streamOf(client: PoolClient): Duplex {
  return (client as unknown as { connection: { stream: Duplex } }).connection.stream
}

/**
 * A connection of its own that listens on a channel and reconnects when it is lost. Notices in between are lost. Returns a function that
 * stops listening.
 */
function listenOn(
  connection: ClientConfig,
  channel: string,
  onNotice: (payload: string) => void,
): () => void {
  let ended = false
  let client: Client | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let waitMs = firstReconnectMs

  const open = async () => {
    // No statement timeout, because it waits for ever.
    const opened = new Client({ ...connection, statement_timeout: 0 })
    client = opened
    opened.on("notification", ({ payload }) => onNotice(payload ?? ""))
    opened.on("error", () => undefined)
    opened.once("end", again)
    try {
      await opened.connect()
      await opened.query(`listen ${channel}`)
      waitMs = firstReconnectMs
    } catch {
      cut(opened)
    }
    if (ended) cut(opened)
  }
  const again = () => {
    if (ended) return
    clearTimeout(timer)
    timer = setTimeout(() => void open(), waitMs)
    timer.unref()
    waitMs = Math.min(2 * waitMs, longestReconnectMs)
  }
  void open()
  return () => {
    ended = true
    clearTimeout(timer)
    if (client !== undefined) cut(client)
  }
}

/** Ending gracefully would wait for a server that may be silent. The property is not in the public types. */
function cut(client: Client): void {
  ;(client as unknown as { connection: { stream: Duplex } }).connection.stream.destroy()
}
