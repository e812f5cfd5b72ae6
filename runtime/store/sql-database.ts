import { setTimeout as sleep } from "node:timers/promises"
import { type Client, type ClientConfig, types } from "pg"
import { SourceUnavailable } from "../check/ports.ts"
import { CallRecord } from "./call-record.ts"
import { ConnectionPool, cutClient, sendTogether } from "./connection-pool.ts"
import type {
  Database,
  DatabaseState,
  PreparedStatement,
  Queryable,
  SqlRow,
  Statements,
  Transaction,
  TransactionOptions,
} from "./database.ts"
import { faultOf, isOfPooler, poolerText, repeatableState } from "./fault.ts"
import { Liveness, type Probe } from "./liveness.ts"
import { withSchema } from "./schema-name.ts"

export interface SqlDatabaseOptions {
  readonly kind: Database["kind"]
  /** Schema of all tables. */
  readonly schema: string
  /** Opens a connection with these settings of node-postgres. */
  readonly connect: (config: ClientConfig, signal?: AbortSignal) => Promise<Client>
  /**
   * Connections lead through a pooler in transaction mode: each transaction may get another session. So there are no named statements, and
   * each transaction sets its own timeouts.
   */
  readonly pooled?: boolean | undefined
  /** Opens a connection that hears notices; undefined: notices cannot be heard. */
  readonly connectForNotices?: ((config: ClientConfig, signal?: AbortSignal) => Promise<Client>) | undefined
  /** Name of the server in use; undefined before the first connection. */
  readonly server?: (() => string | undefined) | undefined
  /** See `Database.missing`; a replica lacks what its primary lacks. */
  readonly missing?: Database["missing"] | undefined
  readonly connectionsMax: number
  readonly statementMs: number
  /** Timeout for getting a connection, in milliseconds. */
  readonly connectMs: number
  /** See `LivenessOptions.probe`. */
  readonly probe?: Probe | undefined
  /** See `LivenessOptions.silentMs` (default: 600, so that callers learn of a dead server within a second). */
  readonly silentMs?: number | undefined
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
const int8Oid = 20
/** How long a transaction may wait for its next statement, in milliseconds. */
export const idleMs = 30_000

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
  readonly schema: string
  readonly listen: Database["listen"]
  readonly missing: Database["missing"]
  readonly #options: SqlDatabaseOptions
  readonly #liveness: Liveness
  readonly #pool: ConnectionPool
  readonly #listeners = new Set<() => void>()
  readonly #record = new CallRecord()
  #closed = false

  constructor(options: SqlDatabaseOptions) {
    this.kind = options.kind
    this.schema = options.schema
    this.missing = options.missing ?? new Set()
    this.#options = options
    const { connectForNotices } = options
    if (connectForNotices !== undefined)
      this.listen = (channel, heard) => this.#listen(connectForNotices, channel, heard)
    this.#liveness = new Liveness({
      probe: options.probe,
      statementMs: options.statementMs,
      silentMs: options.silentMs ?? 600,
      onDown: (reason) => this.#pool.drop(reason),
    })
    this.#pool = new ConnectionPool({
      connectionsMax: options.connectionsMax,
      dial: (signal) => options.connect({ pipeline: true, types: typeParsers }, signal),
      // A lost idle connection does not end the process: the next statement opens another one.
      onLost: (error) => {
        options.onFault?.(error)
        if (!this.#closed) this.#liveness.suspect()
      },
    })
  }

  get state(): DatabaseState {
    return {
      server: this.#options.server?.(),
      unavailable: this.#liveness.down?.message,
      failures: this.#record.failures,
      connections: this.#pool.state,
    }
  }

  /** Cuts all connections: they lead to a server that is not the right one any more. */
  reconnect(): void {
    this.#pool.drop(new SourceUnavailable("the database server changed"))
  }

  query<Row extends SqlRow = SqlRow>(
    statement: PreparedStatement,
    parameters: readonly unknown[] = [],
  ): Promise<readonly Row[]> {
    return this.#repeating((client) => this.#send<Row>(client, statement, parameters))
  }

  batch(statements: Statements): Promise<readonly (readonly SqlRow[])[]> {
    return this.#repeating(async (client) => {
      const rows = await this.#sendLast(client, [[this.#beginning(begin), []], ...statements])
      return rows.slice(1)
    })
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
    await this.#pool.close(closed())
    await this.#options.onClose?.()
  }

  #listen(
    connect: SqlDatabaseOptions["connect"],
    channel: string,
    onNotice: (payload: string) => void,
  ): () => void {
    const { onFault } = this.#options
    const stop = listenOn(connect, channel, {
      onNotice,
      onFault,
      isUseless: () => this.missing.has("notices"),
    })
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
  async #repeating<T>(work: (client: Client) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const client = await this.#acquire()
        const result = await this.#using(client, () => work(client))
        this.#record.succeeded()
        return result
      } catch (error) {
        const state = repeatableState(error)
        if (state === undefined || attempt === attemptsMax)
          throw this.#recorded(state === undefined ? error : usedUp(error, state))
        this.#options.onRepeat?.(state)
        if (isOfPooler(state)) this.#record.failed(poolerText(state))
        // Wait for a random half to all of the pause, so that transactions that collided do not collide again.
        await sleep(firstPauseMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2))
      }
    }
  }

  /** A refusal of the statement itself is a call that the database answered. */
  #recorded(error: unknown): unknown {
    if (error instanceof SourceUnavailable) this.#record.failed(error.message)
    else this.#record.succeeded()
    return error
  }

  async #transact<T>(
    client: Client,
    work: (transaction: Transaction) => Promise<T>,
    { snapshot, statementMs }: TransactionOptions,
  ): Promise<T> {
    const send: Queryable["query"] = (statement, parameters = []) =>
      this.#send(client, statement, parameters, statementMs)
    const script = async (text: string) => {
      await this.#send(client, { name: "", text }, undefined, statementMs)
    }
    let ended = false
    const commitWith = (statements: Statements) => {
      ended = true
      return this.#sendLast(client, statements, statementMs)
    }
    let begun: Promise<unknown> | undefined
    let result: T
    try {
      result = await sendTogether(client, () => {
        // Not awaited, so that it travels with the first statement. When it fails, that statement fails too.
        begun = send(this.#beginning(snapshot ? beginSnapshot : begin, statementMs))
        begun.catch(() => undefined)
        return work({ query: send, script, commitWith })
      })
      await begun
    } catch (error) {
      if (!ended && !(error instanceof SourceUnavailable)) await send(rollback)
      throw error
    }
    if (!ended) await send(commit)
    return result
  }

  /** The commit travels with the statements. When one of them has failed, the server rolls back at the commit. */
  async #sendLast(
    client: Client,
    statements: Statements,
    statementMs?: number,
  ): Promise<readonly (readonly SqlRow[])[]> {
    const sent = sendTogether(client, () =>
      [...statements, [commit, []] as const].map(([statement, parameters]) =>
        this.#send(client, statement, parameters, statementMs),
      ),
    )
    // Until all have ended the connection is in use. The first failure is the cause of the others.
    await Promise.allSettled(sent)
    return (await Promise.all(sent)).slice(0, -1)
  }

  /** A pooler refuses timeouts for the session, and a later one would get them with the next transaction. */
  #beginning({ text }: PreparedStatement, statementMs = this.#options.statementMs): PreparedStatement {
    const serverMs = serverTimeoutOf(statementMs)
    return {
      name: "",
      text: this.#options.pooled
        ? `${text}; set local statement_timeout = ${serverMs}; set local idle_in_transaction_session_timeout = ${idleMs}`
        : text,
    }
  }

  /** Acquires a client or throws a fault. Pass the client to `#using`, which releases it. */
  async #acquire(): Promise<Client> {
    if (this.#closed) throw closed()
    if (this.#liveness.down !== undefined) throw this.#liveness.down
    const acquired = this.#pool.acquire()
    try {
      return await this.#liveness.watch(acquired, this.#options.connectMs)
    } catch (error) {
      // Release a client that arrives later, or the pool would lose it.
      acquired.then((client) => this.#pool.release(client, true)).catch(() => undefined)
      this.#liveness.suspect()
      throw faultOf(error)
    }
  }

  /** Returns the client to the pool, or destroys it when its state is uncertain. */
  async #using<T>(client: Client, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      this.#pool.release(client)
      return result
    } catch (error) {
      const broken = error instanceof SourceUnavailable
      this.#pool.release(client, broken)
      if (broken) this.#liveness.suspect()
      throw error
    }
  }

  async #send<Row extends SqlRow>(
    client: Client,
    statement: PreparedStatement,
    parameters: readonly unknown[] | undefined,
    statementMs = this.#options.statementMs,
  ): Promise<readonly Row[]> {
    const name = this.#options.pooled ? "" : statement.name
    // Without parameters and a name it is sent as a simple query, the only form that accepts several statements.
    const config = {
      text: withSchema(statement, this.schema),
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
}

function closed(): SourceUnavailable {
  return new SourceUnavailable("the database was closed")
}

/** The server stops a little before we do, so that it does not work for a caller that has given up; 0: never. In milliseconds. */
export function serverTimeoutOf(statementMs: number): number {
  return statementMs === 0 ? 0 : Math.max(1, statementMs - 500)
}

function usedUp(error: unknown, state: string): SourceUnavailable {
  if (isOfPooler(state)) return new SourceUnavailable(poolerText(state), { cause: error })
  const reason = error instanceof Error ? error.message : String(error)
  const coded = error instanceof SourceUnavailable ? reason : `${reason} (${state})`
  return new SourceUnavailable(`the database rolled back the transaction ${attemptsMax} times: ${coded}`, {
    cause: error,
  })
}

interface Hearing {
  readonly onNotice: (payload: string) => void
  readonly onFault: ((error: Error) => void) | undefined
  /** The server has no notices: do not reconnect. */
  readonly isUseless: () => boolean
}

/**
 * A connection of its own that listens on a channel and reconnects when it is lost. Notices in between are lost. Returns a function that
 * stops listening.
 */
function listenOn(
  connect: SqlDatabaseOptions["connect"],
  channel: string,
  { onNotice, onFault, isUseless }: Hearing,
): () => void {
  const ended = new AbortController()
  let client: Client | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let waitMs = firstReconnectMs

  const open = async () => {
    // No statement timeout, because it waits for ever.
    const opened = await connect({ statement_timeout: 0 }, ended.signal)
    client = opened
    opened.on("notification", ({ payload }) => onNotice(payload ?? ""))
    opened.once("end", again)
    await opened.query(`listen ${channel}`)
    waitMs = firstReconnectMs
    if (ended.signal.aborted) cutClient(opened)
  }
  const start = () => {
    client = undefined
    open().catch((error: unknown) => {
      if (waitMs === firstReconnectMs && !ended.signal.aborted)
        onFault?.(
          new Error(`no notices of changes, which are now found by polling: ${faultOf(error).message}`),
        )
      if (client === undefined) again()
      else cutClient(client)
    })
  }
  const again = () => {
    if (ended.signal.aborted || isUseless()) return
    clearTimeout(timer)
    timer = setTimeout(start, waitMs)
    timer.unref()
    waitMs = Math.min(2 * waitMs, longestReconnectMs)
  }
  start()
  return () => {
    ended.abort()
    clearTimeout(timer)
    if (client !== undefined) cutClient(client)
  }
}
