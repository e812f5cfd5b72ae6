import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import type { PlanAnswer, PlanRecord } from "../../runtime/control/api.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { readSealedPlan } from "../../runtime/plan/read.ts"
import { type PlanSeal, type SealedPlan, sealPlan } from "../../runtime/plan/seal.ts"
import { compile } from "../compile.ts"
import { type Answer, type FakeControl, fakeControl, type Seen } from "./fake-control.ts"
import { folderWith, run, small } from "./run.ts"

const other = small.replace("10 per 1m", "20 per 1m")

function planOf(text: string): Plan {
  return compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf").plan as Plan
}

function record(serial: number, plan: Plan): PlanRecord {
  return {
    serial,
    stamp: `stamp of ${serial}`,
    digest: plan.digest,
    at: "2026-01-02T03:04:05.678Z",
    who: "ann",
    commit: null,
    message: null,
  }
}

const about: Omit<PlanSeal, "digest"> = {
  ...{ history: null, base: null, at: "2026-01-02T03:04:05.678Z" },
  author: { who: "ann", commit: null, message: null },
}

const sealed = (text = small): SealedPlan => sealPlan(about, planOf(text))

const running = (serial: number, text: string): Answer => {
  const plan = planOf(text)
  return { json: { record: record(serial, plan), plan } satisfies PlanAnswer }
}

/** A control API that runs the small project as serial 7 and applies what it gets as serial 8. */
function atSeven(): Promise<FakeControl> {
  return fakeControl({
    "GET /v1/plan": running(7, small),
    "PUT /v1/plan": ({ body }: Seen) => {
      const { plan } = body as { plan: Plan }
      return { json: { applied: true, record: record(8, plan) } }
    },
    "GET /v1/status": { json: { serial: 8, processes: [{ serial: 8 }], warnings: [], traffic: null } },
  })
}

const applied = (control: FakeControl) =>
  control.seen
    .filter(({ method }) => method === "PUT")
    .map(({ body }) => body as { plan: Plan; base: number | null })

describe("plan", () => {
  test("exits 2 with changes and 0 without", async () => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": other })
    const changed = await run({ cwd, env: control.env }, "plan")
    expect(changed).toMatchObject({ code: 2, err: "" })
    expect(changed.out).toMatch(/^Compared with serial 7, applied by ann\.\n/)
    expect(changed.out).toContain("GET /orders")
    writeFileSync(join(cwd, "gateway.conf"), small)
    const same = await run({ cwd, env: control.env }, "plan")
    expect(same).toMatchObject({ code: 0, out: expect.stringContaining("No changes.") })
    expect(applied(control)).toEqual([])
  })

  test("everything is new where nothing is running", async () => {
    const control = await fakeControl({})
    const outcome = await run({ cwd: folderWith({ "gateway.conf": small }), env: control.env }, "plan")
    expect(outcome).toMatchObject({
      code: 2,
      out: expect.stringMatching(/^No plan was applied yet: everything is new\.\n/),
    })
  })

  test("lists what was made at run time apart, as far as the caller may see it", async () => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": other })
    const subscriptions = [..."abcdefg"].map((name) => ({ name, source: "issued" }))
    const answers: Record<string, Answer> = {
      "GET /v1/subscriptions?limit=500": {
        json: { subscriptions: [...subscriptions, { name: "declared", source: "text" }] },
      },
      "GET /v1/tokens": { status: 403, json: { title: "Not permitted" } },
      "GET /authz/stores?page_size=100": { json: { stores: [{ id: "1", name: "made by hand" }] } },
    }
    Object.assign(control.answers, answers)
    const { out } = await run({ cwd, env: control.env }, "plan")
    expect(out).toContain(`
Made at run time, not in the text. \`apply\` keeps it; to remove it:
  subscriptions  a, b, c, d, e and 2 more (\`sallyport subscription delete\`)
  stores         made by hand (\`DELETE /authz/stores/{id}\`)
`)
    expect(out).not.toContain("tokens")
    const json = await run({ cwd, env: control.env }, "plan", "--json")
    expect(JSON.parse(json.out)).toHaveLength(1)
  })

  test("--format json is one document, and names the base in the sealed file", async () => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": other })
    const outcome = await run({ cwd, env: control.env }, "plan", "--format", "json", "--out", "next.json")
    expect(outcome).toMatchObject({ code: 2, err: "" })
    expect(JSON.parse(outcome.out)).toBeInstanceOf(Array)
    const sealed = JSON.parse(readFileSync(join(cwd, "next.json"), "utf8")) as SealedPlan
    expect(sealed).toEqual({
      sealed: 3,
      seal: {
        history: null,
        base: { serial: 7, stamp: "stamp of 7", digest: planOf(small).digest },
        digest: planOf(other).digest,
        author: { who: expect.any(String), commit: null, message: null },
        at: expect.any(String),
      },
      plan: planOf(other),
      checksum: expect.stringMatching(/^sha256:/),
    })
    expect(readSealedPlan(sealed)).toEqual({ sealed })
  })

  test("--against empty: everything is new, nothing has to run, and the file is a first plan", async () => {
    const cwd = folderWith({ "gateway.conf": small })
    const outcome = await run({ cwd }, "plan", "--against", "empty", "--out", "first.json")
    expect(outcome).toMatchObject({ code: 2, err: "" })
    expect(outcome.out).toMatch(/^Compared with nothing: everything is new\.\n/)
    expect(outcome.out).toContain("`sallyport serve --plan first.json` serves it")
    expect(JSON.parse(readFileSync(join(cwd, "first.json"), "utf8"))).toMatchObject({
      sealed: 3,
      seal: { base: null, history: null },
    })
    const fresh = await fakeControl({
      "PUT /v1/plan": { json: { applied: true, record: record(1, planOf(small)) } },
    })
    const words = ["apply", "first.json", "--yes"]
    expect(await run({ cwd, env: fresh.env }, ...words)).toMatchObject({ code: 0, err: "" })
    const stale = await run({ cwd, env: (await atSeven()).env }, ...words)
    // What is running has the same content.
    expect(stale).toMatchObject({ code: 0, out: expect.stringContaining("Nothing to do") })
  })

  test("--against FILE: what changed since, and the file can be applied where that plan is running", async () => {
    const cwd = folderWith({ "gateway.conf": small, "next/gateway.conf": other })
    await run({ cwd }, "plan", "--against", "empty", "--out", "old.json")
    const same = await run({ cwd }, "plan", "--against", "old.json")
    expect(same).toEqual({ code: 0, out: "Compared with the plan in old.json.\n\nNo changes.\n", err: "" })
    const words = ["--config", "next/gateway.conf", "--against", "old.json", "--out", "next.json"]
    const next = await run({ cwd }, "plan", ...words)
    expect(next).toMatchObject({ code: 2, err: "", out: expect.stringContaining("20 per 1m") })
    const sealed = JSON.parse(readFileSync(join(cwd, "next.json"), "utf8")) as SealedPlan
    expect(sealed.seal.base).toEqual({ digest: planOf(small).digest })
    const control = await atSeven()
    expect(
      await run({ cwd, env: control.env }, "apply", "next.json", "--yes", "--allow", "opens"),
    ).toMatchObject({ code: 0 })
    expect(applied(control)).toMatchObject([{ base: 7, baseStamp: "stamp of 7" }])
    control.answers["GET /v1/plan"] = running(7, small.replace("10 per 1m", "30 per 1m"))
    expect(
      await run({ cwd, env: control.env }, "apply", "next.json", "--yes", "--allow", "opens"),
    ).toMatchObject({
      code: 3,
      err: expect.stringMatching(
        /stale: when it was made it was compared with a plan in a file \(digest [0-9a-f]{12}\), now serial 7 is, applied by ann; nothing/,
      ),
    })
  })

  test.each([
    ["none.json", /none\.json does not exist\nhelp: Create a plan with `sallyport plan --out FILE`/],
    ["gateway.conf", /it is not JSON.*\nhelp: Use --config for a configuration file/],
    ["damaged.json", /plan\.digest: the digest does not match the content/],
  ])("--against %s cannot be used", async (file, words) => {
    const plan = JSON.stringify(sealed(small))
    const cwd = folderWith({
      "gateway.conf": small,
      "damaged.json": plan.replace('"callsMax":10', '"callsMax":11'),
    })
    const outcome = await run({ cwd }, "plan", "--against", file)
    expect(outcome).toMatchObject({ code: 1, out: "", err: expect.stringMatching(words) })
  })

  test("without a running Sallyport the error says how to do without", async () => {
    const outcome = await run({ cwd: folderWith({ "gateway.conf": small }) }, "plan")
    expect(outcome).toMatchObject({ code: 1, out: "" })
    expect(outcome.err).toMatch(/no control token.*add `--against empty` or `--against FILE`\.\n$/s)
  })

  test("errors in the text: they are printed, exit 1, nothing is written", async () => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": small.replace("auth    none\n", "") })
    const outcome = await run({ cwd, env: control.env }, "plan", "--out", "next.json")
    expect(outcome).toMatchObject({ code: 1, out: "" })
    expect(outcome.err).toMatch(/^error SP\d+ .*there is no plan: 1 error/s)
    expect(() => readFileSync(join(cwd, "next.json"))).toThrow()
  })

  test("a file that cannot be written", async () => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": other })
    const outcome = await run({ cwd, env: control.env }, "plan", "--out", "no/folder/next.json")
    expect(outcome).toMatchObject({
      code: 1,
      err: expect.stringContaining("cannot be written to no/folder/next.json"),
    })
    mkdirSync(join(cwd, "taken"))
    expect(await run({ cwd, env: control.env }, "plan", "--out", "taken")).toMatchObject({ code: 1 })
    // What could not be moved into place does not stay beside it.
    expect(readdirSync(cwd).sort()).toEqual(["gateway.conf", "taken"])
  })
})

describe("apply", () => {
  test("without a terminal and without --yes: shows the changes, exits 3, touches nothing", async () => {
    const control = await atSeven()
    const outcome = await run({ cwd: folderWith({ "gateway.conf": other }), env: control.env }, "apply")
    expect(outcome).toMatchObject({ code: 3, out: expect.stringContaining("GET /orders") })
    expect(outcome.err).toContain("the confirmation needs a terminal\nhelp: Add --yes")
    expect(applied(control)).toEqual([])
  })

  test("asks on a terminal, and only `yes` is yes", async () => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": other })
    const no = await run({ cwd, env: control.env, answers: ["y"] }, "apply")
    expect(no).toMatchObject({ code: 3, err: expect.stringContaining("Apply this over serial 7?") })
    expect(applied(control)).toEqual([])
    const yes = await run({ cwd, env: control.env, answers: ["yes"] }, "apply")
    expect(yes).toMatchObject({ code: 0, out: expect.stringContaining("Applied as serial 8.") })
    expect(applied(control)).toMatchObject([{ base: 7, plan: { digest: planOf(other).digest } }])
  })

  test("with --yes a plan that opens something is refused, unless that is consented to", async () => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": other })
    const refused = await run({ cwd, env: control.env }, "apply", "--yes")
    expect(refused).toMatchObject({
      code: 3,
      err: expect.stringMatching(/opens something: 20 instead of 10 calls .*\nhelp: .*--allow opens/),
    })
    expect((await run({ cwd, env: control.env }, "apply", "--yes", "--allow", "closes")).code).toBe(3)
    expect(applied(control)).toEqual([])
    const meant = await run({ cwd, env: control.env }, "apply", "--yes", "--allow", "opens")
    expect(meant).toMatchObject({ code: 0, err: "" })
    expect(applied(control)).toMatchObject([{ base: 7, allow: ["opens"] }])
    // A person who has seen it says `yes`.
    const asked = await run({ cwd, env: control.env, answers: ["yes"] }, "apply")
    expect(asked.code).toBe(0)
    // A rule of the running plan is the listener's to judge: somebody else may have consented.
    const ruled = `${small}\nchange { opens needs consent }\n`
    control.answers["GET /v1/plan"] = running(7, ruled)
    writeFileSync(join(cwd, "gateway.conf"), `${other}\nchange { opens needs consent }\n`)
    expect((await run({ cwd, env: control.env }, "apply", "--yes")).code).toBe(0)
  })

  test("with --yes a plan that loses what runs is refused, unless that is said to be meant", async () => {
    const control = await atSeven()
    const empty = small.replace(/^api [\s\S]*/m, "")
    const cwd = folderWith({ "gateway.conf": `${empty}\nauthz { }\n` })
    const refused = await run({ cwd, env: control.env }, "apply", "--yes")
    expect(refused).toMatchObject({
      code: 3,
      err: expect.stringContaining("the plan no longer has any API\nhelp: If this is intended"),
    })
    expect(applied(control)).toEqual([])
    const meant = await run({ cwd, env: control.env }, "apply", "--yes", "--allow-danger")
    expect(meant).toMatchObject({ code: 0, out: expect.stringContaining("Applied as serial 8.") })
  })

  test("says who applies, and is done at once when the same is running", async () => {
    const control = await atSeven()
    const env = { ...control.env, SALLYPORT_WHO: "ci 42" }
    const cwd = folderWith({ "gateway.conf": other })
    await run({ cwd, env }, "apply", "--yes", "--allow", "opens")
    expect(control.seen.at(-1)?.body).toMatchObject({ author: { who: "ci 42" } })
    writeFileSync(join(cwd, "gateway.conf"), `# another comment\n${small}`)
    const same = await run({ cwd, env }, "apply", "--yes")
    expect(same).toMatchObject({ code: 0, out: expect.stringContaining("Nothing to do") })
    expect(applied(control)).toHaveLength(1)
  })

  test("a sealed plan is sent as it is, without the text it was made from", async () => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": other })
    await run({ cwd, env: control.env }, "plan", "--out", "next.json")
    writeFileSync(join(cwd, "gateway.conf"), "rubbish")
    const outcome = await run({ cwd, env: control.env }, "apply", "next.json", "--yes", "--allow", "opens")
    expect(outcome).toMatchObject({ code: 0, err: "" })
    expect(applied(control)).toMatchObject([{ base: 7, plan: planOf(other) }])
  })

  test.each([
    ["another serial", running(8, small.replace("10 per 1m", "30 per 1m")), "now serial 8 is"],
    [
      "the same serial of another database",
      running(7, small.replace("10 per 1m", "30 per 1m")),
      "now serial 7 is, applied by ann (another plan with this number: the database was set back to an earlier state",
    ],
    ["nothing", { status: 404, json: {} }, "now nothing is"],
  ])("a sealed plan is stale when %s is running: exit 3, nothing is sent", async (_, now, words) => {
    const control = await atSeven()
    const cwd = folderWith({ "gateway.conf": other })
    await run({ cwd, env: control.env }, "plan", "--out", "next.json")
    control.answers["GET /v1/plan"] = now
    const outcome = await run({ cwd, env: control.env }, "apply", "next.json", "--yes", "--allow", "opens")
    expect(outcome).toMatchObject({ code: 3, err: expect.stringContaining(words) })
    expect(applied(control)).toEqual([])
  })

  test("a plan that becomes stale while it is sent: exit 3", async () => {
    const control = await atSeven()
    control.answers["PUT /v1/plan"] = {
      status: 412,
      json: { title: "Plan is stale", detail: "serial 8 is running" },
    }
    const outcome = await run(
      { cwd: folderWith({ "gateway.conf": other }), env: control.env },
      "apply",
      "--yes",
      "--allow",
      "opens",
    )
    expect(outcome).toMatchObject({
      code: 3,
      err: expect.stringContaining("Plan is stale: serial 8 is running"),
    })
  })

  test("a plan the runtime cannot serve: every reason with its place, exit 1", async () => {
    const control = await atSeven()
    control.answers["PUT /v1/plan"] = {
      status: 422,
      json: {
        title: "Plan cannot be provisioned here",
        problems: [
          { path: "", message: "the variable A is not set", origin: "gateway.conf:3" },
          { path: "plan.secrets.b", message: "the variable B is not set" },
        ],
      },
    }
    const outcome = await run(
      { cwd: folderWith({ "gateway.conf": other }), env: control.env },
      "apply",
      "--yes",
      "--allow",
      "opens",
    )
    expect(outcome.code).toBe(1)
    expect(outcome.err).toContain(
      "gateway.conf:3: the variable A is not set\n  plan.secrets.b: the variable B",
    )
  })
})

describe("plan files that cannot be used", () => {
  const cases: readonly [string, string | Uint8Array | undefined, RegExp][] = [
    ["none", undefined, /next\.json does not exist/],
    ["empty", "", /it is not JSON/],
    ["text", small, /it is not JSON/],
    ["binary", new Uint8Array([0, 1, 2]), /NUL byte/],
    ["UTF-16", new Uint8Array([0xff, 0xfe, 0x7b, 0]), /UTF-16/],
    ["another JSON", "[1]", /a JSON object is expected/],
    ["not sealed", JSON.stringify(planOf(small)), /does not contain the running plan/],
    [
      "an unknown version",
      JSON.stringify({ ...sealed(), plan: { ...sealed().plan, format: 9 } }),
      /plan\.format: plan format 9 is not supported/,
    ],
    ["an unknown key", JSON.stringify({ ...sealed(), plan: { ...sealed().plan, x: 1 } }), /plan: .*"x"/],
    [
      "changed by hand",
      JSON.stringify(sealed()).replace('"callsMax":10', '"callsMax":11'),
      /plan\.digest: the digest does not match the content/,
    ],
    [
      "a base changed by hand",
      JSON.stringify({
        ...sealed(),
        seal: { ...sealed().seal, base: { serial: 7, stamp: "stamp of 7", digest: planOf(small).digest } },
      }),
      /checksum: the checksum does not match the seal: the file was changed after it was sealed/,
    ],
    [
      "sealed by an earlier version",
      JSON.stringify({ ...sealed(), sealed: 1 }),
      /sealed: was sealed by an earlier version/,
    ],
    [
      "a key that stands twice",
      `{"sealed":1,\n"a\\"}":[{"x":"y"},{"x":1}],"sealed":${JSON.stringify("x".repeat(100))}}`,
      /the file: line 2 repeats the key `sealed` in one object/,
    ],
    [
      "a key that is longer than a page",
      JSON.stringify({ ...sealed(), ["k".repeat(100_000)]: 1 }),
      /^error: .{1,100}\n {2}the file: unknown key "k{60}…"\nhelp: .*\n$/,
    ],
    ["deep", `{"sealed":1,"plan":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, /nested deeper/],
  ]

  test.each(cases)("%s", async (_, content, message) => {
    const control = await atSeven()
    const cwd = folderWith(content === undefined ? {} : { "next.json": content })
    const outcome = await run({ cwd, env: control.env }, "apply", "next.json", "--yes")
    expect(outcome).toMatchObject({ code: 1, out: "" })
    expect(outcome.err).toMatch(message)
    expect(control.seen).toEqual([])
  })

  test("diff takes plans, sealed or not, and folders", async () => {
    const cwd = folderWith({
      "sealed.json": JSON.stringify(sealed()),
      "plain.json": JSON.stringify(planOf(small)),
      "gateway.conf": small,
    })
    for (const [a, b] of [
      ["sealed.json", "plain.json"],
      ["plain.json", "."],
      [".", "sealed.json"],
    ] as const)
      expect(await run({ cwd }, "diff", a, b)).toEqual({ code: 0, out: "No changes.\n", err: "" })
  })
})
