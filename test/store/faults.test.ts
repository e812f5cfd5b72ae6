import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { describePostgres } from "../postgres.ts"
import { promptlyMs } from "../support/busy.ts"
import { openSlowLine } from "../support/slow-line.ts"
import { startThrowAwayPostgres, type ThrowAwayPostgres } from "../support/throw-away-postgres.ts"

const one = { name: "one", text: "select 1" }
const slow = { name: "slow", text: "select 1 from pg_sleep(20)" }

/** Outcome and duration of several statements at once: some on idle connections, some that need a new one. */
async function ask(database: Database, statements = Array.from({ length: 6 }, () => one)) {
  const startedMs = performance.now()
  const outcomes = await Promise.allSettled(statements.map((statement) => database.query(statement)))
  return { outcomes, tookMs: performance.now() - startedMs }
}

/** The promise is one second; the rest is for a busy machine. */
const promptMs = 3_000

async function expectAway(database: Database, statements?: (typeof one)[]): Promise<void> {
  const { outcomes, tookMs } = await ask(database, statements)
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: "rejected", reason: { name: "SourceUnavailable" } })
  expect(tookMs).toBeLessThan(promptlyMs(promptMs))
}

async function expectBack(database: Database): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const { outcomes } = await ask(database)
    if (outcomes.every(({ status }) => status === "fulfilled")) return
    await sleep(50)
  }
  throw new Error("it did not recover within twenty seconds")
}

describePostgres("a database that is away", () => {
  let server: ThrowAwayPostgres
  let database: Database
  beforeAll(async () => {
    server = await startThrowAwayPostgres()
  })
  afterAll(async () => {
    await database.close()
    await server.stop()
  })
  const open = async () => {
    await database?.close()
    database = openPostgres(server.url("postgres"))
    await expectBack(database)
  }
  const family = () => {
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(server.pid)], { encoding: "utf8" })
    return [server.pid, ...children.trim().split(/\s+/).map(Number)]
  }
  const signal = (name: NodeJS.Signals) => {
    for (const pid of family()) process.kill(pid, name)
  }

  test("mute (stopped): waiting and new statements are refused promptly, and it recovers", async () => {
    await open()
    const waiting = ask(database, [slow, slow])
    await sleep(50)
    signal("SIGSTOP")
    try {
      await expectAway(database)
      const { outcomes } = await waiting
      expect(outcomes).toMatchObject([{ status: "rejected" }, { status: "rejected" }])
      // From now on at once.
      await expectAway(database)
    } finally {
      signal("SIGCONT")
    }
    await expectBack(database)
  })

  test("a slow statement on a living server is not taken for a mute one", async () => {
    await open()
    const nap = { name: "nap", text: "select 1 from pg_sleep(1.5)" }
    expect((await ask(database, [nap])).outcomes).toMatchObject([{ status: "fulfilled" }])
  })

  test("a long line is not taken for a mute server", async () => {
    // 300 ms there and back: a connection takes longer than a whole second.
    const line = await openSlowLine(server.port, 150)
    const far = openPostgres(`postgres://postgres@127.0.0.1:${line.port}/postgres`)
    const nap = { name: "nap", text: "select 1 from pg_sleep(1.5)" }
    try {
      expect((await ask(far, [one, nap, one])).outcomes.map(({ status }) => status)).toEqual([
        "fulfilled",
        "fulfilled",
        "fulfilled",
      ])
    } finally {
      await far.close()
      line.close()
    }
  })

  test("half a message of a server that crashed behind a pooler ends one connection", async () => {
    let isHalf = false
    const proxy = createServer((client) => {
      const upstream = connect(server.port, "127.0.0.1")
      client.pipe(upstream)
      // A row of two fields, of which the first is longer than the message.
      const row = Buffer.from([0x44, 0, 0, 0, 14, 0, 2, 0, 0, 0x29, 0xc9, 0, 0, 0, 0])
      upstream.on("data", (chunk) => client.write(isHalf ? row : chunk))
      for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
        from.on("error", () => to.destroy())
        from.on("close", () => to.destroy())
      }
    }).listen(0, "127.0.0.1")
    await once(proxy, "listening")
    const { port } = proxy.address() as AddressInfo
    const behind = openPostgres(`postgres://postgres@127.0.0.1:${port}/postgres`)
    try {
      expect(await behind.query(one)).toEqual([[1]])
      isHalf = true
      await expect(behind.query(one)).rejects.toMatchObject({
        name: "SourceUnavailable",
        message: expect.stringContaining("no message of PostgreSQL's protocol"),
      })
      isHalf = false
      await expectBack(behind)
    } finally {
      await behind.close()
      proxy.close()
    }
  })

  test("by its Unix socket", async () => {
    const local = openPostgres(server.socketUrl("postgres"))
    expect(await local.query(one)).toEqual([[1]])
    await local.close()
  })

  test("a server that is full is not taken for a mute one", async () => {
    await open()
    await database.query({ name: "", text: "create role narrow login connection limit 2" })
    const full = openPostgres(server.url("postgres").replace("postgres@", "narrow@"), { connectionsMax: 2 })
    const nap = { name: "nap", text: "select 1 from pg_sleep(1.5)" }
    try {
      expect((await ask(full, [nap, nap])).outcomes).toMatchObject([
        { status: "fulfilled" },
        { status: "fulfilled" },
      ])
    } finally {
      await full.close()
    }
  })

  test("a statement past its bound is broken off, and the connection is not used again", async () => {
    await database.close()
    database = openPostgres(server.url("postgres"), { statementMs: 1_500, connectionsMax: 1 })
    await expect(database.query(slow)).rejects.toMatchObject({ name: "SourceUnavailable" })
    await expect(database.query(one)).resolves.toEqual([[1]])
  })

  test("connections ended by the server, idle and busy, end nothing else", async () => {
    await open()
    const waiting = ask(database, [slow])
    const other = openPostgres(server.url("postgres"))
    const running = "select count(*)::int from pg_stat_activity where state = 'active' and query = $1"
    await expect.poll(() => other.query({ name: "", text: running }, [slow.text])).toEqual([[1]])
    await other.query({
      name: "",
      text: "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'",
    })
    await other.close()
    expect((await waiting).outcomes).toMatchObject([
      { status: "rejected", reason: { name: "SourceUnavailable" } },
    ])
    await expectBack(database)
  })

  test("killed: refused promptly, again and again; back when a server is", async () => {
    await open()
    const { port } = server
    await server.stop()
    await expectAway(database)
    await expectAway(database)
    const transaction = database.transaction((inside) => inside.query(one))
    await expect(transaction).rejects.toMatchObject({ name: "SourceUnavailable" })
    server = await startThrowAwayPostgres({ port })
    await expectBack(database)
  })

  test("never there: the first statement says so", async () => {
    const nowhere = openPostgres("postgres://x@127.0.0.1:1/x")
    await expectAway(nowhere)
    await nowhere.close()
    await expect(nowhere.query(one)).rejects.toThrow("closed")
  })

  test.each(["", "mysql://x", "postgres://[", "localhost:5432"])(
    "URL %j is refused without repeating it",
    (url) => {
      expect(() => openPostgres(url)).toThrow("must look like postgres://user:password@host:5432/database")
    },
  )
})
