import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer, type Server, type ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { PlanAnswer, StatusAnswer } from "../../runtime/control/api.ts"
import type { SealedPlan } from "../../runtime/plan/seal.ts"
import { folderWith, run } from "../cli/run.ts"
import { createDatabase, describePostgres, type TestDatabase } from "../postgres.ts"
import { copyEmbedded } from "../store/databases.ts"
import { eventually, freePorts, type SallyportProcess, start, startForTest } from "./sallyport-process.ts"

const token = "a-token-for-the-end-to-end-tests"

describePostgres("serve on PostgreSQL", () => {
  let folder = ""
  let database: TestDatabase
  let backend: Server
  let first: SallyportProcess
  let second: SallyportProcess
  let ports: readonly number[] = []
  /** Called with the answer to /slow, which the test ends. */
  let atBackend: (response: ServerResponse) => void = () => {}

  const env = (control: number): Record<string, string> => ({
    SALLYPORT_DATABASE_URL: database.url,
    SALLYPORT_CONTROL_TOKEN: token,
    SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
    SALLYPORT_CONTROL_URL: `http://127.0.0.1:${control}`,
    SALLYPORT_WHO: "tester",
  })
  const [controlA, controlB] = [() => ports[0] as number, () => ports[1] as number]
  const sallyport = (...argv: string[]) => run({ cwd: folder, env: env(controlA()) }, ...argv)
  const ask = (control: number, path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${control}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    })
  const ready = (control: number) =>
    eventually(async () => ((await fetch(`http://127.0.0.1:${control}/readyz`)).ok ? true : undefined))
  const gateway = (path: string) => fetch(`http://127.0.0.1:${ports[2]}${path}`)
  const write = (answer: string) =>
    writeFileSync(
      join(folder, "gateway.conf"),
      `gateway e2e { listen 127.0.0.1:${ports[2]}; trust none }
api status { path "/status"; auth none; GET "/" { respond 200 { body text "${answer}" } } }
api slow { path "/slow"; auth none; backend "http://127.0.0.1:${ports[3]}"; GET "/" }
`,
    )
  const answers = (text: string) =>
    eventually(async () => ((await (await gateway("/status")).text()) === text ? true : undefined))

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "sallyport-e2e-"))
    database = await createDatabase()
    ports = await freePorts(5)
    backend = createServer((_, response) => atBackend(response))
    await new Promise<void>((resolve) => backend.listen(ports[3], "127.0.0.1", resolve))
    write("one")
    first = start(folder, env(controlA()), "serve")
    second = start(folder, env(controlB()), "serve", "--only", "control")
  })

  afterAll(async () => {
    await Promise.all([first.stop("SIGKILL"), second.stop("SIGKILL")])
    backend.closeAllConnections()
    backend.close()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  test("is not ready on a database that was not migrated, and says why; it need not be started again", async () => {
    const answer = await eventually(() => fetch(`http://127.0.0.1:${controlA()}/readyz`))
    expect(answer.status).toBe(503)
    expect(await answer.text()).toContain("sallyport migrate")
    const migrated = await sallyport("migrate")
    expect(migrated).toMatchObject({ code: 0, out: expect.stringMatching(/PostgreSQL at .*: applied 001_/) })
    expect(await sallyport("migrate")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Nothing to do"),
    })
    await eventually(async () => {
      const { reasons } = (await (await fetch(`http://127.0.0.1:${controlA()}/readyz`)).json()) as {
        reasons: string[]
      }
      return reasons.join().includes("no plan was applied yet") ? true : undefined
    })
  })

  test("serve --config tells on such a database to migrate it", async () => {
    const fresh = await createDatabase()
    const own = { ...env(ports[4] as number), SALLYPORT_DATABASE_URL: fresh.url }
    const started = startForTest(folder, own, "serve", "--config", "gateway.conf")
    expect(await started.exited).toBe(1)
    expect(started.output.err).toMatch(
      /^error: the database does not have the schema of this version\nhelp: Run `sallyport migrate` once/,
    )
    await fresh.drop()
  })

  test("plan shows changes, apply makes them, then there are none", async () => {
    expect(await sallyport("plan")).toMatchObject({ code: 2, err: "" })
    expect(await sallyport("apply")).toMatchObject({ code: 3 })
    expect(await sallyport("apply", "--yes", "--allow", "opens")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Applied as serial 1."),
    })
    await answers("one")
    await ready(controlA())
    expect(await sallyport("plan")).toMatchObject({ code: 0, out: expect.stringContaining("No changes.") })
  })

  test("the other process follows, and status tells both", async () => {
    const status = await eventually(async () => {
      const both = (await (await ask(controlA(), "/v1/status")).json()) as StatusAnswer
      return both.processes.length === 2 && both.processes.every(({ serial }) => serial === 1)
        ? both
        : undefined
    })
    expect(status.processes.map(({ pid }) => pid).sort()).toEqual([first.child.pid, second.child.pid].sort())
    const shown = await sallyport("status")
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining("The newest plan is serial 1.") })
    expect(shown.out.match(/up to date/g)).toHaveLength(2)
  })

  test("a sealed plan is refused as stale once another was applied; of two at once one wins", async () => {
    for (const name of ["a", "b", "c"]) {
      write(name)
      expect(await sallyport("plan", "--out", `${name}.json`)).toMatchObject({ code: 2 })
    }
    const sealed = (name: string) => JSON.parse(readFileSync(join(folder, name), "utf8")) as SealedPlan
    const author = { who: "tester", commit: null, message: null }
    const put = (control: number, name: string) =>
      ask(control, "/v1/plan", {
        method: "PUT",
        body: JSON.stringify({
          plan: sealed(name).plan,
          base: sealed(name).seal.base?.serial ?? null,
          author,
        }),
      })
    const both = await Promise.all([put(controlA(), "a.json"), put(controlB(), "b.json")])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
    expect(await sallyport("apply", "c.json", "--yes", "--allow", "opens")).toMatchObject({
      code: 3,
      err: expect.stringContaining("the plan is stale"),
    })
    await answers(both[0]?.status === 200 ? "a" : "b")
  })

  test("rollback makes an earlier plan the newest, and history tells it all", async () => {
    // Said to the other process: the first one, which has the gateway, follows.
    expect(await run({ cwd: folder, env: env(controlB()) }, "rollback", "1", "--yes")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Applied as serial 3."),
    })
    await answers("one")
    const { out } = await sallyport("history", "--format", "json")
    const plans = JSON.parse(out) as { serial: number; who: string; digest: string }[]
    expect(plans.map(({ serial, who }) => [serial, who])).toEqual([
      [3, "tester"],
      [2, "tester"],
      [1, "tester"],
    ])
    expect(plans[0]?.digest).toBe(plans[2]?.digest)
  })

  test("a plan that cannot be provisioned is refused with its place, and the previous plan stays in use", async () => {
    const text = readFileSync(join(folder, "gateway.conf"), "utf8")
    writeFileSync(
      join(folder, "gateway.conf"),
      `${text}value who = env(E2E_NOT_SET)\nvalue what = env(E2E_NEITHER)
api more { path "/more"; auth none; GET "/" { respond 200 { body text "\${who} \${what}" } } }\n`,
    )
    const refused = await sallyport("apply", "--yes", "--allow", "opens")
    expect(refused.code).toBe(1)
    expect(refused.err).toContain("E2E_NOT_SET")
    expect(refused.err).toContain("E2E_NEITHER")
    await answers("one")
    expect(((await (await ask(controlA(), "/v1/plan")).json()) as PlanAnswer).record.serial).toBe(3)
  })

  test("a signal lets requests under way end, exits 0, and a restart serves the last plan", async () => {
    const arrived = new Promise<ServerResponse>((resolve) => {
      atBackend = resolve
    })
    const slow = gateway("/slow")
    const response = await arrived
    const ended = first.stop("SIGTERM")
    await eventually(async () => ((await gateway("/status").catch(() => true)) === true ? true : undefined))
    response.end("slow but sure")
    expect(await (await slow).text()).toBe("slow but sure")
    expect(await ended).toBe(0)
    expect(first.output.err).toBe("")
    first = start(folder, env(controlA()), "serve")
    await ready(controlA())
    expect(await (await gateway("/status")).text()).toBe("one")
  })

  test("a port in use is a sentence and exit code 1", async () => {
    const third = startForTest(folder, env(controlA()), "serve", "--only", "control")
    expect(await third.exited).toBe(1)
    expect(third.output.err).toMatch(
      new RegExp(`error: cannot listen on 127\\.0\\.0\\.1:${controlA()} .*in use\nhelp: `),
    )
  })

  test("a process without the role control tells its health at the same address, and commands who they have asked", async () => {
    const at = ports[4] as number
    const third = startForTest(folder, env(at), "serve", "--only", "authz")
    await ready(at)
    expect(await (await fetch(`http://127.0.0.1:${at}/healthz`)).json()).toEqual({ status: "ok" })
    expect(await (await fetch(`http://127.0.0.1:${at}/metrics`)).text()).toContain("process_")
    for (const command of [["status"], ["plan"], ["apply", "--yes", "--allow", "opens"]])
      expect(await run({ cwd: folder, env: env(at) }, ...command)).toMatchObject({
        code: 1,
        err: expect.stringContaining("started without the role `control`"),
      })
    expect(await third.stop()).toBe(0)
  })

  test("--plan serves a file; without a token in the environment one is made, for this user only", async () => {
    const own = startForTest(
      folder,
      { ...env(ports[4] as number), SALLYPORT_CONTROL_TOKEN: "" },
      "serve",
      "--plan",
      "a.json",
      "--only",
      "control",
    )
    await ready(ports[4] as number)
    const path = join(folder, ".sallyport/control.token")
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const made = readFileSync(path, "utf8").trim()
    const asked = await fetch(`http://127.0.0.1:${ports[4]}/v1/status`, {
      headers: { authorization: `Bearer ${made}` },
    })
    expect(asked.status).toBe(200)
    expect(own.output.out).toContain(".sallyport/control.token")
    expect(own.output.out).not.toContain(made)
    expect(await own.stop()).toBe(0)
    const wrong = await run({ cwd: folder, env: env(ports[4] as number) }, "serve", "--plan", "gateway.conf")
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("it is not JSON") })
  })
})

test("serve --config compiles and serves on the embedded database; apply changes what is served", async () => {
  const folder = folderWith({})
  mkdirSync(join(folder, ".sallyport"), { mode: 0o700 })
  await copyEmbedded(join(folder, ".sallyport"))
  const [gateway, control, engine] = await freePorts(3)
  const write = (text: string) =>
    writeFileSync(
      join(folder, "gateway.conf"),
      `gateway own { listen 127.0.0.1:${gateway}; trust none }
authz { listen 127.0.0.1:${engine}; store docs { model "docs.fga" } }
api status { path "/status"; auth none; GET "/" { respond 200 { body text "${text}" } } }
`,
    )
  writeFileSync(
    join(folder, "docs.fga"),
    "model\n  schema 1.1\ntype user\ntype doc\n  relations\n    define viewer: [user, user:*]\n",
  )
  write("one")
  const env = {
    SALLYPORT_DATABASE_URL: "",
    SALLYPORT_CONTROL_TOKEN: token,
    SALLYPORT_CONTROL_LISTEN: `127.0.0.1:${control}`,
    SALLYPORT_CONTROL_URL: `http://127.0.0.1:${control}`,
  }
  const status = async () => (await fetch(`http://127.0.0.1:${gateway}/status`)).text()
  const served = startForTest(folder, env, "serve", "--config", "gateway.conf")
  await served.printed(/gateway\.conf is not watched: restart, or run `sallyport apply`, after changes/)
  expect((await fetch(`http://127.0.0.1:${control}/readyz`)).status).toBe(200)
  expect(await status()).toBe("one")
  const sallyport = (...words: string[]) => run({ cwd: folder, env }, ...words)
  const asked = async (...words: string[]) => {
    const { code, out, err } = await sallyport(...words)
    expect({ code, err }).toEqual({ code: 0, err: "" })
    return out
  }
  await asked("tuple", "write", "user:ann", "viewer", "doc:1")
  await asked("tuple", "write", "user:*", "viewer", "doc:2")
  expect(await asked("list-objects", "user:ann", "viewer", "doc")).toBe("doc:1\ndoc:2\n")
  expect(await asked("list-users", "user", "viewer", "doc:2")).toBe("user:*\n")
  expect(await sallyport("list-objects", "user:ann", "reader", "doc")).toMatchObject({
    code: 1,
    err: expect.stringContaining("reader"),
  })
  write("two")
  expect(await sallyport("apply", "--yes", "--allow", "opens")).toMatchObject({ code: 0 })
  expect(await status()).toBe("two")
  expect(await served.stop()).toBe(0)
})
