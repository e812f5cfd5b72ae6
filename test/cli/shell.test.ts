import { spawn, spawnSync } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { modelText } from "../../compiler/model/model-text.ts"
import { createAccess } from "../../runtime/authz/access.ts"
import { type Served, serve } from "../authz/harness.ts"
import { openTestDatabase } from "../store/databases.ts"
import { projectRoot } from "../structure/tree.ts"
import { fakeControl, token } from "./fake-control.ts"
import { folderWith, run } from "./run.ts"

let served: Served
let close: () => Promise<void>

beforeAll(async () => {
  const database = await openTestDatabase()
  const opened = await serve(database, 10_000, { modelText })
  served = opened
  close = async () => {
    await opened.listeners.close()
    await database.close()
  }
  const tuple_keys = [
    { user: "user:ann", relation: "owner", object: "document:1" },
    { user: "team:a#member", relation: "viewer", object: "document:1" },
    { user: "user:bob", relation: "member", object: "team:a" },
    { user: "user:*", relation: "viewer", object: "folder:open" },
    { user: "folder:open", relation: "parent", object: "document:2" },
    {
      user: "user:gus",
      relation: "guest",
      object: "document:1",
      condition: { name: "in_office", context: { floor: 4 } },
    },
  ]
  expect((await served.call("POST", "/stores/acme/write", { writes: { tuple_keys } })).status).toBe(200)
})
afterAll(() => close())

let cwd = ""
beforeEach(() => {
  cwd = folderWith({})
})

const shell = (...argv: string[]) => run({ cwd }, "shell", "--url", served.base, ...argv)
const ask = async (line: string) => {
  const { code, out, err } = await shell("-c", line)
  const rows = out
    .split("\n")
    .filter(Boolean)
    .map((row) => JSON.parse(row))
  return { code, rows, err }
}
const text = async (line: string) => (await shell("--format", "text", "-c", line)).out

describe("one question", () => {
  test("check: an allow is 0, a denial 2, a refusal 1 with the API's code", async () => {
    expect(await ask("check user:ann viewer document:1")).toMatchObject({
      code: 0,
      err: "",
      rows: [{ user: "user:ann", allowed: true }],
    })
    expect(await ask("check user:cyd viewer document:1")).toMatchObject({
      code: 2,
      err: "",
      rows: [{ allowed: false }],
    })
    const refused = await ask("check user:cyd viewr document:1")
    expect(refused).toMatchObject({ code: 1, rows: [] })
    expect(refused.err).toMatch(/^error: relation 'document#viewr' not found.* \(\w+\)\n/)
  })

  test("with a context for conditions", async () => {
    expect(await ask('check user:gus guest document:1 {"city": "Bonn"}')).toMatchObject({ code: 0 })
    expect(await ask('check user:gus guest document:1 {"city": "Rome"}')).toMatchObject({ code: 2 })
    expect((await ask("check user:gus guest document:1")).err).toContain("city")
    expect((await ask('check user:gus guest document:1 {"city"')).err).toContain("the context is not JSON")
  })

  test("explain says why", async () => {
    const { rows } = await ask("explain user:bob viewer document:1")
    expect(rows[0]).toMatchObject({ allowed: true, explanation: expect.anything() })
    expect(await text("explain user:bob viewer document:1")).toMatch(
      /^allowed: user:bob has viewer on document:1\n[\s\S]*team:a/,
    )
    expect(await text("explain user:gus guest document:1")).toMatch(
      /^conditional: whether user:gus has guest on document:1 depends on the context\n[\s\S]*needs city/,
    )
  })

  test("lists", async () => {
    expect((await ask("list-objects user:bob viewer document")).rows).toEqual([
      { object: "document:1" },
      { object: "document:2" },
    ])
    expect((await ask("list-users user viewer document:1")).rows).toEqual([
      { user: "user:ann" },
      { user: "user:bob" },
    ])
    expect((await ask("list-users team#member viewer document:1")).rows).toEqual([{ user: "team:a#member" }])
    expect((await ask("list-users user viewer document:2")).rows).toEqual([{ user: "user:*" }])
    expect(await text("list-objects user:cyd owner document")).toBe("No objects.\n")
  })

  test("relations of a user on an object, and of many on many", async () => {
    const { rows } = await ask("list-relations user:ann document:1")
    expect(rows).toContainEqual({ relation: "owner" })
    expect(rows.find(({ relation }) => relation === "guest")).toEqual(undefined)
    const gus = await ask("list-relations user:gus document:1")
    expect(gus.rows.at(-1)).toMatchObject({
      relation: "guest",
      error: { message: expect.stringContaining("city") },
    })
    expect((await ask('list-relations user:gus document:1 {"city": "Bonn"}')).rows).toContainEqual({
      relation: "guest",
    })
    expect(await text("list-relations user:cyd document:9")).toBe("No relations.\n")
    expect(await text("matrix user:ann,team:a#member owner,viewer document:1,document:2")).toBe(
      [
        "USER           OBJECT      owner  viewer",
        "user:ann       document:1  yes    yes",
        "user:ann       document:2  -      yes",
        "team:a#member  document:1  -      yes",
        "team:a#member  document:2  -      -",
        "",
      ].join("\n"),
    )
    expect((await ask("matrix user:ann guest document:1,2")).rows).toEqual([
      { user: "user:ann", object: "document:1,2", relations: { guest: false } },
    ])
    expect((await ask("matrix user:gus guest document:1")).rows).toMatchObject([
      { relations: { guest: { error: { message: expect.stringContaining("city") } } } },
    ])
    expect(await ask("matrix user:ann owner")).toMatchObject({
      code: 1,
      err: expect.stringContaining("usage: matrix USER,…"),
    })
  })

  test("read, write, delete, changes", async () => {
    expect((await ask("read document:1")).rows).toHaveLength(3)
    expect((await ask("read user:ann - document:")).rows).toMatchObject([{ key: { relation: "owner" } }])
    expect((await ask("write user:eve owner document:9")).rows).toMatchObject([
      { written: { user: "user:eve" } },
    ])
    expect(await text('write user:eve guest document:9 with in_office {"floor": 5}')).toBe(
      "written: user:eve guest document:9\n",
    )
    const again = await ask("write user:eve owner document:9")
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining("(write_failed_due_to_invalid_input)"),
    })
    expect(await text("read document:9")).toMatch(
      /^USER {6}RELATION {2}OBJECT {6}CONDITION {14}WRITTEN\nuser:eve {2}guest {5}document:9 {2}in_office {"floor":5} {2}\S+\nuser:eve {2}owner {5}document:9 {2}- +\S+\n$/,
    )
    expect((await ask("delete user:eve owner document:9\ndelete user:eve guest document:9")).code).toBe(0)
    const { rows } = await ask("changes document")
    expect(rows.at(-1)).toMatchObject({
      operation: "TUPLE_OPERATION_DELETE",
      tuple_key: { object: "document:9" },
    })
    expect((await ask("changes team")).rows).toHaveLength(1)
    expect((await ask("changes since 2099-01-01T00:00:00Z")).rows).toEqual([])
    expect(await text("changes team")).toMatch(
      /^TIME +WHAT +USER +RELATION +OBJECT +CONDITION\n\S+ +write +user:bob +member +team:a +-\n$/,
    )
  })

  test("stores and models", async () => {
    const { rows } = await ask("stores")
    expect(rows).toMatchObject([{ name: "acme" }])
    expect((await ask(`use acme`)).rows[0].id).toBe(rows[0].id)
    expect((await ask("use nowhere")).err).toContain("there is no store nowhere")
    expect((await ask("model")).rows[0]).toMatchObject({ schema_version: "1.1" })
    expect(await text("model")).toMatch(/^model\n {2}schema 1\.1\n\ntype user\n/)
  })

  test("mistakes", async () => {
    expect((await ask("chek user:ann viewer document:1")).err).toBe(
      "error: unknown command `chek`; did you mean `check`?\nhelp: `help` lists all commands.\n",
    )
    expect((await ask("check user:ann viewer")).err).toContain(
      "usage: check USER RELATION OBJECT [{CONTEXT}]",
    )
    expect((await ask('check "user:ann viewer document:1')).err).toContain("a quote is not closed")
    expect((await ask("more")).err).toContain("there are no more rows")
    expect((await ask("help check")).rows[0][0].usage).toBe("check USER RELATION OBJECT [{CONTEXT}]")
  })
})

test("lines of a pipe: an answer a line, all are run, and the worst is the exit code", async () => {
  const lines = ["# questions", "", "check user:ann viewer document:1", "check user:cyd viewer document:1"]
  const denied = await run({ cwd, input: lines }, "shell", "--url", served.base, "--store", "acme")
  expect(denied.code).toBe(2)
  expect(
    denied.out
      .split("\n")
      .filter(Boolean)
      .map((row) => JSON.parse(row).allowed),
  ).toEqual([true, false])
  const input = ["check user:ann nothing document:1", ...lines, "exit", "stores"]
  const failed = await run({ cwd, input }, "shell", "--url", served.base)
  expect(failed).toMatchObject({ code: 1, out: denied.out })
  expect(failed.err).toMatch(/^error: line 1: relation 'document#nothing' not found/)
})

test("a table shows a page, and `more` the next", async () => {
  const tuple_keys = Array.from({ length: 100 }, (_, at) => ({
    user: `user:u${at}`,
    relation: "member",
    object: "team:many",
  }))
  await served.call("POST", "/stores/acme/write", { writes: { tuple_keys } })
  await served.call("POST", "/stores/acme/write", {
    writes: { tuple_keys: [{ user: "user:last", relation: "member", object: "team:many" }] },
  })
  const out = await text("read team:many\nmore")
  expect(out.split("\n").filter((line) => line.startsWith("user:"))).toHaveLength(101)
  expect(out).toContain("There are more rows: `more` shows them.\nUSER ")
  expect((await ask("list-users user member team:many")).rows).toHaveLength(101)
})

test("an engine that is not there, and words that do not go together", async () => {
  const away = await run({ cwd }, "shell", "--url", "http://127.0.0.1:1", "-c", "stores")
  expect(away).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^error: no engine responds at http:\/\/127\.0\.0\.1:1 \(.*\)\nhelp: /),
  })
  expect((await run({ cwd }, "shell", "--url", "127.0.0.1")).err).toContain("--url is not an http(s) URL")
  expect((await run({ cwd }, "shell", "--token", "x")).err).toContain("--token needs --url")
})

describe("an engine that asks who one is", () => {
  let kept: Awaited<ReturnType<typeof serve>>
  const grants = (read: string[], write: string[], manage: boolean) => ({
    read: new Set(read),
    write: new Set(write),
    manage,
  })
  beforeAll(async () => {
    const access = createAccess(
      [
        { name: "reader", key: "key-of-reader", grants: grants(["acme"], [], false) },
        { name: "writer", key: "key-of-writer", grants: grants([], ["acme"], false) },
      ],
      [],
    )
    kept = await serve(served.database, 10_000, { access: () => access })
  })
  afterAll(() => kept.listeners.close())

  const as = (token: string, env: Readonly<Record<string, string>>, ...argv: string[]) =>
    run({ cwd, env }, "shell", "--url", kept.base, ...(token === "" ? [] : ["--token", token]), ...argv)

  test("takes the key of --token, or of SALLYPORT_AUTHZ_TOKEN; without one its code is shown", async () => {
    const question = ["--store", "acme", "-c", "check user:ann viewer document:1"]
    expect(await as("key-of-reader", {}, ...question)).toMatchObject({ code: 0, err: "" })
    expect(await as("", { SALLYPORT_AUTHZ_TOKEN: "key-of-reader" }, ...question)).toMatchObject({ code: 0 })
    expect((await as("", {}, ...question)).err).toMatch(/^error: .* \(bearer_token_missing\)\n/)
    expect((await as("wrong", {}, ...question)).err).toMatch(/^error: .* \(\w+\)\n/)
  })

  test("a key of one store finds that store, and does what it may", async () => {
    expect(await as("key-of-reader", {}, "-c", "read")).toMatchObject({ code: 0, err: "" })
    const write = ["--store", "acme", "-c", "write user:w member team:written"]
    expect((await as("key-of-reader", {}, ...write)).err).toContain("(forbidden)")
    expect(await as("key-of-writer", {}, ...write)).toMatchObject({ code: 0 })
    expect((await as("key-of-writer", {}, "--store", "acme", "-c", "read")).err).toContain("(forbidden)")
  })
})

test("without --url it goes through the control API, with the control token", async () => {
  const control = await fakeControl({
    "GET /authz/stores?page_size=100&continuation_token=": {
      json: { stores: [{ id: "S1", name: "acme", created_at: "t" }], continuation_token: "" },
    },
    "POST /authz/stores/S1/check": { json: { allowed: false } },
  })
  const asked = await run({ cwd, env: control.env }, "shell", "-c", "check user:ann viewer document:1")
  expect(asked).toMatchObject({ code: 2, err: "" })
  expect(control.seen.at(-1)).toMatchObject({ authorization: `Bearer ${token}` })
  const env = { ...control.env, SALLYPORT_CONTROL_TOKEN: "another-token-of-tests" }
  expect((await run({ cwd, env }, "shell", "-c", "stores")).err).toBe(
    "error: Authentication required (401)\n",
  )
})

const hasScript = spawnSync("script", ["--version"]).status === 0

/** The built command in a pseudo terminal: types `steps` one after the other, each when what it waits for is on the screen. */
async function typed(
  env: Readonly<Record<string, string>>,
  steps: readonly (readonly [awaited: string, keys: string])[],
) {
  const line = `${process.execPath} ${projectRoot}compiler/cli/sallyport.mjs shell --url ${served.base}`
  const child = spawn("script", ["-qfec", line, "/dev/null"], {
    cwd,
    env: { ...process.env, NO_COLOR: "1", ...env },
  })
  let screen = ""
  let seen = 0
  const todo = [...steps]
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  child.stdout.on("data", (chunk: Buffer) => {
    screen += chunk.toString()
    const [next] = todo
    if (next === undefined || !screen.slice(seen).includes(next[0])) return
    seen = screen.length
    todo.shift()
    child.stdin.write(next[1])
  })
  return { code: await ended, screen: screen.replaceAll("\r", ""), left: todo }
}

describe("at a terminal", () => {
  test("Tab completes commands, relations, types and names; lines are kept for the next shell", async (context) => {
    if (!hasScript) return context.skip("needs `script` of util-linux")
    const env = { XDG_STATE_HOME: join(cwd, "state") }
    const first = await typed(env, [
      ["sallyport:acme> ", "expl\t"],
      ["explain ", "user:an\t"],
      ["user:ann ", "own\t"],
      ["owner ", "doc\t"],
      ["document:", "1\n"],
      ["sallyport:acme> ", "\u0004"],
    ])
    expect(first.left).toEqual([])
    expect(first.code).toBe(0)
    expect(first.screen).toContain("Tab completes, Ctrl-D ends.")
    expect(first.screen).toContain("allowed: user:ann has owner on document:1")
    const kept = join(cwd, "state/sallyport/shell-history")
    expect(readFileSync(kept, "utf8")).toBe("explain user:ann owner document:1\n")
    expect(statSync(kept).mode & 0o777).toBe(0o600)
    const second = await typed(env, [
      ["sallyport:acme> ", "\u001b[A"],
      ["explain user:ann owner document:1", "\u0003"],
      ["(press Ctrl-D to end the shell)", "chek\n"],
      ["did you mean `check`?", "exit\n"],
    ])
    expect(second).toMatchObject({ code: 0, left: [] })
  })

  test("lines pasted at once are run one after the other, and what follows the last stays to be edited", async (context) => {
    if (!hasScript) return context.skip("needs `script` of util-linux")
    const env = { XDG_STATE_HOME: join(cwd, "state") }
    const pasted = "check user:ann owner document:1\ncheck user:bob owner document:1\nlist-rel"
    const { code, left, screen } = await typed(env, [
      ["sallyport:acme> ", pasted],
      ["sallyport:acme> list-rel", "\t"],
      ["ations ", "user:bob document:1\n"],
      ["viewer", "\u0004"],
    ])
    expect({ code, left }).toEqual({ code: 0, left: [] })
    const answers = screen.match(/(?:allowed|denied): .*$/gm)
    expect(answers).toEqual([
      "allowed: user:ann has owner on document:1",
      "denied: user:bob does not have owner on document:1",
    ])
  })
})
