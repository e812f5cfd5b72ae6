import { readdirSync, readFileSync } from "node:fs"
import { afterEach, expect, test } from "vitest"
import { migrateDatabase } from "../../runtime/main.ts"
import { migrate } from "../../runtime/store/migrate.ts"
import { ownMigrations } from "../../runtime/store/migration-files.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { projectRoot } from "../structure/tree.ts"
import { author, call, control, freePorts, type Ports, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const log = createLog({ stream: { write: () => undefined } })

/** What a later release may do: new tables, columns that may be left out. */
const next = {
  name: `${String(ownMigrations().length + 1).padStart(3, "0")}_next.sql`,
  sql: "create table sallyport.next (x integer); alter table sallyport.plans add column note_of_next text; alter table sallyport.subscriptions add column rank integer not null default 0",
  checksum: "next",
}

describePostgres("a release comes in", () => {
  test("while the next one migrates, this one serves, takes plans and changes, and starts anew", async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const old = await start(url, ports)
    stops.push(() => old.close())
    expect(await old.apply(planOf(ports, "before"), author)).toMatchObject({ kind: "done" })

    const database = openPostgres(url)
    stops.push(() => database.close())
    expect(await migrate(database, { migrations: [...ownMigrations(), next] })).toEqual([next.name])

    expect((await control(ports, "GET", "/readyz")).status).toBe(200)
    expect(await call(ports, "/hello")).toBe("before")
    expect(await old.apply(planOf(ports, "after"), author)).toMatchObject({ kind: "done" })
    expect(await call(ports, "/hello")).toBe("after")
    const subscription = { name: "cleo", scope: { api: "hello" } }
    expect((await control(ports, "POST", "/v1/subscriptions", subscription)).status).toBe(201)
    expect(await call(ports, "/order/1", "ann")).toBe("403")
    await write(ports)
    expect(await call(ports, "/order/1", "ann")).toBe("seen")

    const other: Ports = { ...(await freePorts()), gateway: ports.gateway, authz: ports.authz }
    await old.close()
    const again = await start(url, other)
    stops.push(() => again.close())
    expect(await again.notReady()).toEqual([])
    expect(await call(other, "/hello")).toBe("after")
    await expect(migrateDatabase({ database: { url }, log })).rejects.toThrow("newer schema")
  })
})

async function write(ports: Ports): Promise<void> {
  const tuple = { user: "user:ann", relation: "viewer", object: "order:1" }
  const body = JSON.stringify({ writes: { tuple_keys: [tuple] } })
  const answer = await fetch(`http://127.0.0.1:${ports.authz}/stores/acme/write`, { method: "POST", body })
  expect(answer.status).toBe(200)
}

test("migrations only add: the release before knows nothing of what they bring", () => {
  const folder = `${projectRoot}migrations`
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql"))
  expect(files.length).toBeGreaterThan(5)
  for (const name of files) {
    const sql = readFileSync(`${folder}/${name}`, "utf8").replace(/--.*$/gm, "")
    for (const statement of sql.split(";")) {
      expect(statement, name).not.toMatch(/\b(?:drop|rename)\b|\balter\s+column\b/i)
      if (/\balter\s+table\b/i.test(statement))
        for (const column of statement.match(/add\s+column[^,]*/gi) ?? [])
          expect(/not\s+null/i.test(column) && !/default/i.test(column), `${name}: ${column}`).toBe(false)
    }
  }
})
