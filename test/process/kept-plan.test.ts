import { randomUUID } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { chmod, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Client } from "pg"
import { afterEach, expect, test } from "vitest"
import { migrateDatabase } from "../../runtime/main.ts"
import type { RuntimeSettings } from "../../runtime/process/settings.ts"
import { createLog } from "../../runtime/telemetry/log.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { freePort } from "../support/free-port.ts"
import { reduced, sampled } from "../support/random-run.ts"
import { startThrowAwayPostgres } from "../support/throw-away-postgres.ts"
import { author, call, control, freePorts, keyOf, type Ports, planOf, start } from "./project.ts"

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const log = createLog({ stream: { write: () => undefined } })

async function running(url: string, ports: Ports, more: Partial<RuntimeSettings>) {
  const runtime = await start(url, ports, more)
  stops.push(() => runtime.close())
  return runtime
}

/** Where a process makes its folder. Removed after the test, when all its processes have ended. */
function newSpoolFolder(): string {
  const path = join(tmpdir(), `sallyport-kept-${randomUUID()}`)
  stops.push(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A folder in which a process has served `plans` of this database, one after another, and ended. */
async function servedBefore(url: string, ports: Ports, plans: readonly string[] = ["one"]) {
  const spoolFolder = newSpoolFolder()
  const runtime = await start(url, ports, { spoolFolder })
  for (const greeting of plans)
    expect((await runtime.apply(planOf(ports, greeting), author)).kind).toBe("done")
  await runtime.close()
  const folder = join(spoolFolder, "plan")
  const file = () => join(folder, readdirSync(folder)[0] ?? "")
  return { spoolFolder, folder, file }
}

async function migrated() {
  const { url, drop } = await createMigratedDatabase()
  stops.push(drop)
  return url
}

async function sql(url: string, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}

const ready = async (ports: Ports) => (await control(ports, "GET", "/readyz")).status
async function own(ports: Ports): Promise<{ state: string; serial: number | null; reasons: string[] }> {
  const { body } = await control(ports, "GET", "/v1/status")
  return (body["processes"] as never[])[0] as never
}
const metrics = async (ports: Ports) => String((await control(ports, "GET", "/metrics")).body["text"])

describePostgres("a database that is away when a process starts", () => {
  test("the last plan serves what needs no database, is told, and the database is taken up", async () => {
    const first = await startThrowAwayPostgres({ migrated: true })
    let stopServer = () => first.stop()
    stops.push(() => stopServer())
    const url = first.url("postgres")
    const ports = await freePorts()
    const { spoolFolder } = await servedBefore(url, ports, ["one", "two"])
    await first.stop()
    const { lines } = await running(url, ports, { spoolFolder })
    expect(await call(ports, "/hello")).toBe("two")
    expect(await call(ports, "/order/1", "ann")).toBe("503")
    // The engine listens, and knows no tuple.
    expect((await fetch(`http://127.0.0.1:${ports.authz}/healthz`)).status).toBe(503)
    const told = await own(ports)
    expect(told).toMatchObject({ state: "degraded", serial: 2 })
    expect(told.reasons.join("\n")).toMatch(/plan 2 is served from disk, where it was saved at \d{4}-.*Z/)
    expect(told.reasons.join("\n")).toContain("the database is unavailable")
    const answer = await control(ports, "GET", "/readyz")
    expect(answer.status).toBe(503)
    expect(JSON.stringify(answer.body)).toContain("plan 2 is served from disk, where it was saved")
    expect(await metrics(ports)).toMatch(/^sallyport_kept_plan_age_seconds [\d.]+$/m)
    expect(lines.filter((line) => line.includes("kept on disk"))).toHaveLength(1)

    // What was in the first server is gone: to a new one nothing was ever applied. The plan serves on until one is.
    const second = await startThrowAwayPostgres({ migrated: true, port: first.port })
    stopServer = () => second.stop()
    await expect.poll(() => control(ports, "GET", "/v1/plan").then(({ status }) => status)).toBe(404)
    expect(await call(ports, "/hello")).toBe("two")
    expect(
      await control(ports, "PUT", "/v1/plan", { plan: planOf(ports, "three"), base: null, author }),
    ).toMatchObject({ status: 200 })
    expect(await call(ports, "/hello")).toBe("three")
    await expect.poll(() => ready(ports)).toBe(200)
    const lost = "the database lost commits of plans: this process holds serial 2, the database has no plan"
    await expect.poll(() => own(ports)).toMatchObject({ state: "degraded", serial: 1, reasons: [lost] })
    expect(await metrics(ports)).not.toMatch(/^sallyport_kept_plan_age_seconds \d/m)
  })

  test("without a plan on disk health and control say why nothing is served, and what is applied is served once it is back", async () => {
    const server = await startThrowAwayPostgres()
    let stopServer = () => server.stop()
    stops.push(() => stopServer())
    const url = server.url("postgres")
    await server.stop()
    const ports = await freePorts()
    await running(url, ports, {})
    expect((await control(ports, "GET", "/healthz")).status).toBe(200)
    const { status, body } = await control(ports, "GET", "/readyz")
    expect(status).toBe(503)
    expect(JSON.stringify(body)).toContain("there is no plan on disk")
    await expect(call(ports, "/hello")).rejects.toThrow()
    const back = await startThrowAwayPostgres({ migrated: true, port: server.port })
    stopServer = () => back.stop()
    const put = () => control(ports, "PUT", "/v1/plan", { plan: planOf(ports, "new"), base: null, author })
    await expect.poll(async () => (await put()).status).toBe(200)
    expect(await call(ports, "/hello")).toBe("new")
    await expect.poll(() => ready(ports)).toBe(200)
  })

  const spoiled: [string, (file: string) => unknown, string][] = [
    ["cut", (file) => writeFileSync(file, readFileSync(file).subarray(0, 500)), "its digest does not match"],
    [
      "one byte changed",
      (file) => writeFileSync(file, readFileSync(file, "utf8").replace("hello", "jello")),
      "its digest does not match",
    ],
    ["empty", (file) => writeFileSync(file, ""), "its digest does not match"],
    ["of another format", (file) => rewrite(file, { format: 0 }), "another version of Sallyport wrote it"],
    ["with a plan of an older format", (file) => rewrite(file, { plan: { format: 0 } }), "plan format 0"],
    ["that other users may write", (file) => chmod(file, 0o666), "other users may write it"],
  ]
  test.each(reduced(spoiled.slice(-2), spoiled))(
    "a file that is %s serves nothing and is told",
    async (_, spoil, reason) => {
      const url = await migrated()
      const ports = await freePorts()
      const { spoolFolder, file } = await servedBefore(url, ports)
      await spoil(file())
      await sql(url, "update sallyport.plans set plan = '{'")
      const { lines } = await running(url, ports, { spoolFolder })
      await expect(call(ports, "/hello")).rejects.toThrow()
      await expect.poll(async () => (await own(ports)).reasons.join()).toContain(reason)
      expect(lines.filter((line) => line.includes(reason))).toHaveLength(1)
    },
  )
})

/** The file with some of its content exchanged, and a digest that fits. */
async function rewrite(file: string, change: object): Promise<void> {
  const { sealText } = await import("../../runtime/process/own-file.ts")
  const { plan, ...body } = JSON.parse(readFileSync(file, "utf8").split("\n")[1] as string)
  const next = { ...body, ...change, plan: { ...plan, ...((change as { plan?: object }).plan ?? {}) } }
  writeFileSync(file, sealText(JSON.stringify(next)))
}

describePostgres("a plan row that cannot be read", () => {
  test.each(sampled(["{", "", "[]"], 1))(
    "%j: the last plan serves, is told, and the row is taken up when it is mended",
    async (broken) => {
      const url = await migrated()
      const ports = await freePorts()
      const { spoolFolder } = await servedBefore(url, ports)
      const [row] = (await sql(url, "select plan from sallyport.plans")) as { plan: string }[]
      await sql(url, "update sallyport.plans set plan = $1", [broken])
      await running(url, ports, { spoolFolder })
      expect(await call(ports, "/hello")).toBe("one")
      const reasons = async () => (await own(ports)).reasons.join("\n")
      await expect.poll(reasons).toContain("plan 1 is served from disk, where it was saved")
      expect(await reasons()).toContain(
        "plan 1: the plan was stored by another version of Sallyport, or changed since",
      )
      expect((await own(ports)).state).toBe("degraded")
      await sql(url, "update sallyport.plans set plan = $1", [row?.plan])
      await expect.poll(async () => (await own(ports)).state).toBe("active")
      expect(await call(ports, "/order/1", "ann")).toBe("403")
    },
  )

  test("without a plan on disk it is served as soon as it is mended", async () => {
    const url = await migrated()
    const ports = await freePorts()
    await servedBefore(url, ports)
    const [row] = (await sql(url, "select plan from sallyport.plans")) as { plan: string }[]
    await sql(url, "update sallyport.plans set plan = '{'")
    await running(url, ports, {})
    expect(await ready(ports)).toBe(503)
    await sql(url, "update sallyport.plans set plan = $1", [row?.plan])
    await expect.poll(() => ready(ports)).toBe(200)
    expect(await call(ports, "/hello")).toBe("one")
  })

  test("is mended by applying the same text again; it is not a plan to roll back to", async () => {
    const url = await migrated()
    const ports = await freePorts()
    const { spoolFolder } = await servedBefore(url, ports)
    await sql(url, "update sallyport.plans set plan = '{'")
    await running(url, ports, { spoolFolder })
    expect(await control(ports, "POST", "/v1/rollback", { serial: 1, base: 1, author })).toMatchObject({
      status: 422,
    })
    expect(
      await control(ports, "PUT", "/v1/plan", { plan: planOf(ports, "one"), base: 1, author }),
    ).toMatchObject({
      status: 200,
      body: { applied: true, record: { serial: 2 } },
    })
    await expect.poll(() => own(ports)).toMatchObject({ state: "active", serial: 2 })
  })
})

describePostgres("the plan on disk", () => {
  test("is one file of the newest plan, for its owner alone, without secrets, and can be turned off", async () => {
    const url = await migrated()
    const ports = await freePorts()
    const { spoolFolder, folder, file } = await servedBefore(url, ports, ["one", "two"])
    expect(readdirSync(folder)).toHaveLength(1)
    expect([statSync(file()).mode & 0o777, statSync(folder).mode & 0o777]).toEqual([0o600, 0o700])
    const text = readFileSync(file(), "utf8")
    expect(text).toContain("two")
    for (const name of ["ann", "bob"]) expect(text).not.toContain(keyOf(name))
    await sql(url, "update sallyport.plans set plan = '{'")
    await running(url, ports, { spoolFolder, keepPlan: false })
    await expect(call(ports, "/hello")).rejects.toThrow()
    expect(JSON.stringify((await control(ports, "GET", "/v1/status")).body)).not.toContain("kept on disk")
  })

  test("is of one database: another one has its own", async () => {
    const ports = await freePorts()
    const { spoolFolder, folder } = await servedBefore(await migrated(), ports)
    await running(await migrated(), ports, { spoolFolder })
    await expect(call(ports, "/hello")).rejects.toThrow()
    expect(readdirSync(folder)).toHaveLength(1)
  })

  test("is of all servers that a URL names, in any order, and of one schema", async () => {
    const url = await migrated()
    const ports = await freePorts()
    const nobody = await freePort()
    const hosts = (text: string) => url.replace(/@[^/]+/, `@${text}`)
    const { host } = new URL(url)
    const one = hosts(`${host},127.0.0.1:${nobody}`)
    const { spoolFolder, folder } = await servedBefore(one, ports)
    await sql(url, "update sallyport.plans set plan = '{'")
    const { close } = await running(hosts(`127.0.0.1:${nobody},${host}`), ports, { spoolFolder })
    expect(await call(ports, "/hello")).toBe("one")
    await close()
    const database = { url, schema: "another" }
    await migrateDatabase({ database, log })
    await running(url, ports, { spoolFolder, database })
    await expect(call(ports, "/hello")).rejects.toThrow()
    expect(readdirSync(folder)).toHaveLength(1)
  })

  test("is not served where the database says that there is none", async () => {
    const url = await migrated()
    const ports = await freePorts()
    const { spoolFolder } = await servedBefore(url, ports)
    await sql(url, "delete from sallyport.plans")
    await running(url, ports, { spoolFolder })
    await expect(call(ports, "/hello")).rejects.toThrow()
  })

  test("is shared by the processes of a machine: whole whoever wrote it last", async () => {
    const url = await migrated()
    const ports = await freePorts()
    const other = { ...(await freePorts()), gateway: ports.gateway, authz: ports.authz }
    const { spoolFolder, folder, file } = await servedBefore(url, ports)
    const operator = await start(url, other, { spoolFolder }, ["control"])
    const gateway = await start(url, ports, { spoolFolder })
    for (const greeting of ["two", "three", "four"]) await operator.apply(planOf(ports, greeting), author)
    await expect.poll(() => call(ports, "/hello")).toBe("four")
    await Promise.all([operator.close(), gateway.close()])
    expect(readdirSync(folder)).toHaveLength(1)
    expect(existsSync(`${file()}.tmp`)).toBe(false)
    await sql(url, "update sallyport.plans set plan = '{'")
    await running(url, ports, { spoolFolder })
    expect(await call(ports, "/hello")).toBe("four")
  })

  test("a folder that cannot be written is told once and keeps nobody from serving", async () => {
    const url = await migrated()
    const ports = await freePorts()
    const spoolFolder = newSpoolFolder()
    writeFileSync(spoolFolder, "a file and no folder")
    const { lines, ...runtime } = await running(url, ports, { spoolFolder })
    await runtime.apply(planOf(ports, "one"), author)
    await runtime.apply(planOf(ports, "two"), author)
    expect(await call(ports, "/hello")).toBe("two")
    // Only closing waits for the disk.
    await runtime.close()
    expect(lines.filter((line) => line.includes("could not be saved on disk"))).toHaveLength(1)
  })
})
