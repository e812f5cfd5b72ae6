import { afterEach, expect, test } from "vitest"
import { migrateDatabase } from "../../runtime/main.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createDatabase } from "../postgres.ts"
import { describePgbouncer, startPgbouncer } from "../support/pgbouncer.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { author, control, freePorts, keyOf, planOf, start } from "./project.ts"

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const log = createLog({ stream: { write: () => undefined } })
const env = { ANN_KEY: keyOf("ann"), BOB_KEY: keyOf("bob"), PAID_KEY: keyOf("paid") }
const more = `
api paid { path "/paid"; auth subscription; quota 3 calls per 1d by subscription; GET "/" { respond 200 } }
api items { path "/items"; auth subscription; GET "/" { respond 200 { body text "items" } } }
product gold { apis items }
secret paid_key = env(PAID_KEY)
subscription payer { api paid; key paid_key }`

async function pooled(settings: readonly string[] = []) {
  const created = await createDatabase()
  ends.push(created.drop)
  const pooler = await startPgbouncer(Number(new URL(created.url).port), settings)
  ends.push(pooler.stop)
  return { direct: created.url, url: pooler.through(created.url) }
}

describePgbouncer("a pooler in transaction mode", () => {
  test.each([true, false])("everything works through it; with notices: %j", async (withNotices) => {
    const { direct, url } = await pooled()
    const database = { url, pooler: "transaction", ...(withNotices ? { noticesUrl: direct } : {}) } as const
    await migrateDatabase({ database, log })
    const [ports, otherPorts] = [await freePorts(), await freePorts()]
    const one = await start(url, ports, { database, env })
    const other = await start(url, otherPorts, { database, env }, ["control"])
    ends.push(() => one.close())
    ends.push(() => other.close())
    await one.apply(planOf(ports, "hello", more), author)
    const engine = `http://127.0.0.1:${ports.authz}/stores/acme`
    const post = (path: string, body: object) =>
      fetch(`${engine}/${path}`, { method: "POST", body: JSON.stringify(body) })
    const tuple = (at: number) => ({ user: "user:ann", relation: "viewer", object: `order:${at}` })
    const writes = Array.from({ length: 40 }, (_, at) =>
      post("write", { writes: { tuple_keys: [tuple(at)] } }),
    )
    expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(Array(40).fill(200))
    const checks = Array.from({ length: 40 }, (_, at) =>
      post("check", { tuple_key: tuple(at), consistency: "HIGHER_CONSISTENCY" }),
    )
    for (const answer of await Promise.all(checks))
      expect(await answer.json()).toMatchObject({ allowed: true })
    const made = await control(ports, "POST", "/v1/subscriptions", {
      name: "sub",
      scope: { product: "gold" },
      owner: "o",
    })
    const key = (made.body["keys"] as { primary: string }).primary
    const items = async () =>
      (await fetch(`http://127.0.0.1:${ports.gateway}/items`, { headers: { "x-api-key": key } })).status
    await expect.poll(items).toBe(200)
    const paid = async () =>
      (await fetch(`http://127.0.0.1:${ports.gateway}/paid`, { headers: { "x-api-key": keyOf("paid") } }))
        .status
    expect([await paid(), await paid(), await paid(), await paid()]).toEqual([200, 200, 200, 403])
    await expect.poll(() => other.serial()).toBe(1)
    expect(await one.notReady()).toEqual([])
    expect(one.lines.filter((line) => /pooler|prepared statement/.test(line))).toEqual([])
  })

  test("without the setting, the setting is named, and the process is not ready", async () => {
    const refusing = await pooled()
    await expect(migrateDatabase({ database: { url: refusing.url }, log })).rejects.toThrow(
      /connection pooler .*\(unsupported startup parameter.*\): set SALLYPORT_DATABASE_POOLER=transaction/,
    )
    const ignored = "ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout"
    const { direct, url } = await pooled([ignored])
    await migrateDatabase({ database: { url: direct }, log })
    const ports = await freePorts()
    const runtime = await start(url, ports, { env })
    ends.push(() => runtime.close())
    await runtime.apply(planOf(ports, "hello", more), author).catch(() => undefined)
    const help = "mixes up prepared statements (42P05): set SALLYPORT_DATABASE_POOLER=transaction"
    const asking = async () => {
      await Promise.all(Array.from({ length: 20 }, () => control(ports, "GET", "/v1/plans?limit=5")))
      return (await runtime.notReady()).join("; ")
    }
    await expect.poll(asking).toContain(help)
    const status = async () => {
      await asking()
      return JSON.stringify((await control(ports, "GET", "/v1/status")).body)
    }
    await expect.poll(status).toContain(help)
  })

  test("timeouts do not stay in the server's sessions, and its end is found within seconds", async () => {
    const server = await startThrowAwayPostgres()
    const pooler = await startPgbouncer(server.port, ["default_pool_size = 1"])
    ends.push(pooler.stop)
    const url = pooler.through(server.url("postgres"))
    const database = openPostgres(url, { pooler: "transaction" })
    ends.push(() => database.close())
    expect(database.listen).toBeUndefined()
    const shown = {
      name: "shown",
      text: "select current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout')",
    }
    expect(await database.transaction((inside) => inside.query(shown))).toEqual([["9500ms", "30s"]])
    expect(await database.query(shown)).toEqual([["0", "0"]])
    expect(() => openPostgres(`${url}?options=-c%20geqo%3Doff`, { pooler: "transaction" })).toThrow(
      "which a pooler refuses",
    )
    await server.stop()
    await expect(database.query(shown)).rejects.toMatchObject({ name: "SourceUnavailable" })
    const unavailable = async () => {
      await database.query(shown).catch(() => undefined)
      return database.state.unavailable
    }
    await expect.poll(unavailable).toBeDefined()
  })
})
