import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { Runtime } from "../../runtime/process/settings.ts"
import { run } from "../cli/run.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { control, freePorts, type Ports, planOf, start, token } from "./project.ts"

const old = "define editor: [user]\n    define viewer: [user]"
const wider = "define editor: [user]\n    define viewer: [user] or editor"

describePostgres("people of a plan, over the running store", () => {
  let ports: Ports
  let runtime: Runtime
  let drop: () => Promise<void>
  let cwd: string
  const sallyport = (...words: string[]) => {
    const env = { SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`, SALLYPORT_CONTROL_TOKEN: token }
    return run({ cwd, env }, ...words)
  }
  const write = (relations: string) =>
    writeFileSync(
      join(cwd, "acme.fga"),
      `model\n  schema 1.1\ntype user\ntype order\n  relations\n    ${relations}\n`,
    )

  beforeAll(async () => {
    const database = await createMigratedDatabase()
    drop = database.drop
    ports = await freePorts()
    runtime = await start(database.url, ports)
    cwd = mkdtempSync(join(tmpdir(), "sallyport-people-"))
    const text = `gateway test { listen 127.0.0.1:${ports.gateway} }
authz { listen 127.0.0.1:${ports.authz}; store acme { model "acme.fga" } }
api hello { path "/hello"; auth none; GET "/" { respond 200 { body text "hello" } } }`
    writeFileSync(join(cwd, "gateway.conf"), text)
    write(old)
    expect(await sallyport("apply", "--yes")).toMatchObject({ code: 0 })
    const keys = ["ann", "bob"].map((name) => ({
      user: `user:${name}`,
      relation: "editor",
      object: "order:1",
    }))
    const written = await control(ports, "POST", "/authz/stores/acme/write", { writes: { tuple_keys: keys } })
    expect(written.status).toBe(200)
    write(wider)
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
    rmSync(cwd, { recursive: true, force: true })
  })

  it("are told by plan, at one revision", async () => {
    const { out, err, code } = await sallyport("plan", "--full", "rows.jsonl")
    expect(err).toBe("")
    expect(code).toBe(2)
    expect(out).toContain("2 tuples that the change concerns, of the running store at revision 1")
    expect(out).toContain("order#viewer  acme.fga:7")
    expect(out).toContain("People of acme: 2 gains; 2 users with gains, 0 with losses; 1 object.")
    const rows = readFileSync(join(cwd, "rows.jsonl"), "utf8").trim().split("\n")
    expect(rows.map((row) => JSON.parse(row).user as string).sort()).toEqual(["user:ann", "user:bob"])
    expect((await sallyport("plan", "--no-people")).out).not.toContain("People of")
    expect((await sallyport("plan", "--store", "other")).out).not.toContain("People of")
  })

  it("are compared once at a time, and given up when the caller is gone", async () => {
    const ask = (signal?: AbortSignal) =>
      fetch(`http://127.0.0.1:${ports.control}/v1/plan/impact`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ plan: planOf(ports, "hello", "", wider) }),
        ...(signal === undefined ? {} : { signal }),
      })
    const gone = new AbortController()
    const first = await ask(gone.signal)
    gone.abort()
    await first.text().catch(() => undefined)
    await expect
      .poll(async () => {
        const answer = await ask()
        return answer.status === 200 ? answer.text() : ""
      })
      .toContain('{"end":true}\n')
  })

  it("are those of the plan that is running, and of no other", async () => {
    const ask = (more: object) =>
      control(ports, "POST", "/v1/plan/impact", { plan: planOf(ports, "hello", "", wider), ...more })
    const { record } = (await control(ports, "GET", "/v1/plan")).body as {
      record: { serial: number; stamp: string }
    }
    const { serial, stamp } = record
    expect(await ask({ base: serial + 1 })).toMatchObject({
      status: 412,
      body: { type: "urn:sallyport:control:plan-stale", current: { serial } },
    })
    expect((await ask({ base: serial, baseStamp: "another" })).status).toBe(412)
    expect((await ask({ base: null })).status).toBe(412)
    const response = await fetch(`http://127.0.0.1:${ports.control}/v1/plan/impact`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ plan: planOf(ports, "hello", "", wider), base: serial, baseStamp: stamp }),
    })
    const lines = (await response.text()).trim().split("\n")
    expect(JSON.parse(lines[0] ?? "")).toEqual({ base: { serial, stamp } })
    expect(lines.at(-1)).toBe('{"end":true}')
  })

  it("need a plan that can be read", async () => {
    const refused = await control(ports, "POST", "/v1/plan/impact", { plan: { version: 1 } })
    expect(refused).toMatchObject({ status: 422, body: { type: "urn:sallyport:control:plan-invalid" } })
  })
})
