import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { main } from "../../compiler/cli/main.ts"
import { projectRoot } from "../structure/tree.ts"
import { folderWith, run, small } from "./run.ts"

const model = `model
  schema 1.1
type user
type doc
  relations
    define owner: [user]
    define blocked: [user]
    define viewer: ([user, user:*] or owner) but not blocked
`
const tuples = `tuples:
  - { user: user:ann, relation: owner, object: doc:1 }
`
const passing = `name: Docs
model_file: model.fga
${tuples}tests:
  - name: owners
    check:
      - user: user:ann
        object: doc:1
        assertions: { owner: true, viewer: true }
`
const failing = `name: Docs
model_file: model.fga
${tuples}tests:
  - name: owners
    description: what owners may
    check:
      - user: user:ann
        object: doc:1
        assertions:
          viewer: false
      - user: user:bob
        object: doc:1
        assertions: { viewer: true }
  - name: others
    check:
      - user: user:bob
        object: doc:1
        assertions: { viewer: false }
`

describe("which files", () => {
  test("all *.fga.yaml below the folder, those named, those a pattern matches", async () => {
    const cwd = folderWith({
      "model.fga": model,
      "a.fga.yaml": passing,
      "b/c.fga.yml": passing.replace("model.fga", "../model.fga"),
      "b/d.yaml": passing.replace("model.fga", "../model.fga"),
      "node_modules/x/y.fga.yaml": "not looked at",
    })
    const paths = async (...argv: string[]) => {
      const { out } = await run({ cwd }, "test", "--format", "json", ...argv)
      return JSON.parse(out).stores.map(({ file }: { file: string }) => file)
    }
    expect(await paths()).toEqual(["a.fga.yaml", "b/c.fga.yml"])
    expect(await paths("b")).toEqual(["b/c.fga.yml"])
    expect(await paths("b/d.yaml", "a.fga.yaml", "./a.fga.yaml")).toEqual(["a.fga.yaml", "b/d.yaml"])
    expect(await paths("b/*.y*ml")).toEqual(["b/c.fga.yml", "b/d.yaml"])
  })

  test("elsewhere they are named as one gets there, and name files of their own folder only", async () => {
    const other = folderWith({ "x/model.fga": model, "x/a.fga.yaml": passing, "y/b.fga.yaml": passing })
    writeFileSync(join(other, "y/b.fga.yaml"), passing.replace("model.fga", "../x/model.fga"))
    const cwd = folderWith({})
    const beside = await run({ cwd: join(other, "y") }, "test", "../x/a.fga.yaml")
    expect(beside).toMatchObject({ code: 0, out: expect.stringContaining("ok    ../x/a.fga.yaml  Docs") })
    const outside = await run({ cwd }, "test", join(other, "y/b.fga.yaml"))
    expect(outside).toMatchObject({
      code: 1,
      err: expect.stringContaining("error SP0002 File outside the project"),
    })
    expect(await run({ cwd }, "test", other)).toMatchObject({ code: 0 })
  })

  test("nothing to run is an error", async () => {
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": passing })
    expect(await run({ cwd: folderWith({}) }, "test")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no *.fga.yaml and no *.gw.yaml below this folder"),
    })
    expect((await run({ cwd }, "test", "b/*.yaml")).err).toContain("b/*.yaml matches no file with tests")
    expect((await run({ cwd }, "test", "b.fga.yaml")).err).toContain("error SP0001 File not found")
    expect((await run({ cwd }, "test", "--filter", "editors")).err).toContain(
      "no test, store or file of gateway tests has `editors` in its name",
    )
  })
})

describe("the report", () => {
  test("says for each failure what was asked, expected and got, and why", async () => {
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": failing })
    const { code, out, err } = await run({ cwd }, "test")
    expect({ code, err }).toEqual({ code: 1, err: "" })
    expect(out).toMatch(
      /^FAIL {2}a\.fga\.yaml {2}Docs {2}2 tests, 3 questions\n\n {2}owners {2}what owners may\n {4}check user:ann viewer doc:1 {2}a\.fga\.yaml:12:11\n {6}expected {2}denied\n {6}got {7}allowed\n {6}why {7}allowed: user:ann has viewer on doc:1\n/,
    )
    expect(out).toMatch(
      /check user:bob viewer doc:1 {2}a\.fga\.yaml:15:23\n {6}expected {2}allowed\n {6}got {7}denied\n/,
    )
    expect(out).toMatch(/\n1 file, 2 tests, 3 questions: 1 passed, 2 failed\n$/)
    expect(out).not.toContain("others")
    expect((await run({ cwd }, "test", "--filter", "others")).code).toBe(0)
  })

  test("of a list it names what is missing and what is too many, with the reasons; an error is not an answer", async () => {
    const lists = `model: |
  model
    schema 1.1
  type user
  type doc
    relations
      define owner: [user, user with soon]
  condition soon(hour: int) {
    hour < 12
  }
tuples:
  - { user: user:ann, relation: owner, object: doc:1 }
  - { user: user:ann, relation: owner, object: doc:2 }
tests:
  - name: lists
    list_objects:
      - { user: user:ann, type: doc, assertions: { owner: [doc:2, doc:3] } }
    list_users:
      - { object: doc:1, user_filter: [{ type: user }], assertions: { owner: { users: [user:ann, user:ann] } } }
  - name: without a context
    tuples:
      - { user: user:bob, relation: owner, object: doc:1, condition: { name: soon } }
    check:
      - { user: user:bob, object: doc:1, assertions: { owner: false } }
`
    const cwd = folderWith({ "a.fga.yaml": lists })
    const { code, out } = await run({ cwd }, "test")
    expect(code).toBe(1)
    expect(out).toContain(
      "list_objects user:ann owner doc  a.fga.yaml:17:52\n      expected  doc:2, doc:3\n      got       doc:1, doc:2\n      missing   doc:3\n      too many  doc:1\n      why       denied: user:ann does not have owner on doc:3\n",
    )
    expect(out).toContain("          allowed: user:ann has owner on doc:1\n")
    expect(out).toMatch(
      /check user:bob owner doc:1 {2}a\.fga\.yaml:24:56\n {6}expected {2}denied\n {6}got {7}error: .*hour.*\n/,
    )
    expect(out).toContain("3 questions: 1 passed, 2 failed")
    const junit = await run({ cwd }, "test", "--format", "junit")
    expect(junit.out).toMatch(/<testsuites name="sallyport test" tests="3" failures="1" errors="1">/)
  })

  test("a file with mistakes is told, and not run", async () => {
    const broken = `${passing}    chek: []\n`
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": broken, "b.fga.yaml": passing })
    const { code, out, err } = await run({ cwd }, "test")
    expect(code).toBe(1)
    expect(err).toContain("a.fga.yaml:11:5  `chek` is not a key of a test; did you mean `check`?")
    expect(out).toBe(
      "ok    b.fga.yaml  Docs  1 test, 2 questions\n\n2 files, 1 test, 2 questions: 2 passed, 1 error\n",
    )
  })

  test("as JSON", async () => {
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": failing })
    const { code, out } = await run({ cwd }, "test", "--format", "json")
    const { passed, files, findings, stores } = JSON.parse(out)
    expect({ code, passed, files, findings }).toEqual({ code: 1, passed: false, files: 1, findings: [] })
    expect(stores[0]).toMatchObject({ file: "a.fga.yaml", name: "Docs", model: "model.fga", passed: false })
    const [owners, others] = stores[0].tests
    expect(owners).toMatchObject({ name: "owners", line: 6, column: 5, passed: false })
    expect(owners.questions[0]).toMatchObject({
      kind: "check",
      user: "user:ann",
      relation: "viewer",
      object: "doc:1",
      line: 12,
      expected: false,
      got: true,
      passed: false,
      reasons: [{ allowed: true }],
    })
    expect(others).toMatchObject({ passed: true, questions: [{ passed: true, got: false }] })
    expect(owners.questions[0]).not.toHaveProperty("places")
  })

  test("as JUnit, whatever stands in the names", async () => {
    const odd = failing.replace("name: others", 'name: "a <b> & \\"c\\" \\u0007"')
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": odd, "z.fga.yaml": "tests: 1\n" })
    const { code, out } = await run({ cwd }, "test", "--format", "junit", "--output", "report.xml")
    expect(code).toBe(1)
    expect(out).toContain("3 questions: 1 passed, 2 failed")
    const xml = readFileSync(join(cwd, "report.xml"), "utf8")
    expect(xml).toMatch(
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="sallyport test" tests="5" failures="2" errors="2">\n/,
    )
    expect(xml).toContain(
      '<testcase classname="a &lt;b&gt; &amp; &quot;c&quot; \ufffd" name="check user:bob viewer doc:1" file="a.fga.yaml" line="20"/>',
    )
    expect(xml).toContain(
      '<failure message="expected denied, got allowed">allowed: user:ann has viewer on doc:1',
    )
    expect(xml).toContain('name="SP6004 Missing key" file="z.fga.yaml"')
  })

  test("options that do not go together", async () => {
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": passing })
    expect((await run({ cwd }, "test", "--output", "x")).err).toContain(
      "--output needs the format json, junit or tap",
    )
    expect((await run({ cwd }, "test", "--watch", "--format", "json")).err).toContain(
      "--watch cannot print a single document",
    )
    const failed = await run({ cwd }, "test", "--format", "json", "--output", "no/such/x.json")
    expect(failed).toMatchObject({
      code: 1,
      err: expect.stringContaining("no/such/x.json cannot be written"),
    })
  })
})

describe("coverage", () => {
  test("names every part no test would miss, with the place of its relation", async () => {
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": passing })
    const { code, out } = await run({ cwd }, "test", "--coverage")
    expect(code).toBe(0)
    expect(out).toContain(`
coverage of model.fga: 2 of 6 parts (33 %)
  not covered by a test:  doc#blocked  [user]  model.fga:7:12
  not covered by a test:  doc#viewer  [user:*]  model.fga:8:12
  not covered by a test:  doc#viewer  [user]  model.fga:8:12
  not covered by a test:  doc#viewer  but not blocked  model.fga:8:12
`)
  })

  test("lower than asked for is a failure, and said", async () => {
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": passing })
    const low = await run({ cwd }, "test", "--min-coverage", "34")
    expect(low.code).toBe(1)
    expect(low.out).toContain("coverage of model.fga: 2 of 6 parts (33 %), 34 % are required\n")
    const enough = await run({ cwd }, "test", "--min-coverage", "33")
    expect(enough.code).toBe(0)
    expect(enough.out).toContain("(33 %)\n")
    const { code, out } = await run({ cwd }, "test", "--min-coverage", "34", "--format", "json")
    expect([code, JSON.parse(out)]).toMatchObject([1, { passed: false, min_coverage: 34 }])
  })

  test("is whole when each part decides somewhere, over all files of a model", async () => {
    const more = `model_file: model.fga
tests:
  - name: viewers
    tuples:
      - { user: user:bob, relation: viewer, object: doc:1 }
      - { user: user:cyd, relation: viewer, object: doc:1 }
      - { user: user:cyd, relation: blocked, object: doc:1 }
      - { user: "user:*", relation: viewer, object: doc:2 }
    check:
      - users: [user:bob]
        objects: [doc:1, doc:2]
        assertions: { viewer: true }
      - { user: user:cyd, object: doc:1, assertions: { viewer: false } }
`
    const cwd = folderWith({ "model.fga": model, "a.fga.yaml": passing, "b.fga.yaml": more })
    const { out } = await run({ cwd }, "test", "--coverage", "--format", "json")
    expect(JSON.parse(out).coverage).toEqual([{ model: "model.fga", parts: 6, covered: 6, gaps: [] }])
  })

  test("a condition must have said yes and no", async () => {
    const conditioned = `model: |
  model
    schema 1.1
  type user
  type doc
    relations
      define viewer: [user with soon]
  condition soon(hour: int) {
    hour < 12
  }
tuples:
  - { user: user:ann, relation: viewer, object: doc:1, condition: { name: soon } }
tests:
  - check:
      - { user: user:ann, object: doc:1, context: { hour: 1 }, assertions: { viewer: true } }
`
    const cwd = folderWith({ "a.fga.yaml": conditioned })
    const { out } = await run({ cwd }, "test", "--coverage")
    expect(out).toContain("not covered by a test:  condition soon  saying no  a.fga.yaml:8:13\n")
    expect(out).not.toContain("saying yes")
  })
})

test("--watch runs again when a file changes, also one that was missing", async () => {
  const cwd = folderWith({ "a.fga.yaml": passing })
  const seen = { out: "", err: "" }
  let stop = (): void => undefined
  const stopped = new Promise<void>((resolve) => {
    stop = resolve
  })
  const until = async (text: string): Promise<void> => {
    while (!(seen.out + seen.err).includes(text)) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const running = main(["test", "--watch"], {
    out: (text) => {
      seen.out += text
    },
    err: (text) => {
      seen.err += text
    },
    cwd,
    env: {},
    interactive: false,
    typed: false,
    askHidden: async () => "",
    progress: false,
    colour: { out: false, err: false },
    columns: 80,
    ask: async () => "",
    async *bytes() {},
    async *lines() {},
    converse() {
      throw new Error("nobody is there")
    },
    page: async () => {},
    untilStopped: () => stopped,
  })
  await until("Watching. Ctrl-C ends it.")
  expect(seen.err).toContain("`model.fga` does not exist")
  writeFileSync(join(cwd, "model.fga"), model)
  await until("all passed")
  writeFileSync(join(cwd, "a.fga.yaml"), failing)
  utimesSync(join(cwd, "a.fga.yaml"), 1, 1)
  await until("2 failed")
  stop()
  expect(await running).toBe(0)
})

test("validate runs the tests that gateway.conf names, and a failing one keeps the plan from being made", async () => {
  const authz = 'authz { store docs { model "models/model.fga"; tests "models/tests/*.fga.yaml" } }\n'
  const cwd = folderWith({ "gateway.conf": small + authz, "models/model.fga": model })
  mkdirSync(join(cwd, "models/tests"))
  writeFileSync(join(cwd, "models/tests/a.fga.yaml"), passing.replace("model.fga", "../model.fga"))
  expect(await run({ cwd }, "validate")).toMatchObject({ code: 0 })
  writeFileSync(join(cwd, "models/tests/b.fga.yaml"), failing.replace("model.fga", "../model.fga"))
  const { code, out } = await run({ cwd }, "validate")
  expect(code).toBe(1)
  expect(out).toContain(
    "error SP6010 Model test fails\n  models/tests/b.fga.yaml:12:11  `owners`: check user:ann viewer doc:1: expected denied, got allowed\n",
  )
  expect(out).toContain("gateway.conf: 2 errors")
})

test("a process that watches goes on until it is stopped", async () => {
  const cwd = folderWith({ "model.fga": model, "a.fga.yaml": passing })
  const child = spawn(process.execPath, [`${projectRoot}compiler/cli/sallyport.mjs`, "test", "--watch"], {
    cwd,
  })
  let shown = ""
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = (chunk: Buffer | string) => {
        shown += chunk.toString()
        if (shown.includes(text)) resolve()
      }
      for (const stream of [child.stdout, child.stderr]) stream.on("data", look)
      child.once("close", () => reject(new Error(`it ended before it said ${text}: ${shown}`)))
      look("")
    })
  await says("Watching.")
  writeFileSync(join(cwd, "a.fga.yaml"), failing)
  await says("FAIL")
  child.kill("SIGINT")
  expect(await ended).toBe(0)
})
