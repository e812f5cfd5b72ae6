import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import type { CodeLens } from "vscode-languageserver"
import { openEvents } from "../authz/event-client.ts"
import { run } from "../cli/run.ts"
import { LspClient } from "../lsp/client.ts"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, control, freePorts, planOf, start, token } from "./project.ts"

const tuple = (user: string) => ({ user: `user:${user}`, relation: "viewer", object: "order:1" })

const gateway = `gateway shop { listen 127.0.0.1:8000 }
authz { listen 127.0.0.1:8081; store acme { model "acme.fga" } }
backend orders { url "http://127.0.0.1:9001" }
api shop {
  path "/shop"
  auth none
  backend orders
  GET "/" { require viewer of "order:1" for "user:\${request.ip}" }
}
`

/** An editor asks the engine, in which eve is the only viewer of order 1. */
async function expectAnswersInEditor(env: Readonly<Record<string, string>>): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-asking-")))
  const model = "model\n  schema 1.1\ntype user\ntype order\n  relations\n    define viewer: [user]\n"
  const check = (user: string) => `{ user: ${user}, object: order:1, assertions: { viewer: true } }`
  const tests = `model_file: acme.fga\ntests:\n  - check:\n      - ${check("user:eve")}\n      - ${check("user:dan")}\n`
  writeFileSync(join(root, "gateway.conf"), gateway)
  writeFileSync(join(root, "acme.fga"), model)
  writeFileSync(join(root, "acme.fga.yaml"), tests)
  const client = await LspClient.start(root, env)
  const lenses = async (path: string) =>
    (await client.ask<CodeLens[]>("codeLens", path)).filter(({ command }) => command?.command !== "")
  const titles = async (path: string) => {
    for (const lens of await lenses(path)) await client.click(lens)
    return (await lenses(path)).map(({ command }) => command?.title)
  }
  expect(await titles("acme.fga.yaml")).toEqual([
    "Running engine, viewer: allowed",
    "Running engine, viewer: denied",
  ])
  expect(await titles("gateway.conf")).toEqual(["Running engine, viewer of order:1: user:eve"])
  await client.end()
  rmSync(root, { recursive: true })
}

describePostgres("watching a store of a running process", () => {
  it("goes through the control listener, ends at once with the process, and goes on at the next", async () => {
    const { url, drop } = await createMigratedDatabase()
    const ports = await freePorts()
    // Longer than a test may take: nothing may wait for it.
    const first = await start(url, ports, { graceMs: 600_000 })
    await first.apply(planOf(ports), author)
    const path = "/authz/stores/acme/watch"
    const authorization = `Bearer ${token}`
    const client = await openEvents(`http://127.0.0.1:${ports.control}${path}`, { authorization })
    expect(client.answer.headers["content-type"]).toBe("text/event-stream")
    const write = (user: string) =>
      control(ports, "POST", "/authz/stores/acme/write", { writes: { tuple_keys: [tuple(user)] } })
    await write("cid")
    await expect.poll(() => client.events.length).toBe(1)
    const waiting = control(ports, "GET", `${path}?after=${client.lastId()}&wait=60s`)
    await write("dan")
    await expect.poll(() => client.events.length).toBe(2)
    expect((await waiting).body).toMatchObject({ changes: [{ tuple_key: tuple("dan") }] })
    const engine = `http://127.0.0.1:${ports.authz}/stores/acme/watch`
    const held = fetch(`${engine}?after=${client.lastId()}&wait=60s`).then((answer) => answer.json())
    // Requests on another connection arrive soon after each other: by now the process has the first.
    for (let at = 0; at < 5; at++) await fetch(`${engine}?wait=0s`).then((answer) => answer.text())
    const metrics = await fetch(`http://127.0.0.1:${ports.control}/metrics`)
    expect(await metrics.text()).toContain("\nsallyport_watchers 2\n")
    await first.close()
    await client.ended
    expect(await held).toEqual({ changes: [], continuation_token: client.lastId() })
    const second = await start(url, ports)
    await expect.poll(async () => (await control(ports, "GET", "/authz/stores")).status).toBe(200)
    await write("eve")
    const next = await control(ports, "GET", `${path}?after=${client.lastId()}`)
    expect(next.body).toMatchObject({ changes: [{ tuple_key: tuple("eve") }] })
    await second.close()
    await drop()
  })

  it("prints changes in a terminal, as text and as JSON", async () => {
    const { url, drop } = await createMigratedDatabase()
    const ports = await freePorts()
    const runtime = await start(url, ports)
    await runtime.apply(planOf(ports), author)
    const poll = (query: string) => control(ports, "GET", `/authz/stores/acme/watch?${query}`)
    const after = String((await poll("wait=0s")).body["continuation_token"])
    await control(ports, "POST", "/authz/stores/acme/write", { writes: { tuple_keys: [tuple("eve")] } })
    const next = await poll(`after=${after}`)
    const env = {
      SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`,
      SALLYPORT_CONTROL_TOKEN: token,
    }
    const printed = await run({ cwd: process.cwd(), env }, "watch", "--store", "acme", "--after", after)
    expect(printed).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d{4}-\d\d-\d\dT\S+Z {2}written {2}user:eve viewer order:1\n$/),
    })
    const json = await run({ cwd: process.cwd(), env }, "watch", "--json", "--after", after)
    expect(
      json.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      {
        tuple_key: { ...tuple("eve"), condition: null },
        operation: "TUPLE_OPERATION_WRITE",
        timestamp: expect.any(String),
      },
      { token: next.body["continuation_token"] },
    ])
    await expectAnswersInEditor(env)
    const wrong = await run({ cwd: process.cwd(), env }, "watch", "--after", "x")
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("Invalid continuation token") })
    await runtime.close()
    await drop()
  })
})
