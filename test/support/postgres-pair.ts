import { createServer, connect as dial, type Server, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import pg from "pg"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "./throw-away-postgres.ts"

/** A primary and its asynchronous standby behind one address, as a company has them. */
export interface PostgresPair {
  /** Connection string by the address that is whichever server is the primary now. */
  url(database: string): string
  /** From now on the standby gets nothing: what is committed is on the primary alone. Before, it has everything. */
  withhold(): Promise<void>
  /** The primary dies at once; the standby takes over, with what it has. */
  failOver(): Promise<void>
  stop(): Promise<void>
}

/** Starts both (about three seconds). */
export async function startPostgresPair(): Promise<PostgresPair> {
  const primary = await startThrowAwayPostgres()
  const standby = await startThrowAwayPostgres({ standbyOf: primary })
  let current = primary
  const sockets = new Set<Socket>()
  const door = await openDoor(() => current.port, sockets)
  const { port } = door.address() as { port: number }
  return {
    url: (database) => `postgresql://postgres@127.0.0.1:${port}/${database}`,
    async withhold() {
      // Not the flushed position: commits are asynchronous here (`throw-away-postgres.ts`), so the latest ones may not be flushed yet.
      const position = await ask(primary, "select pg_current_wal_insert_lsn()::text")
      await until(standby, `select pg_last_wal_replay_lsn() >= '${position}'::pg_lsn`)
      await ask(standby, "alter system set primary_conninfo = ''")
      await ask(standby, "select pg_reload_conf()")
      await until(standby, "select not exists (select 1 from pg_stat_wal_receiver)")
    },
    async failOver() {
      await primary.stop()
      await ask(standby, "select pg_promote()")
      await until(standby, "select not pg_is_in_recovery()")
      current = standby
      for (const socket of sockets) socket.destroy()
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => door.close(resolve))
      await Promise.all([primary.stop(), standby.stop()])
    },
  }
}

async function openDoor(target: () => number, sockets: Set<Socket>): Promise<Server> {
  const door = createServer((socket) => {
    const server = dial(target(), "127.0.0.1")
    for (const [one, other] of [
      [socket, server],
      [server, socket],
    ] as const) {
      sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => door.once("listening", resolve))
  return door
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
