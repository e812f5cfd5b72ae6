import { execFileSync } from "node:child_process"
import { createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { describePostgres } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { tellAsked } from "../support/random-run.ts"
import { openSlowLine } from "../support/slow-line.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const statement = (text: string) => ({ name: "", text })
const one = statement("select 1")
const insert = statement("insert into written values (default)")

function urlOf(servers: readonly { readonly port: number }[], query = ""): string {
  return `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}/postgres${query}`
}

function open(url: string): Database {
  const database = openPostgres(url)
  ends.push(() => database.close())
  return database
}

async function admin(server: ThrowAwayPostgres, ...texts: string[]): Promise<void> {
  const database = openPostgres(`${server.socketUrl("postgres")}&target_session_attrs=any`)
  for (const text of texts) await database.query(statement(text))
  await database.close()
}

interface Pair {
  readonly primary: ThrowAwayPostgres
  readonly standby: ThrowAwayPostgres
}

async function startPair(): Promise<Pair> {
  const primary = await startThrowAwayPostgres()
  await admin(primary, "create table written (id serial primary key)")
  return { primary, standby: await startThrowAwayPostgres({ standbyOf: primary }) }
}

async function stop({ primary, standby }: Pair): Promise<void> {
  await Promise.all([primary.stop(), standby.stop()])
}

/** Writes until one succeeds. Returns how long that took, in milliseconds. */
async function untilWritten(database: Database): Promise<number> {
  const beganMs = performance.now()
  for (;;) {
    const isDone = await database.query(insert).then(
      () => true,
      () => false,
    )
    if (isDone) return Math.round(performance.now() - beganMs)
    if (performance.now() - beganMs > 30_000) throw new Error(database.state.unavailable ?? "never written")
    await sleep(10)
  }
}

describePostgres("a primary and its standby in one URL", () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair()
  })
  afterAll(() => stop(pair))

  test("the primary is found in either order, and one after the other by load_balance_hosts", async () => {
    const { primary, standby } = pair
    const nobody = { port: await freePort() }
    for (const servers of [
      [primary, standby],
      [standby, primary],
      [nobody, standby, primary],
    ])
      for (const query of ["", "?target_session_attrs=primary", "?load_balance_hosts=random"]) {
        const database = open(urlOf(servers, query))
        await database.query(insert)
        if (!query.includes("random")) expect(database.state.server).toBe(`127.0.0.1:${primary.port}`)
      }
    const any = open(urlOf([standby], "?target_session_attrs=any"))
    expect(await any.query(one)).toEqual([[1]])
    await expect(any.query(insert)).rejects.toThrow("read-only transaction (25006)")
  })

  test("a standby alone is named, and all servers with their reasons", async () => {
    const { standby } = pair
    const alone = open(urlOf([standby]))
    const reason = `the database server 127.0.0.1:${standby.port} is read-only (it is a standby): Sallyport needs the server that accepts writes`
    await expect(alone.query(one)).rejects.toMatchObject({
      name: "SourceUnavailable",
      message: `${reason} (25006)`,
    })
    await expect.poll(() => alone.state.unavailable).toContain(reason)
    const nobody = { port: await freePort() }
    await expect(open(urlOf([nobody, standby])).query(one)).rejects.toThrow(
      new RegExp(
        `none of the database servers can be used: 127.0.0.1:${nobody.port}: .*ECONNREFUSED.*; 127.0.0.1:${standby.port}: .*standby`,
      ),
    )
  })

  test("a server that is made read-only is named, and used again when it accepts writes", async () => {
    const server = pair.primary
    const database = open(urlOf([server]))
    await database.query(insert)
    await admin(server, "alter system set default_transaction_read_only = on", "select pg_reload_conf()")
    await expect.poll(() => database.query(insert).catch(String)).toContain("(25006)")
    await expect
      .poll(() => database.state.unavailable)
      .toContain("is read-only (its default_transaction_read_only is on)")
    const writable = openPostgres(
      `${server.socketUrl("postgres")}&target_session_attrs=any&options=-c%20default_transaction_read_only%3Doff`,
    )
    await writable.query(statement("alter system reset default_transaction_read_only"))
    await writable.query(statement("select pg_reload_conf()"))
    await writable.close()
    await untilWritten(database)
  })

  test("a host that accepts connections and says nothing does not hold up the others", async () => {
    const { primary } = pair
    const mute = createServer(() => undefined).listen(0, "127.0.0.1")
    ends.push(() => mute.close())
    await new Promise((resolve) => mute.once("listening", resolve))
    const { port } = mute.address() as { port: number }
    const database = open(urlOf([{ port }, primary]))
    await database.query(insert)
    const slow = open(urlOf([{ port }], "?connect_timeout=1"))
    await expect(slow.query(one)).rejects.toMatchObject({ name: "SourceUnavailable" })
  })

  // The last one of this pair: it ends the primary.
  test("the primary dies, the standby is promoted: writes go on there", async (context) => {
    const { primary, standby } = pair
    const database = open(urlOf([primary, standby]))
    await Promise.all(Array.from({ length: 5 }, () => database.query(insert)))
    await primary.stop()
    await expect(database.query(insert)).rejects.toMatchObject({ name: "SourceUnavailable" })
    await admin(standby, "select pg_promote()")
    tellAsked(context, { "ms from the promotion to the next write": await untilWritten(database) })
    expect(database.state).toMatchObject({ server: `127.0.0.1:${standby.port}`, unavailable: undefined })
  })

  test("the primary freezes, and comes back as a second primary: it is not used again", async (context) => {
    const { primary, standby } = await startPair()
    ends.push(() => stop({ primary, standby }))
    const servers = [primary, standby]
    const database = open(urlOf(servers))
    await database.query(insert)
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(primary.pid)], { encoding: "utf8" })
    const family = [primary.pid, ...children.trim().split(/\s+/).map(Number)]
    const signal = (name: NodeJS.Signals) => {
      for (const pid of family) process.kill(pid, name)
    }
    signal("SIGSTOP")
    let isFrozen = true
    ends.push(() => isFrozen && signal("SIGCONT"))
    await expect(database.query(insert)).rejects.toMatchObject({ name: "SourceUnavailable" })
    await admin(standby, "select pg_promote()")
    tellAsked(context, { "ms from the promotion to the next write": await untilWritten(database) })
    signal("SIGCONT")
    isFrozen = false
    await admin(primary, "select pg_is_in_recovery()")
    await database.query(insert)
    // A process that starts now sees two servers that accept writes.
    const later = open(urlOf(servers))
    await later.query(insert)
    // Neither does one to which the new primary answers long after the old one.
    const line = await openSlowLine(standby.port, 60)
    ends.push(() => line.close())
    const far = open(urlOf([primary, line]))
    await far.query(insert)
    expect(far.state.server).toBe(`127.0.0.1:${line.port}`)
    for (const each of [database, later]) expect(each.state.server).toBe(`127.0.0.1:${standby.port}`)
    // Nor is it used when the new one goes: it lacks what was written since.
    await standby.stop()
    await expect(database.query(insert)).rejects.toMatchObject({ name: "SourceUnavailable" })
    await expect.poll(() => database.state.unavailable).toContain("was the primary before the last failover")
  })
})
