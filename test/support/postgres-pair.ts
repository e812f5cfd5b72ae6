import { createServer, connect as dial, type Server, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "./throw-away-postgres.ts"

/** A primary and its asynchronous standby behind one address, as a company has them. */
export interface PostgresPair {
  /** Connection string by the address that is whichever server is the primary now. */
  url(database: string): string
  /** Connection string that names both servers. */
  hostsUrl(database: string): string
  /** Port of the server that is the primary now. */
  readonly primaryPort: number
  /** From now on a commit is acknowledged when the standby has it too; with `false`, when the primary has it. */
  synchronous(on: boolean): Promise<void>
  /** From now on the standby gets nothing: what is committed is on the primary alone. Before, it has everything. */
  withhold(): Promise<void>
  /** The primary dies at once and for good; `failOver` begins with it. */
  kill(): Promise<void>
  /** The standby takes over, with what it has. */
  failOver(): Promise<void>
  /** Starts a standby of the present primary at the address of the server that died. */
  renew(): Promise<void>
  /** The primary loses power, and the standby does not take over. */
  crash(): Promise<void>
  /** The primary starts again after `crash`. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Starts both (about three seconds); the database `postgres` is migrated. `settings`: further ones of both servers, as `name=value`. */
export async function startPostgresPair(settings: readonly string[] = []): Promise<PostgresPair> {
  const primary = await startThrowAwayPostgres({ migrated: true, settings })
  const standby = await startThrowAwayPostgres({ standbyOf: primary, settings })
  const pair = new Pair(primary, standby, settings)
  await pair.door.open(() => pair.primaryPort)
  return pair
}

class Pair implements PostgresPair {
  #current: ThrowAwayPostgres
  /** The standby; after a failover the server that died, until it is renewed. */
  #other: ThrowAwayPostgres
  readonly #ports: readonly number[]
  readonly #settings: readonly string[]
  readonly door = new Door()

  constructor(primary: ThrowAwayPostgres, standby: ThrowAwayPostgres, settings: readonly string[]) {
    this.#current = primary
    this.#other = standby
    this.#ports = [primary.port, standby.port]
    this.#settings = settings
  }

  get primaryPort(): number {
    return this.#current.port
  }

  url(database: string): string {
    return `postgresql://postgres@127.0.0.1:${this.door.port}/${database}`
  }

  hostsUrl(database: string): string {
    return `postgresql://postgres@${this.#ports.map((port) => `127.0.0.1:${port}`).join(",")}/${database}`
  }

  async synchronous(on: boolean): Promise<void> {
    if (on) await until(this.#current, "select exists (select 1 from pg_stat_replication)")
    await setUp(this.#current, `synchronous_standby_names = '${on ? "*" : ""}'`)
    if (on)
      await until(
        this.#current,
        "select exists (select 1 from pg_stat_replication where sync_state = 'sync' and state = 'streaming')",
      )
  }

  async withhold(): Promise<void> {
    // Not the flushed position: commits are asynchronous here (`throw-away-postgres.ts`), so the latest ones may not be flushed yet.
    await this.#standbyHas(await ask(this.#current, "select pg_current_wal_insert_lsn()::text"))
    await setUp(this.#other, "primary_conninfo = ''")
    await until(this.#other, "select not exists (select 1 from pg_stat_wal_receiver)")
  }

  kill(): Promise<void> {
    return this.#current.stop()
  }

  async failOver(): Promise<void> {
    await this.kill()
    // It may have been copied from a primary that waited for its standby.
    await setUp(this.#other, "synchronous_standby_names = ''")
    await ask(this.#other, "select pg_promote()")
    await until(this.#other, "select not pg_is_in_recovery()")
    const died = this.#current
    this.#current = this.#other
    this.#other = died
    this.door.cut()
  }

  async renew(): Promise<void> {
    const { port } = this.#other
    this.#other = await startThrowAwayPostgres({ port, standbyOf: this.#current, settings: this.#settings })
  }

  async crash(): Promise<void> {
    await this.#current.crash()
    this.door.cut()
  }

  restart(): Promise<void> {
    return this.#current.restart()
  }

  async stop(): Promise<void> {
    await this.door.close()
    await Promise.all([this.#current.stop(), this.#other.stop()])
  }

  async #standbyHas(position: unknown): Promise<void> {
    await until(this.#other, `select pg_last_wal_replay_lsn() >= '${position}'::pg_lsn`)
  }
}

async function setUp(server: ThrowAwayPostgres, setting: string): Promise<void> {
  await ask(server, `alter system set ${setting}`)
  await ask(server, "select pg_reload_conf()")
}

/** An address whose connections go on to a server. */
class Door {
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  get port(): number {
    const address = this.#server?.address()
    if (typeof address !== "object" || address === null) throw new Error("the door is not open")
    return address.port
  }

  async open(target: () => number): Promise<void> {
    const server = createServer((socket) => this.#join(socket, dial(target(), "127.0.0.1")))
    this.#server = server.listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server?.close(resolve))
  }

  #join(client: Socket, server: Socket): void {
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        this.#sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }
}

async function ask(server: ThrowAwayPostgres, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: server.url("postgres") })
  await client.connect()
  try {
    const { rows } = await client.query({ text: sql, rowMode: "array" })
    return rows[0]?.[0]
  } finally {
    await client.end()
  }
}

async function until(server: ThrowAwayPostgres, sql: string): Promise<void> {
  for (let attempt = 0; attempt < 600; attempt++) {
    if ((await ask(server, sql)) === true) return
    await sleep(50)
  }
  throw new Error(`it did not come about: ${sql}`)
}
