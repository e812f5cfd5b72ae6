import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import type { Runtime } from "../../runtime/process/settings.ts"
import { run } from "../cli/run.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { control, freePorts, type Ports, start, token } from "./project.ts"

const old = ["define viewer: [user]", "define can_print: viewer"]
const both = ["define viewer: [user]", "define reader: [user] or viewer", "define can_print: reader"]
const next = ["define reader: [user]", "define can_print: reader"]

describePostgres("a relation is renamed in a running process", () => {
  let ports: Ports
  let runtime: Runtime
  let drop: () => Promise<void>
  let cwd: string
  const sallyport = (...words: string[]) => {
    const env = { SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`, SALLYPORT_CONTROL_TOKEN: token }
    return run({ cwd, env }, ...words)
  }
  const write = (relations: readonly string[], move = "") => {
    writeFileSync(
      join(cwd, "acme.fga"),
      `model\n  schema 1.1\ntype user\ntype order\n  relations\n    ${relations.join("\n    ")}\n`,
    )
    writeFileSync(
      join(cwd, "gateway.conf"),
      `gateway test { listen 127.0.0.1:${ports.gateway} }
authz { listen 127.0.0.1:${ports.authz}; store acme { model "acme.fga"${move} } }
api hello { path "/hello"; auth none; GET "/" { respond 200 { body text "hello" } } }`,
    )
  }
  const apply = () => sallyport("apply", "--yes", "--allow", "opens,closes,breaking")
  const engine = (path: string, body: object) => control(ports, "POST", `/authz/stores/acme/${path}`, body)
  const can = async (user: string, relation: string) => {
    const answer = await engine("check", { tuple_key: { user, relation, object: "order:1" } })
    return answer.status === 200 ? (answer.body as { allowed: boolean }).allowed : answer.status
  }

  beforeAll(async () => {
    const database = await createMigratedDatabase()
    drop = database.drop
    ports = await freePorts()
    runtime = await start(database.url, ports)
    cwd = mkdtempSync(join(tmpdir(), "sallyport-moves-"))
    write(old)
    expect(await apply()).toMatchObject({ code: 0, err: "" })
    const keys = [{ user: "user:ann", relation: "viewer", object: "order:1" }]
    expect((await engine("write", { writes: { tuple_keys: keys } })).status).toBe(200)
  })
  afterAll(async () => {
    await runtime.close()
    await drop()
    rmSync(cwd, { recursive: true, force: true })
  })

  it("in three steps, of which a later one is refused before its time", async () => {
    expect((await sallyport("model", "moves")).out).toBe("no tuples move\n")
    expect(await sallyport("model", "finish", "acme", "--yes")).toMatchObject({ code: 1 })
    write(both, '; move "order#viewer" to "order#reader"')
    expect((await sallyport("plan")).out).toContain(
      "store acme, order#viewer to order#reader: copies 1 tuples after `apply`; `sallyport model finish` deletes the 1 old ones",
    )
    expect(await apply()).toMatchObject({ code: 0 })
    expect(await can("user:ann", "reader")).toBe(true)
    write(next)
    // Whether the tuple is copied by now or not: a plan that comes too early names the move.
    const early = await apply()
    if (early.code !== 0) {
      expect(early.err).toContain("the tuples of `order#viewer` are still being copied to `order#reader`")
      expect(early.err).toContain("gateway.conf:2")
      const waited = await sallyport("model", "moves", "--wait")
      expect(waited.out).toContain("acme: order#viewer to order#reader\n  ready: both words are in step")
      expect(await apply()).toMatchObject({ code: 0 })
    }
    expect(await can("user:ann", "reader")).toBe(true)
    expect(await can("user:ann", "can_print")).toBe(true)
    expect(await can("user:ann", "viewer")).toBe(400)
    expect((await sallyport("model", "moves")).out).toContain("kept")
    expect(await sallyport("model", "finish", "acme", "--yes")).toMatchObject({ code: 0 })
    await sallyport("model", "moves", "--wait")
    expect((await sallyport("model", "moves")).out).toBe("no tuples move\n")
    const changes = await control(ports, "GET", "/authz/stores/acme/changes")
    expect(JSON.stringify(changes.body).match(/"operation":"TUPLE_OPERATION_\w+"/g)).toEqual([
      '"operation":"TUPLE_OPERATION_WRITE"',
      '"operation":"TUPLE_OPERATION_WRITE"',
      '"operation":"TUPLE_OPERATION_DELETE"',
    ])
  })
})
