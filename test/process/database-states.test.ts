import { afterEach, expect, test } from "vitest"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { author, control, freePorts, keyOf, type Ports, planOf, start } from "./project.ts"

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const env = { ANN_KEY: keyOf("ann"), BOB_KEY: keyOf("bob") }

async function running(url: string) {
  const ports = await freePorts()
  const runtime = await start(url, ports, { env })
  ends.push(() => runtime.close())
  await runtime.apply(planOf(ports, "hello"), author)
  const admin = openPostgres(`${url}?target_session_attrs=any`)
  ends.push(() => admin.close())
  const sql = (text: string) => admin.query({ name: "", text })
  return { ports, runtime, sql }
}

let next = 0
async function write(ports: Ports): Promise<number> {
  const tuple = { user: `user:u${next++}`, relation: "viewer", object: "order:1" }
  const body = JSON.stringify({ writes: { tuple_keys: [tuple] } })
  return (await fetch(`http://127.0.0.1:${ports.authz}/stores/acme/write`, { method: "POST", body })).status
}

async function check(ports: Ports): Promise<number> {
  const tuple_key = { user: "user:u0", relation: "viewer", object: "order:1" }
  const body = JSON.stringify({ tuple_key })
  return (await fetch(`http://127.0.0.1:${ports.authz}/stores/acme/check`, { method: "POST", body })).status
}

async function reasons(ports: Ports): Promise<string> {
  const { body } = await control(ports, "GET", "/v1/status")
  return (body["processes"] as { reasons: string[] }[]).flatMap((each) => each.reasons).join("\n")
}

describePostgres("the states of a database", () => {
  test("a process that starts on a standby is not ready, and names it", async () => {
    const primary = await startThrowAwayPostgres({ migrated: true })
    ends.push(() => primary.stop())
    const standby = await startThrowAwayPostgres({ standbyOf: primary })
    ends.push(() => standby.stop())
    const ports = await freePorts()
    const runtime = await start(standby.url("postgres"), ports, { env })
    ends.push(() => runtime.close())
    const named = `the database server 127.0.0.1:${standby.port} is read-only (it is a standby)`
    expect((await runtime.notReady()).join()).toContain(named)
    expect((await fetch(`http://127.0.0.1:${ports.control}/readyz`)).status).toBe(503)
    expect(await reasons(ports)).toContain(named)
  })

  test("a full disk: writes get 503 with the reason in the status, checks go on", async () => {
    const created = await createMigratedDatabase()
    ends.push(created.drop)
    const { ports, runtime, sql } = await running(created.url)
    expect(await write(ports)).toBe(200)
    expect(await check(ports)).toBe(200)
    // What PostgreSQL says when it cannot extend a file, from a trigger of the changes.
    await sql(`create function full_disk() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
    await sql(
      "create trigger full_disk before insert on sallyport.changes for each row execute function full_disk()",
    )
    expect(await write(ports)).toBe(503)
    expect(await check(ports)).toBe(200)
    expect(await runtime.notReady()).toEqual([])
    const told = async () => {
      await write(ports)
      return reasons(ports)
    }
    await expect.poll(told).toMatch(/calls to the database failed: could not extend file.* \(53100\)/)
    await sql("drop trigger full_disk on sallyport.changes")
    expect(await write(ports)).toBe(200)
    await expect.poll(() => reasons(ports)).not.toContain("53100")
  })

  test("storms of ended connections: the process is ready again at once", async () => {
    const created = await createMigratedDatabase()
    ends.push(created.drop)
    const { ports, runtime, sql } = await running(created.url)
    for (let storm = 0; storm < 5; storm++) {
      const writes = Array.from({ length: 10 }, () => write(ports))
      await sql(`select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and datname = current_database() and backend_type = 'client backend'`)
      for (const status of await Promise.all(writes)) expect([200, 503]).toContain(status)
      await expect.poll(() => write(ports)).toBe(200)
    }
    await expect.poll(() => runtime.notReady()).toEqual([])
    await expect.poll(() => reasons(ports)).toBe("")
  })

  test("a long transaction that holds a store's row: writes end in time with the reason", async () => {
    const created = await createMigratedDatabase()
    ends.push(created.drop)
    const { ports, runtime } = await running(created.url)
    const holder = openPostgres(created.url, { statementMs: 60_000 })
    ends.push(() => holder.close())
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let held: Promise<void> | undefined
    await new Promise<void>((locked) => {
      held = holder.transaction(async (transaction) => {
        await transaction.query({ name: "", text: "select 1 from sallyport.stores for update" })
        locked()
        await released
      })
    })
    await expect.poll(() => check(ports)).toBe(200)
    expect(await write(ports)).toBe(504)
    expect(await check(ports)).toBe(200)
    expect(await runtime.notReady()).toEqual([])
    await expect.poll(() => reasons(ports)).toMatch(/calls to the database failed: .*(timeout|in time)/)
    release()
    await held
    await expect.poll(() => write(ports)).toBe(200)
  })
})
