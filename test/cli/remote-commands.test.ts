import { describe, expect, test } from "vitest"
import type { PlanRecord, StatusAnswer } from "../../runtime/control/api.ts"
import { type Answer, fakeControl, token } from "./fake-control.ts"
import { folderWith, run } from "./run.ts"

const record = (serial: number, over: Partial<PlanRecord> = {}): PlanRecord => ({
  serial,
  stamp: `stamp of ${serial}`,
  digest: `sha256:${String(serial).padStart(64, "0")}`,
  at: "2026-01-02T03:04:05.678Z",
  who: "ann",
  commit: null,
  message: null,
  ...over,
})

const emptyPlan = {
  gateway: null,
  authz: null,
  values: {},
  secrets: {},
  issuers: {},
  backends: {},
  products: {},
  subscriptions: {},
  routes: {},
  steps: {},
  models: {},
  schemas: {},
}
const planAnswer = (serial: number, digest = record(serial).digest): Answer => ({
  json: { record: record(serial, { digest }), plan: { format: 1, digest, plan: emptyPlan, origins: {} } },
})

const database: StatusAnswer["database"] = {
  ...{ kind: "postgres", server: "db1:5432" },
  connections: { max: 10, size: 4, inUse: 3, waiting: 2 },
  replicas: [],
  capabilities: [],
}

const engine: StatusAnswer["engine"] = {
  ...{ memoryBytes: 3_000_000, memoryBytesMax: 536_870_912, whole: 2, paged: 1 },
  loading: [{ store: "acme", part: 0.456 }],
  stores: [
    {
      ...{ store: "shop", form: "whole", tuples: 12_345, bytes: 2_500_000 },
      ...{ revision: 7, behind: 1, staleMs: 240 },
    },
  ],
}

const idleEngine: StatusAnswer["engine"] = {
  ...{ memoryBytes: 0, memoryBytesMax: 536_870_912, whole: 0, paged: 0 },
  loading: [],
  stores: [],
}

describe("reaching a Sallyport", () => {
  test("nobody listens there", async () => {
    const env = { SALLYPORT_CONTROL_URL: "http://127.0.0.1:1", SALLYPORT_CONTROL_TOKEN: token }
    const outcome = await run({ cwd: "/", env }, "status")
    expect(outcome).toMatchObject({ code: 1, out: "" })
    expect(outcome.err).toMatch(
      /no Sallyport responds at http:\/\/127\.0\.0\.1:1 .*\nhelp: Start `sallyport dev` here/,
    )
  })

  test("a URL that is none, another service, a wrong token, no token", async () => {
    const control = await fakeControl({
      "GET /v1/status": { text: "<html>" },
      "GET /v1/plans?limit=20": { json: { fine: true }, other: true },
    })
    const bad = await run(
      { cwd: "/", env: { ...control.env, SALLYPORT_CONTROL_URL: "localhost:8082" } },
      "status",
    )
    expect(bad).toMatchObject({ code: 1, err: expect.stringContaining("is not an http(s) URL") })
    const html = await run({ cwd: "/", env: control.env }, "status")
    expect(html).toMatchObject({ code: 1, err: expect.stringContaining("responds, but is not a Sallyport") })
    const other = await run({ cwd: "/", env: control.env }, "history")
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining("responds, but is not a Sallyport") })
    const wrong = await run({ cwd: "/", env: { ...control.env, SALLYPORT_CONTROL_TOKEN: "wrong" } }, "status")
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringContaining("refused the control token"),
    })
    const none = await run({ cwd: folderWith({}) }, "status")
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("no control token") })
  })

  test("address and token that `dev` left in the folder are found, and the environment goes before them", async () => {
    const control = await fakeControl({ "GET /v1/plans?limit=20": { json: { plans: [] } } })
    const left = { control: control.env["SALLYPORT_CONTROL_URL"], identity: "http://127.0.0.1:1" }
    const cwd = folderWith({
      ".sallyport/dev.json": JSON.stringify(left),
      ".sallyport/control.token": `${token}\n`,
    })
    expect(await run({ cwd }, "history")).toMatchObject({ code: 0, out: "No plan was applied yet.\n" })
    const elsewhere = await run({ cwd, env: { SALLYPORT_CONTROL_URL: "http://127.0.0.1:1" } }, "history")
    expect(elsewhere.err).toContain("no Sallyport responds at http://127.0.0.1:1")
  })

  test("a status without the database does not say that nothing was applied", async () => {
    const process = {
      ...{ id: "p", host: "h", pid: 1, version: "0.1.0", startedAt: "2026-01-02T03:04:05.678Z" },
      ...{ seenAt: "2026-01-02T03:04:05.678Z", roles: ["gateway"], serial: 3, digest: record(3).digest },
      ...{ error: "the database does not respond", state: "active", reasons: [] },
    } as unknown as StatusAnswer["processes"][number]
    const warnings = ["the database does not respond: only the process that serves this request is shown"]
    const shown = async (processes: StatusAnswer["processes"]) => {
      const own = { issuers: [], certificates: [], traffic: null, database, engine: idleEngine }
      const json = { serial: null, processes, warnings, ...own } satisfies StatusAnswer
      return (await run({ cwd: "/", env: (await fakeControl({ "GET /v1/status": { json } })).env }, "status"))
        .out
    }
    expect(await shown([process])).toMatch(/^The newest plan is unknown\.\nPROCESS/)
    expect(await shown([])).toMatch(/^No plan was applied yet\.\n/)
  })

  test("a status names the database server and the connections in use", async () => {
    const json = {
      serial: 3,
      processes: [],
      warnings: [],
      issuers: [],
      certificates: [],
      traffic: null,
      database,
      engine,
    } satisfies StatusAnswer
    const control = await fakeControl({ "GET /v1/status": { json } })
    expect((await run({ cwd: "/", env: control.env }, "status")).out).toContain(
      "This process uses 3 of 10 database connections to db1:5432 (4 are open); 2 statements wait for one.\n",
    )
  })

  test("a status says which stores are in memory, and how far a load is", async () => {
    const json = {
      ...{ serial: 3, processes: [], warnings: [], issuers: [], certificates: [], traffic: null },
      ...{ database, engine },
    } satisfies StatusAnswer
    const control = await fakeControl({ "GET /v1/status": { json } })
    expect((await run({ cwd: "/", env: control.env }, "status")).out).toContain(
      "This process has 2 stores whole in memory, and pages of 1 (3 of 512 MB).\nStore acme is being loaded: 45 % of its tuples are read.\n" +
        "STORE  IN MEMORY  TUPLES  MB  REVISION  BEHIND  STALENESS\n" +
        "shop   whole      12345   3   7         1       0.2 s\n",
    )
  })

  test("what the API says is wrong is passed on", async () => {
    const control = await fakeControl({
      "GET /v1/status": {
        status: 503,
        json: { title: "Database unavailable", detail: "nothing was changed" },
      },
    })
    const outcome = await run({ cwd: "/", env: control.env }, "status")
    expect(outcome).toEqual({ code: 1, out: "", err: "error: Database unavailable: nothing was changed\n" })
  })
})

describe("history, status, rollback", () => {
  test("history", async () => {
    const plans = [
      record(3, { commit: "0123456789abcdef+ Open the catalog", message: "Incident 7" }),
      record(2, { commit: "0123456789abcdef", message: "The subject, as older versions stored it" }),
      record(1, { commit: "fedcba9876543210 First", message: null }),
    ]
    const control = await fakeControl({ "GET /v1/plans?limit=2": { json: { plans } } })
    const { code, out } = await run({ cwd: "/", env: control.env }, "history", "--limit", "2")
    expect(code).toBe(0)
    expect(out).toBe(
      "SERIAL  APPLIED               WHO  DIGEST        REASON      COMMIT\n" +
        "3       2026-01-02 03:04:05Z  ann  000000000000  Incident 7  0123456789ab+ Open the catalog\n" +
        "2       2026-01-02 03:04:05Z  ann  000000000000  -           0123456789ab The subject, as older versions stored it\n" +
        "1       2026-01-02 03:04:05Z  ann  000000000000  -           fedcba987654 First\n",
    )
    const json = await run({ cwd: "/", env: control.env }, "history", "--limit", "2", "--format", "json")
    expect(JSON.parse(json.out)).toEqual(plans)
  })

  test("status tells each process with its serial and its error", async () => {
    const at = {
      host: "h",
      version: "0.1.0",
      startedAt: "2026-01-02T03:04:05.678Z",
      seenAt: "2026-01-02T03:04:05.678Z",
      state: "active" as const,
      reasons: [],
      subscriptions: null,
    }
    const status: StatusAnswer = {
      serial: 3,
      processes: [
        { ...at, id: "1", pid: 11, roles: ["gateway"], serial: 3, error: null },
        { ...at, id: "2", pid: 12, roles: ["authz", "control"], serial: 2, error: null },
        {
          ...at,
          ...{ id: "3", pid: 13, roles: ["gateway"], serial: null },
          error: "plan 3: the variable A is not set",
        },
        {
          ...at,
          ...{ id: "4", pid: 14, roles: ["gateway"], serial: 3, error: null },
          state: "degraded",
          reasons: ["usage is stored on disk", "issuer acme: away"],
        },
        {
          ...at,
          ...{ id: "5", pid: 15, roles: ["gateway"], serial: 2, error: "the database is away" },
          state: "degraded",
          reasons: ["the database is away", "plan 2 is served from disk"],
        },
      ],
      warnings: ["issuer acme: does not answer"],
      traffic: {
        ...{ requests: 2, tunnels: 1 },
        backends: { orders: [{ origin: "http://o:1", health: "up", breaker: "open", outstanding: 2 }] },
        ...{ discoveries: {}, durations: {}, bounds: [] },
        decisionPoints: {
          corp: { origin: "http://p:1", health: "down", breaker: "half-open", outstanding: 1 },
          spare: { origin: "http://p:2", health: "unknown", breaker: "none", outstanding: 0 },
        },
      },
      ...{ issuers: [], certificates: [], database, engine: idleEngine },
    }
    const control = await fakeControl({ "GET /v1/status": { json: status } })
    const { code, out } = await run({ cwd: "/", env: control.env }, "status")
    expect(code).toBe(0)
    expect(out).toMatch(/^The newest plan is serial 3\.\n/)
    expect(out).toContain("This process has 2 requests in progress and 1 open WebSockets.\n")
    expect(out).toMatch(/DECISION POINT +ADDRESS.*\ncorp +http:\/\/p:1 +down +half-open +1\n/)
    expect(out).toMatch(/spare +http:\/\/p:2 +unknown +- +0\n/)
    expect(out).toMatch(/orders +http:\/\/o:1 +up +open +2\n/)
    expect(out).toMatch(/h:11 .* 3 +up to date\n/)
    expect(out).toMatch(/h:12 +authz,control .* 2 +behind\n/)
    expect(out).toMatch(/h:13 .* - +error: plan 3: the variable A is not set\n/)
    expect(out).toMatch(/h:14 .* 3 +degraded: usage is stored on disk; issuer acme: away\n/)
    expect(out).toMatch(/h:15 .* 2 +error: the database is away; plan 2 is served from disk\n/)
    expect(out).toContain("warning: issuer acme: does not answer\n")
  })

  test("history show tells who applied a plan and why, and renders its changes again", async () => {
    const about = { who: "ci", commit: "abcdef0123+ Raise the limit", message: "release 1.4" }
    const consent = { who: "eve", kind: "person", issuer: "staff", role: "viewer", groups: ["security"] }
    const seal = {
      ...{ history: "here", base: null, digest: record(4).digest, at: "2026-01-02T03:00:00.000Z" },
      author: about,
    }
    const given = { ...consent, allow: ["opens"], message: "ticket 7", at: "2026-01-02T03:01:00.000Z" }
    const shown = record(4, {
      ...about,
      who: "ann",
      provenance: { seal, signer: "ci", consents: [given as never] },
    })
    const before = { ...emptyPlan, values: { a: { text: "1" } } }
    const [old, next] = [planAnswer(3), planAnswer(4)] as { json: { record: object; plan: object } }[]
    const control = await fakeControl({
      "GET /v1/plans/3": { json: { ...old?.json, plan: { ...old?.json.plan, plan: before } } },
      "GET /v1/plans/4": { json: { ...next?.json, record: shown } },
      "GET /v1/plans/1": planAnswer(1),
      "GET /v1/plans/9": planAnswer(9),
    })
    const show = (...words: string[]) => run({ cwd: "/", env: control.env }, "history", ...words)
    const { code, out } = await show("show", "4")
    expect(code).toBe(0)
    expect(out).toBe(`Serial 4, applied 2026-01-02 03:04:05Z by ann
Reason:   release 1.4
Commit:   abcdef0123 Raise the limit (with changes that are not in the commit)
Made:     2026-01-02 03:00:00Z by ci, signed by \`ci\`
Consent:  eve (viewer, security) to opens, 2026-01-02 03:01:00Z: ticket 7
Digest:   ${record(4).digest}

Compared with serial 3:

value a
  - neutral   value a = "1"
              it is no longer used

1 change: 1 neutral
`)
    expect((await show("show", "1")).out).toContain("The first plan: everything was new.")
    expect((await show("show", "9")).out).toContain("What it changed is unknown: serial 8 was deleted.")
    expect(JSON.parse((await show("show", "4", "--json")).out)).toMatchObject({
      record: { who: "ann" },
      changes: [{ risk: "neutral" }],
    })
    expect(await show("show", "5")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no plan with serial 5"),
    })
    expect((await show("show")).err).toContain("history lists all plans, or shows one")
  })

  test("rollback applies an earlier plan over the running one", async () => {
    const control = await fakeControl({
      "GET /v1/plan": planAnswer(9),
      "GET /v1/plans/4": planAnswer(4),
      "GET /v1/plans/8": planAnswer(8, record(9).digest),
      "POST /v1/rollback": { json: { applied: true, record: record(10) } },
    })
    const env = control.env
    expect(await run({ cwd: "/", env }, "rollback", "4")).toMatchObject({ code: 3 })
    expect(control.seen.some(({ method }) => method === "POST")).toBe(false)
    const done = await run({ cwd: "/", env }, "rollback", "4", "--yes")
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining("Applied as serial 10.") })
    expect(control.seen.at(-1)?.body).toMatchObject({ serial: 4, base: 9 })
    expect(await run({ cwd: "/", env }, "rollback", "8", "--yes")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Nothing to do"),
    })
    expect(await run({ cwd: "/", env }, "rollback", "5", "--yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no plan with serial 5"),
    })
  })
})

describe("rollback without the database", () => {
  const place = (serial: number) => {
    const { stamp, digest } = record(serial)
    return { serial, stamp, digest }
  }

  test("an outage names the option, and the option changes the process that is asked", async () => {
    const unavailable = {
      status: 503,
      json: { type: "urn:sallyport:control:unavailable", detail: "the database is unavailable" },
    }
    const control = await fakeControl({
      "GET /v1/plans/4": unavailable,
      "GET /v1/kept-plans": { json: { running: place(9), plans: [record(9), record(4)] } },
      "GET /v1/kept-plans/9": planAnswer(9),
      "GET /v1/kept-plans/4": planAnswer(4),
      "POST /v1/rollback/without-database": {
        json: { base: place(9), to: place(4), who: "ann", message: null, at: "2026-11-27T10:00:00.000Z" },
      },
    })
    const { env } = control
    expect(await run({ cwd: "/", env }, "rollback", "4")).toMatchObject({
      code: 1,
      err: expect.stringContaining("sallyport rollback 4 --without-database"),
    })
    expect(await run({ cwd: "/", env }, "history", "--kept")).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^SERIAL[\s\S]*\n9 [\s\S]*\n4 /),
    })
    // Without a terminal it needs --yes.
    expect(await run({ cwd: "/", env }, "rollback", "4", "--without-database")).toMatchObject({ code: 3 })
    expect(control.seen.some(({ method }) => method === "POST")).toBe(false)
    const done = await run({ cwd: "/", env }, "rollback", "4", "--without-database", "--yes")
    expect(done).toMatchObject({ code: 0, out: expect.stringContaining("No other process has changed") })
    expect(control.seen.at(-1)?.body).toMatchObject({ serial: 4, base: 9, author: { message: null } })
  })

  test("the content that is served already, and a process without a plan", async () => {
    const control = await fakeControl({
      "GET /v1/kept-plans": { json: { running: place(9), plans: [] } },
      "GET /v1/kept-plans/8": planAnswer(8, record(9).digest),
    })
    const { env } = control
    expect(await run({ cwd: "/", env }, "rollback", "8", "--without-database")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Nothing to do"),
    })
    control.answers["GET /v1/kept-plans"] = { json: { running: null, plans: [] } }
    expect(await run({ cwd: "/", env }, "rollback", "8", "--without-database")).toMatchObject({
      code: 1,
      err: expect.stringContaining("serves no plan of the history"),
    })
    expect((await run({ cwd: "/", env }, "history", "--kept")).out).toContain("keeps no plan on disk")
  })
})

describe("check and tuples", () => {
  const stores = (...names: string[]): Answer => ({
    json: { stores: names.map((name) => ({ id: `id-${name}`, name })), continuation_token: "" },
  })
  const listed = "GET /authz/stores?page_size=2"

  test("list-objects: one a line, all pages, or one JSON document", async () => {
    const control = await fakeControl({
      "GET /authz/stores?page_size=2": { json: { stores: [{ id: "id-acme", name: "acme" }] } },
      "POST /authz/stores/id-acme/list-objects": ({ body }) =>
        (body as { continuation_token?: string }).continuation_token === undefined
          ? { json: { objects: ["order:1", "order:2"], continuation_token: "more", truncated: "deadline" } }
          : { json: { objects: ["order:3"] } },
    })
    const words = ["list-objects", "user:bob", "viewer", "order", "--context", '{"a":1}']
    const text = await run({ cwd: "/", env: control.env }, ...words)
    expect(text).toEqual({ code: 0, out: "order:1\norder:2\norder:3\n", err: "" })
    const question = { user: "user:bob", relation: "viewer", type: "order", context: { a: 1 } }
    expect(control.seen.slice(1).map(({ body }) => body)).toEqual([
      question,
      { ...question, continuation_token: "more" },
    ])
    const json = await run({ cwd: "/", env: control.env }, ...words, "--json")
    expect(JSON.parse(json.out)).toEqual({ objects: ["order:1", "order:2", "order:3"] })
  })

  test("list-users: objects, sets and wildcards with whom they do not cover", async () => {
    const answer = {
      users: [
        { object: { type: "user", id: "ann" } },
        { wildcard: { type: "user" } },
        { userset: { type: "group", id: "eng", relation: "member" } },
      ],
      excluded_users: [{ object: { type: "user", id: "bob" } }],
    }
    const control = await fakeControl({ "POST /authz/stores/acme/list-users": { json: answer } })
    const words = ["list-users", "user", "viewer", "order:1", "--store", "acme"]
    const text = await run({ cwd: "/", env: control.env }, ...words)
    expect(text).toEqual({
      code: 0,
      out: "user:ann\nuser:*\ngroup:eng#member\nbut not user:bob\n",
      err: "",
    })
    const json = await run({ cwd: "/", env: control.env }, ...words, "--format", "json")
    expect(JSON.parse(json.out)).toEqual(answer)
    control.answers["POST /authz/stores/acme/list-users"] = { json: { users: [] } }
    expect(await run({ cwd: "/", env: control.env }, ...words)).toEqual({
      code: 0,
      out: "",
      err: "The list is empty.\n",
    })
    control.answers["POST /authz/stores/acme/list-users"] = {
      status: 400,
      json: { code: "validation_error", message: "relation 'order#viewer' not found" },
    }
    expect(await run({ cwd: "/", env: control.env }, ...words)).toMatchObject({
      code: 1,
      out: "",
      err: "error: relation 'order#viewer' not found (validation_error)\n",
    })
  })

  test("check prints the answer, exits 0 for both, and 2 on a denial when asked to", async () => {
    const explanation = {
      version: 1,
      allowed: false,
      user: "user:bob",
      relation: "viewer",
      object: "order:1",
      revision: 7,
      misses: [{ add: [{ user: "user:bob", relation: "owner", object: "order:1" }], remove: [] }],
      complete: true,
    }
    const control = await fakeControl({
      [listed]: stores("acme"),
      "POST /authz/stores/id-acme/check": { json: { allowed: false, explanation } },
    })
    const words = ["check", "user:bob", "viewer", "order:1", "--explain"]
    const denied = await run({ cwd: "/", env: control.env }, ...words, "--context", '{"a":1}')
    expect(denied).toEqual({
      code: 0,
      err: "",
      out:
        "denied: user:bob does not have viewer on order:1\n" +
        "  it would be allowed after any of\n    write user:bob owner order:1\n",
    })
    expect(control.seen.at(-1)?.body).toEqual({
      tuple_key: { user: "user:bob", relation: "viewer", object: "order:1" },
      context: { a: 1 },
      explain: true,
      ternary: true,
    })
    expect(await run({ cwd: "/", env: control.env }, ...words, "--exit-code")).toMatchObject({ code: 2 })
    control.answers["POST /authz/stores/id-acme/check"] = { json: { allowed: true } }
    const allowed = await run({ cwd: "/", env: control.env }, ...words, "--exit-code", "--format", "json")
    expect({ ...allowed, out: JSON.parse(allowed.out) }).toEqual({ code: 0, err: "", out: { allowed: true } })
  })

  test("the store: named, the only one, none, several", async () => {
    const control = await fakeControl({ "POST /authz/stores/other/check": { json: { allowed: true } } })
    const words = ["check", "user:bob", "viewer", "order:1"]
    expect(await run({ cwd: "/", env: control.env }, ...words, "--store", "other")).toMatchObject({ code: 0 })
    control.answers[listed] = stores()
    expect((await run({ cwd: "/", env: control.env }, ...words)).err).toContain(
      "gateway.conf declares no store",
    )
    control.answers[listed] = stores("a", "b")
    expect((await run({ cwd: "/", env: control.env }, ...words)).err).toContain("Name one with --store NAME")
  })

  test("what the engine refuses is told with its code", async () => {
    const control = await fakeControl({
      [listed]: stores("acme"),
      "POST /authz/stores/id-acme/check": {
        status: 400,
        json: { code: "validation_error", message: "type 'x' not found" },
      },
    })
    const outcome = await run({ cwd: "/", env: control.env }, "check", "x:1", "viewer", "order:1")
    expect(outcome).toEqual({ code: 1, out: "", err: "error: type 'x' not found (validation_error)\n" })
  })

  test("write and delete send one tuple, and may be repeated when said", async () => {
    const control = await fakeControl({ [listed]: stores("acme"), "POST /authz/stores/id-acme/write": {} })
    const { env } = control
    const tuple = ["user:bob", "support", "order:1"]
    const key = { user: "user:bob", relation: "support", object: "order:1" }
    const written = await run(
      { cwd: "/", env },
      "tuple",
      "write",
      ...tuple,
      "--condition",
      "c",
      "--context",
      '{"d":1}',
    )
    expect(written).toEqual({ code: 0, out: "written: user:bob support order:1 with c\n", err: "" })
    expect(control.seen.at(-1)?.body).toEqual({
      writes: {
        tuple_keys: [{ ...key, condition: { name: "c", context: { d: 1 } } }],
        on_duplicate: "error",
      },
    })
    await run({ cwd: "/", env }, "tuple", "write", ...tuple, "--ignore-existing")
    expect(control.seen.at(-1)?.body).toEqual({ writes: { tuple_keys: [key], on_duplicate: "ignore" } })
    expect(await run({ cwd: "/", env }, "tuple", "delete", ...tuple, "--ignore-missing")).toMatchObject({
      code: 0,
    })
    expect(control.seen.at(-1)?.body).toEqual({ deletes: { tuple_keys: [key], on_missing: "ignore" } })
  })

  test("read goes from page to page", async () => {
    const tuple = (id: number) => ({
      key: { user: `user:${id}`, relation: "owner", object: "order:1", condition: null },
      timestamp: "2026-01-02T03:04:05Z",
    })
    const control = await fakeControl({
      [listed]: stores("acme"),
      "POST /authz/stores/id-acme/read": ({ body }) =>
        (body as { continuation_token: string }).continuation_token === ""
          ? { json: { tuples: [tuple(1)], continuation_token: "next" } }
          : { json: { tuples: [tuple(2)], continuation_token: "" } },
    })
    const text = await run(
      { cwd: "/", env: control.env },
      "tuple",
      "read",
      "--object",
      "order:1",
      "--user",
      "user:1",
    )
    expect(text).toEqual({ code: 0, out: "user:1 owner order:1\nuser:2 owner order:1\n", err: "" })
    expect(control.seen.at(-1)?.body).toMatchObject({ tuple_key: { object: "order:1", user: "user:1" } })
    const json = await run({ cwd: "/", env: control.env }, "tuple", "read", "--format", "json")
    expect(
      json.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([tuple(1), tuple(2)])
  })
})
