import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createMigratedDatabase, describePostgres } from "../postgres.ts"
import { author, freePorts, planOf, start, token } from "../process/project.ts"
import { type Answer, fakeControl } from "./fake-control.ts"
import { folderWith, run } from "./run.ts"

const csvHead =
  "user_type,user_id,user_relation,relation,object_type,object_id,condition_name,condition_context"

describePostgres("tuples in files, with a running Sallyport", () => {
  const stops: (() => Promise<unknown>)[] = []
  let env: Record<string, string>

  beforeAll(async () => {
    const { url, drop } = await createMigratedDatabase()
    stops.push(drop)
    const ports = await freePorts()
    const runtime = await start(url, ports)
    stops.push(() => runtime.close())
    const relations =
      "define viewer: [user, user with early, order#viewer]\ncondition early(hour: int, day: string) {\n  hour < 9\n}"
    await runtime.apply(planOf(ports, "hello", "", relations), author)
    env = { SALLYPORT_CONTROL_URL: `http://127.0.0.1:${ports.control}`, SALLYPORT_CONTROL_TOKEN: token }
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  test("CSV, JSON lines and YAML go in, and what comes out goes in again", async () => {
    const cwd = folderWith({
      "a.csv": `${csvHead}\nuser,ann,,viewer,order,"1,""x""",,\norder,7,viewer,viewer,order,8,,\nuser,bob,,viewer,order,2,early,"{""day"":""a,b"",""hour"":7}"\n`,
      "b.jsonl": `{"user":"user:cid","relation":"viewer","object":"order:3"}\n\n{"user":"user:ann","relation":"viewer","object":"order:3"}`,
      "c.yaml": `- user: user:dan\n  relation: viewer\n  object: order:4\n`,
      "d.json": `[{"user":"user:dan","relation":"viewer","object":"order:5"}]`,
    })
    const go = (...words: string[]) => run({ cwd, env }, "tuple", ...words)
    expect((await go("import", "a.csv")).out).toMatch(
      /^imported 3 tuples in [\d.]+ s, .* per second; 0 existed already\n$/,
    )
    expect((await go("import", "b.jsonl")).out).toMatch(/^imported 2 tuples/)
    expect((await go("import", "c.yaml")).out).toMatch(/^imported 1 tuples/)
    expect((await go("import", "d.json")).out).toMatch(/^imported 1 tuples/)
    expect((await go("import", "a.csv")).out).toMatch(/^imported 0 tuples .*; 3 existed already\n$/)
    const piped = await run(
      { cwd, env, input: [`{"user":"user:eve","relation":"viewer","object":"order:6"}`] },
      ...["tuple", "import", "-"],
    )
    expect(piped.out).toMatch(/^imported 1 tuples/)

    for (const file of ["all.jsonl", "all.csv"]) {
      expect(await go("export", file)).toEqual({ code: 0, out: `exported 8 tuples to ${file}\n`, err: "" })
      expect((await go("import", file)).out).toMatch(/^imported 0 tuples .*; 8 existed already\n$/)
    }
    expect(readFileSync(join(cwd, "all.csv"), "utf8")).toContain('user,ann,,viewer,order,"1,""x""",,\n')
    expect((await go("export")).out).toBe(readFileSync(join(cwd, "all.jsonl"), "utf8"))
    expect((await go("export", "--format", "csv")).out).toBe(readFileSync(join(cwd, "all.csv"), "utf8"))
    expect(readdirSync(cwd).filter((name) => name.endsWith(".part"))).toEqual([])
  })

  test.each(["jsonl", "csv"])(
    "a long %s file is sent in batches, and a mistake is named with its line in the file",
    async (format) => {
      const line = (n: number, relation = "viewer") =>
        format === "csv"
          ? `user,${format}${n},,${relation},order,${n % 100}${n === 7 ? `,early,"{""hour"":1,\n""day"":""x""}"` : ",,"}\n`
          : `${JSON.stringify({ user: `user:${format}${n}`, relation, object: `order:${n % 100}` })}\n`
      const all = Array.from({ length: 12_000 }, (_, n) => line(n))
      const head = format === "csv" ? `${csvHead}\n` : ""
      // The head, and the line end inside a field.
      const offset = format === "csv" ? 2 : 0
      all[11_000] = line(11_000, "nothing")
      const cwd = folderWith({})
      const path = join(cwd, `long.${format}`)
      writeFileSync(path, head + all.join(""))
      const failed = await run({ cwd, env }, "tuple", "import", `long.${format}`)
      expect([failed.code, failed.out]).toEqual([1, ""])
      expect(failed.err).toContain(`long.${format}:${11_001 + offset}: `)
      const from = Number(/--from-line (\d+)/.exec(failed.err)?.[1])
      expect(from).toBeGreaterThan(5_000)
      all[11_000] = line(11_000)
      writeFileSync(path, head + all.join(""))
      const rest = await run({ cwd, env }, "tuple", "import", `long.${format}`, "--from-line", String(from))
      expect(rest.code).toBe(0)
      const again = await run({ cwd, env }, "tuple", "import", `long.${format}`)
      expect(again.out).toMatch(/^imported 0 tuples .*; 12,000 existed already\n$/)
    },
  )
})

describe("a tuple file that cannot be used", () => {
  const store: Answer = { json: { stores: [{ id: "1", name: "a" }] } }
  const cases: readonly (readonly [what: string, words: readonly string[], message: RegExp])[] = [
    ["no file", ["none.csv"], /^error: none\.csv cannot be read: there is no such file/],
    ["an unknown ending", ["a.txt"], /^error: the format of a\.txt is not known by its ending/],
    ["an unknown format", ["a.txt", "--format", "xml"], /^error: unknown format: --format xml/],
    [
      "a wrong line",
      ["a.csv", "--from-line", "0"],
      /^error: --from-line must be a whole number of at least 1/,
    ],
    ["an unknown column", ["a.csv"], /^error: a\.csv:1: `who` is not a column/],
    ["an open quote", ["b.csv"], /^error: b\.csv:2: this quote is not closed/],
    ["YAML without a relation", ["c.yaml"], /^error: c\.yaml:3: this tuple has no `relation`/],
    ["an empty list", ["d.yaml"], /^error: d\.yaml:1: `d\.yaml` contains no tuple/],
  ]
  test.each(cases)("%s", async (_, words, message) => {
    const control = await fakeControl({ "GET /authz/stores?page_size=2": store })
    const cwd = folderWith({
      "a.txt": "",
      "a.csv": "who,relation\nuser,viewer\n",
      "b.csv": `${csvHead}\nuser,"b,,viewer,order,1,,\n`,
      "c.yaml": "- {user: user:a, relation: viewer, object: order:1}\n\n- {user: user:a, object: order:1}\n",
      "d.yaml": "[]\n",
    })
    const outcome = await run({ cwd, env: control.env }, "tuple", "import", ...words)
    expect([outcome.code, outcome.out]).toEqual([1, ""])
    expect(outcome.err).toMatch(message)
    expect(control.seen.filter(({ method }) => method === "POST")).toEqual([])
  })

  test("a target of an export", async () => {
    const control = await fakeControl({
      "GET /authz/stores?page_size=2": store,
      "POST /authz/stores/1/read": { json: { tuples: [], continuation_token: "" } },
    })
    const world = { cwd: folderWith({}), env: control.env }
    const yaml = await run(world, "tuple", "export", "a.yaml")
    expect(yaml.err).toMatch(/^error: tuples cannot be exported as yaml/)
    const folder = await run(world, "tuple", "export", "no/such/a.jsonl")
    expect(folder.err).toMatch(/^error: no\/such\/a\.jsonl cannot be written/)
  })
})
