import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, expect, it } from "vitest"
import { routeRules } from "../../runtime/control/routes.ts"
import { appendAudit, ChainVerifier, pruneAudit, readAudit } from "../../runtime/store/audit-log.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { run } from "../cli/run.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { author, control, freePorts, planOf, start, token } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

async function newDatabase(): Promise<{ url: string; open: () => Database }> {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  return {
    url,
    open: () => {
      const database = openPostgres(url)
      stops.push(() => database.close())
      return database
    },
  }
}

const sql = (database: Database, text: string) => database.query({ name: "", text })
const everything = { after: 0, from: null, to: null, limit: 1_000 }

async function problemsIn(database: Database): Promise<readonly string[]> {
  const { rows, head, anchor } = await readAudit(database, everything)
  const verifier = new ChainVerifier(anchor)
  for (const row of rows) verifier.take(row)
  return verifier.end(head).problems
}

it("every route that changes something is logged", () => {
  // A session of the console can do what its credential can, and each of its requests is logged like one with the credential itself.
  const sessions = [
    "POST /console/session",
    "POST /console/login",
    "DELETE /console/session",
    "POST /v1/console-links",
  ]
  const asks = ["POST /v1/explain-request", "POST /v1/plan/changes", "POST /v1/moves/count", ...sessions]
  const unlogged = Object.entries(routeRules).flatMap(([route, { audit }]) =>
    audit === undefined && !route.startsWith("GET ") && !asks.includes(route) ? [route] : [],
  )
  expect(unlogged).toEqual([])
})

describePostgres("the chain of the audit log", () => {
  it("is one chain for processes that append at the same time", async () => {
    const { open } = await newDatabase()
    const [one, other] = [open(), open()]
    const rows = await Promise.all(
      Array.from({ length: 40 }, (_, n) => appendAudit(n % 2 === 0 ? one : other, { action: "test", n })),
    )
    expect(rows.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, n) => n + 1),
    )
    expect(await problemsIn(one)).toEqual([])
  })

  it("shows which rows were altered, removed, or cut off at the end", async () => {
    const { open } = await newDatabase()
    const database = open()
    for (let n = 1; n <= 9; n += 1) await appendAudit(database, { action: "test", n })
    await sql(
      database,
      `update sallyport.audit_log set entry = replace(entry, '"n":3', '"n":4') where seq = 3`,
    )
    expect(await problemsIn(database)).toEqual([
      expect.stringMatching(/^row 3 was altered, or row 2 before it/),
    ])
    await sql(database, "delete from sallyport.audit_log where seq in (5, 6)")
    expect((await problemsIn(database))[1]).toBe("rows 5 to 6 were removed")
    await sql(database, "delete from sallyport.audit_log where seq = 9")
    expect((await problemsIn(database))[2]).toBe("row 9 was removed")
  })

  it("can be verified after a retention has deleted its beginning", async () => {
    const { open } = await newDatabase()
    const database = open()
    for (let n = 1; n <= 6; n += 1) await appendAudit(database, { action: "test", n })
    await sql(database, "update sallyport.audit_log set at = now() - interval '2 days' where seq <= 4")
    expect(await pruneAudit(database, 86_400)).toBe(4)
    const { anchor, rows } = await readAudit(database, everything)
    expect([anchor.seq, rows.map(({ seq }) => seq)]).toEqual([4, [5, 6]])
    expect(await problemsIn(database)).toEqual([])
    await sql(database, "delete from sallyport.audit_log where seq = 5")
    expect(await problemsIn(database)).toEqual(["row 5 was removed"])
  })
})

/** A process whose first plan was applied through the control API. */
async function startLogged() {
  const { url, open } = await newDatabase()
  const database = open()
  const ports = await freePorts()
  const runtime = await start(url, ports)
  stops.push(() => runtime.close())
  const body = { plan: planOf(ports), base: null, author }
  expect((await control(ports, "PUT", "/v1/plan", body)).status).toBe(200)
  return { database, ports, runtime, body }
}

describePostgres("the audit log of the control API", () => {
  it("says who did what, without secrets", async () => {
    const { database, ports } = await startLogged()
    expect((await control(ports, "POST", "/authz/stores/none/check", {})).status).toBe(400)
    const made = await control(ports, "POST", "/v1/tokens", {
      ...{ name: "ci", role: "viewer", expiresAt: "2100-01-01T00:00:00Z" },
    })
    const refused = { ...author, who: "ci" }
    const asCi = await control(
      ports,
      "POST",
      "/v1/rollback",
      { serial: 1, base: 1, author: refused },
      `Bearer ${made.body["secret"]}`,
    )
    expect(asCi.status).toBe(403)

    const entries = async () =>
      (await readAudit(database, everything)).rows.map(({ entry }) => JSON.parse(entry))
    await expect.poll(async () => (await entries()).length).toBe(7)
    const rows = await entries()
    const shared = { kind: "shared", name: "control token", role: "admin" }
    expect(rows).toContainEqual(
      expect.objectContaining({
        ...{ event: "requested", action: "plan.apply", method: "PUT", path: "/v1/plan", who: shared },
        details: { base: null, author, plan: planOf(ports).digest },
      }),
    )
    expect(rows).toContainEqual(
      expect.objectContaining({ event: "ended", action: "engine.read", status: 400 }),
    )
    expect(rows).toContainEqual(
      expect.objectContaining({
        ...{ event: "denied", action: "plan.rollback", status: 403 },
        who: { kind: "token", name: "ci", role: "viewer" },
      }),
    )
    expect(JSON.stringify(rows)).not.toContain(String(made.body["secret"]))
  })

  it("names the tuples that an edit writes and deletes, and passes the edit on", async () => {
    const { database, ports } = await startLogged()
    const engine = (path: string, body: unknown) => control(ports, "POST", `/authz/stores${path}`, body)
    const { id: store } = (await engine("", { name: "audited" })).body
    const type_definitions = [
      { type: "user" },
      {
        type: "doc",
        relations: { viewer: { this: {} } },
        metadata: { relations: { viewer: { directly_related_user_types: [{ type: "user" }] } } },
      },
    ]
    const model = { schema_version: "1.1", type_definitions }
    expect((await engine(`/${store}/authorization-models`, model)).status).toBe(201)
    const key = (user: string) => ({ user, relation: "viewer", object: "doc:1" })
    const edit = (writes: readonly unknown[], deletes: readonly unknown[] = []) =>
      engine(`/${store}/write`, {
        ...(writes.length > 0 && { writes: { tuple_keys: writes } }),
        ...(deletes.length > 0 && { deletes: { tuple_keys: deletes } }),
      })
    expect((await edit([key("user:ann")])).status).toBe(200)
    expect((await edit([key("user:bob")], [key("user:ann")])).status).toBe(200)
    expect((await engine(`/${store}/read`, {})).body).toMatchObject({ tuples: [{ key: key("user:bob") }] })
    expect((await edit([{ user: { toString: 1 }, condition: {} }, 5])).status).toBe(400)
    const many = Array.from({ length: 100 }, (_, n) => key(`user:${"x".repeat(80)}${n}`))
    expect((await edit(many)).status).toBe(200)
    expect(
      (await edit(Array.from({ length: 900 }, (_, n) => key(`user:${"y".repeat(80)}${n}`)))).status,
    ).toBe(400)

    const edits = async () =>
      (await readAudit(database, everything)).rows
        .map(({ entry }) => JSON.parse(entry))
        .filter(({ event, path }) => event === "requested" && path.endsWith("/write"))
        .map(({ details }) => details)
    const [first, second, wrong, long, large] = await edits()
    expect(first).toEqual({ tuples: ["+user:ann viewer doc:1"] })
    expect(second).toEqual({ tuples: ["+user:bob viewer doc:1", "-user:ann viewer doc:1"] })
    expect(wrong).toEqual({ tuples: ["+? ? ? with ?", "+? ? ?"] })
    expect(long.tuples.length + long.more).toBe(100)
    expect(long.more).toBeGreaterThan(0)
    expect(large).toBeUndefined()
  })

  it("is verified and exported by commands", async () => {
    const { database, ports } = await startLogged()
    const rows = async () =>
      (await readAudit(database, everything)).rows.map(({ entry }) => JSON.parse(entry))
    await expect.poll(async () => (await rows()).length).toBe(2)
    const env = { SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`, SALLYPORT_CONTROL_TOKEN: token }
    const sallyport = (...words: string[]) => run({ cwd: "/", env }, "audit", ...words)
    const verified = await sallyport("verify")
    expect(verified.out).toMatch(/^\d+ rows are unchanged; the last is \d+:[0-9a-f]{64}\n$/)
    const [, place = ""] = /the last is (\S+)/.exec(verified.out) ?? []
    expect((await sallyport("verify", "--expect", place)).code).toBe(0)
    const exported = (await sallyport("export")).out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(exported.map(({ entry }) => entry).slice(0, 2)).toEqual((await rows()).slice(0, 2))
    expect((await sallyport("export", "--to", "2020-01-01")).out).toBe("")

    await sql(
      database,
      "update sallyport.audit_log set entry = replace(entry, 'control token', 'nobody') where seq = 1",
    )
    const altered = await sallyport("verify")
    expect(altered).toMatchObject({ code: 1, err: expect.stringContaining("row 1 was altered") })
  })

  it("refuses changes that it cannot record, but not questions", async () => {
    const { database, ports, runtime, body } = await startLogged()
    await sql(database, "alter table sallyport.audit_log rename to gone")
    const other = { ...body, plan: planOf(ports, "other"), base: 1 }
    expect((await control(ports, "PUT", "/v1/plan", other)).status).toBe(503)
    expect(runtime.serial()).toBe(1)
    expect((await control(ports, "POST", "/authz/stores/none/check", {})).status).toBe(400)
    await sql(database, "alter table sallyport.gone rename to audit_log")
    expect((await control(ports, "PUT", "/v1/plan", other)).status).toBe(200)
  })

  it("copies rows to a file and to a URL, which may be away for a while", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sallyport-audit-"))
    stops.push(() => rm(folder, { recursive: true }))
    const { url } = await newDatabase()
    const ports = await freePorts()
    const port = await freePort()
    const file = join(folder, "audit.jsonl")
    const auditSinks = [`file:${file}`, `http://127.0.0.1:${port}/rows`]
    const runtime = await start(url, ports, { auditSinks, auditToken: "secret-of-collector" })
    stops.push(() => runtime.close())
    expect((await control(ports, "DELETE", "/v1/tokens/none")).status).toBe(404)
    await expect.poll(async () => (await readFile(file, "utf8").catch(() => "")).split("\n").length).toBe(3)

    const received: string[] = []
    const server = createServer((request, response) => {
      expect(request.headers.authorization).toBe("Bearer secret-of-collector")
      request.setEncoding("utf8").on("data", (text: string) => received.push(text))
      request.on("end", () => response.end())
    }).listen(port, "127.0.0.1")
    stops.push(async () => server.close())
    await expect.poll(() => received.join("")).toBe(await readFile(file, "utf8"))
    const metrics = await (await fetch(`http://127.0.0.1:${ports.control}/metrics`)).text()
    expect(metrics).toMatch(/sallyport_audit_dropped_total\{sink="file:.*"\} 0/)
  })
})
