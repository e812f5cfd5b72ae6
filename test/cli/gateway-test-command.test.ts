import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { projectRoot } from "../structure/tree.ts"
import { fakeControl } from "./fake-control.ts"
import { exampleFolder, folderWith, run } from "./run.ts"

const config = `gateway main { listen 127.0.0.1:8000; limits { timeout 30s } }
issuer main { discovery "https://id.example"; audience orders; claims { sub string } }
backend orders { url "http://127.0.0.1:9001" }
api orders {
  path "/orders"
  backend orders
  auth jwt main
  limit 2 per 1m by jwt.sub
  GET "/{id}" { inbound { header set "X-User" "\${jwt.sub}" } }
}
`

const tests = `name: Orders
config: ../gateway.conf
given:
  callers: { ann: { token: { sub: ann } } }
tests:
  - name: ann reads
    request: GET /orders/1
    as: ann
    expect: { status: 200, backends: { orders: { headers: { X-User: ann } } }, left: 1 }
  - name: nobody else does
    skip: later
    request: GET /orders/1
    expect: { status: 500 }
`

const failing = tests.replace("left: 1", "left: 2").replace("X-User: ann", "X-User: bob")

const folder = (text: string) => folderWith({ "gateway.conf": config, "tests/a.gw.yaml": text })

describe("tests of a gateway", () => {
  test("pass, with the project in the folder above", async () => {
    const { code, out, err } = await run({ cwd: folder(tests) }, "test")
    expect(err).toBe("")
    expect(out).toBe(
      "ok    tests/a.gw.yaml  Orders  1 test, 4 expectations, 1 skipped\n\n1 file, 1 test, 4 expectations: all passed\n",
    )
    expect(code).toBe(0)
  })

  test("fail with what was expected, what was found and what responded", async () => {
    const { code, out } = await run({ cwd: folder(failing) }, "test", "tests")
    expect(code).toBe(1)
    expect(out).toBe(`FAIL  tests/a.gw.yaml  Orders  1 test, 4 expectations, 1 skipped

  ann reads
    GET /orders/1 as ann: backend orders: header x-user  tests/a.gw.yaml:9:69
      expected  bob
      got       ann
      why       200
                orders got GET /1: 200
    GET /orders/1 as ann: left  tests/a.gw.yaml:9:86
      expected  2
      got       1 of 2 per 60 s


1 file, 1 test, 4 expectations: 2 passed, 2 failed
`)
  })

  test("as JSON, JUnit and TAP", async () => {
    const cwd = folder(failing)
    const json = JSON.parse((await run({ cwd }, "test", "--json")).out)
    expect(json).toMatchObject({
      passed: false,
      gateways: [
        {
          file: "tests/a.gw.yaml",
          name: "Orders",
          tests: [
            {
              ...{ name: "ann reads", line: 6, passed: false, expectations: 4 },
              failures: [
                { what: "backend orders: header x-user", expected: "bob", got: "ann", line: 9 },
                { what: "left" },
              ],
            },
            { name: "nobody else does", skipped: "later" },
          ],
        },
      ],
    })
    const junit = (await run({ cwd }, "test", "--format", "junit")).out
    expect(junit).toContain(
      '<testsuites name="sallyport test" tests="2" failures="1" errors="0" skipped="1">',
    )
    expect(junit).toContain(
      '<failure message="GET /orders/1 as ann: backend orders: header x-user: expected bob, got ann">',
    )
    expect(junit).toContain('<skipped message="later"/>')
    const tap = (await run({ cwd }, "test", "--format", "tap")).out
    expect(tap).toBe(`TAP version 14
1..2
not ok 1 - tests/a.gw.yaml: ann reads
  ---
  request: "GET /orders/1 as ann"
  what: "backend orders: header x-user"
  expected: "bob"
  got: "ann"
  at: "tests/a.gw.yaml:9:69"
  ...
ok 2 - tests/a.gw.yaml: nobody else does # SKIP later
`)
  })

  test("show what they do not show, and which guards could be weaker unnoticed", async () => {
    const cwd = folderWith({
      "gateway.conf": config.replace(
        'header set "X-User" "${jwt.sub}"',
        'header remove "X-Secret"; when (request.header("X-A") == "1") { respond 403 }',
      ),
      "a.gw.yaml": `given: { callers: { ann: { token: { sub: ann } } } }
tests:
  - { request: GET /orders/1, as: ann, expect: { status: 200 } }
  - { request: GET /orders/1, expect: { status: 401 } }
`,
    })
    const { out, code } = await run({ cwd }, "test", "--mutate", "--fail-under", "70")
    expect(out.replace(/in \d+\.\d s/, "in N s")).toBe(`ok    a.gw.yaml  2 tests, 2 expectations

coverage of gateway.conf: 66 %, 70 % are required
  routes 2 of 4, steps 5 of 6, conditions 1 of 2, relations 0 of 0
  not tested:  gateway.conf:8  rate-limit never refuses  GET /orders/{id}
  not tested:  gateway.conf:9  respond never runs  GET /orders/{id}
  not tested:  gateway.conf:9  \`when\` is never true  GET /orders/{id}

guards of gateway.conf: 1 of 5 noticed when weakened (20 %), 70 % are required, in N s
  no test notices:  gateway.conf:8  \`rate-limit\` is left out  GET /orders/{id}
  no test notices:  gateway.conf:8  \`rate-limit\` allows 3 instead of 2  GET /orders/{id}
  no test notices:  gateway.conf:9  removal of header \`x-secret\` is left out  GET /orders/{id}
  no test notices:  gateway.conf:9  \`respond\` is left out; no test reaches it  GET /orders/{id}

1 file, 2 tests, 2 expectations: all passed
`)
    expect(code).toBe(1)
    const json = JSON.parse((await run({ cwd }, "test", "--mutate", "--coverage", "--json")).out)
    expect(json.gateway_coverage[0]).toMatchObject({
      config: "gateway.conf",
      percent: 66,
      counts: { routes: { all: 4, shown: 2 } },
    })
    expect(json.mutations[0]).toMatchObject({
      weakened: 5,
      noticed: 1,
      unnoticed: [{ place: "gateway.conf:8", reached: true }, {}, {}, {}],
    })
  })

  test("show WebSockets that never open, and what closes them unnoticed", async () => {
    const cwd = folderWith({
      "gateway.conf": `${config.replace("GET", "websocket { expire-with-token; idle 10m }\n  GET")}
api news { path "/news"; backend orders; auth none; websocket off; GET "/" }
`,
      "a.gw.yaml": `given: { callers: { ann: { token: { sub: ann } } } }
tests:
  - steps:
      - { request: GET /orders/1, as: ann, websocket: room, expect: { status: 101 } }
      - { after: 10m, websocket: room, expect: { websocket: closed } }
  - { request: GET /news/, expect: { status: 200 } }
`,
    })
    const { out } = await run({ cwd }, "test", "--mutate", "--coverage")
    const lines = out.split("\n").filter((line) => /WebSocket|websocket|is left out|idle/.test(line))
    expect(lines).toEqual([
      "  not tested:  gateway.conf:13  `websocket off` never refuses  GET /news",
      "  no test notices:  gateway.conf:8  `rate-limit` is left out  GET /orders/{id}",
      "  no test notices:  gateway.conf:9  `expire-with-token` is left out  GET /orders/{id}",
      "  no test notices:  gateway.conf:13  `websocket off` is left out; no test reaches it  GET /news",
    ])
  })

  test("count every response of a login, not only the page at its end", async () => {
    const cwd = folderWith({
      "gateway.conf": `gateway main { listen 127.0.0.1:8000; trust none }
secret web_secret = env(WEB_SECRET)
secret session_key = env(SESSION_KEY)
issuer corp { discovery "https://id.example/realms/acme"; audience orders-api }
oidc web { issuer corp; client "web" secret web_secret; session-keys session_key; lifetime 8h }
backend pages { url "http://127.0.0.1:9001" }
api app { path "/app"; backend pages; auth oidc web; GET "/{rest*}" }
`,
      "a.gw.yaml": `tests:
  - { request: GET /app/a, as: { login: { sub: ann } }, expect: { status: 200 } }
`,
    })
    const { out } = await run({ cwd }, "test", "--coverage")
    expect(out).toContain("coverage of gateway.conf: 100 %")
  })

  test("tests of a model count for its relations", async () => {
    const model =
      "model\n  schema 1.1\ntype user\ntype order\n  relations\n    define owner: [user]\n    define viewer: [user] or owner\n"
    const cwd = folderWith({
      "model.fga": model,
      "gateway.conf": `${config.replace('inbound { header set "X-User" "${jwt.sub}" }', 'require viewer of "order:${path.id}" for "user:${jwt.sub}"').replace("issuer", 'authz { store main { model "model.fga" } }\nissuer')}`,
      "a.gw.yaml": `given: { tuples: [{ user: user:ann, relation: owner, object: order:1 }] }
tests:
  - { request: GET /orders/1, as: { token: { sub: ann } }, expect: { status: 200 } }
`,
      "m.fga.yaml": `model_file: model.fga
tuples: [{ user: user:bob, relation: viewer, object: order:1 }]
tests: [{ name: viewers, check: [{ user: user:bob, object: order:1, assertions: { viewer: true } }] }]
`,
    })
    const of = async (...more: string[]) => {
      const { out } = await run({ cwd }, "test", ...more, "--mutate")
      return out.split("\n").filter((line) => line.includes("model.fga:"))
    }
    expect(await of("a.gw.yaml")).toEqual([
      expect.stringContaining("model.fga:7  `[user]` of `order#viewer` is left out; no test reaches it"),
    ])
    expect(await of()).toEqual([])
  })

  test("are chosen by name, and are refused with a project that does not compile", async () => {
    const cwd = folder(tests)
    expect((await run({ cwd }, "test", "--filter", "reads")).out).toContain(
      "1 test, 4 expectations: all passed",
    )
    const none = await run({ cwd }, "test", "--filter", "no such")
    expect(none.err).toContain("no test, store or file of gateway tests has `no such` in its name")
    const broken = folderWith({
      "gateway.conf": config.replace("jwt main", "jwt mian"),
      "tests/a.gw.yaml": tests,
    })
    const { code, err } = await run({ cwd: broken }, "test")
    expect(code).toBe(1)
    expect(err).toContain("gateway.conf:7:12")
    const missing = await run(
      { cwd: folderWith({ "a.gw.yaml": tests.replace("../gateway.conf", "x.conf") }) },
      "test",
    )
    expect(missing.err).toContain("SP6017")
    expect(missing.err).toContain("`x.conf` does not exist")
  })

  test("the project's own pass", async () => {
    const { code, out } = await run({ cwd: projectRoot }, "test", "models/tests/acme.gw.yaml")
    expect(out).toMatch(/\d+ expectations: all passed\n$/)
    expect(code).toBe(0)
  })

  test("the manual's example passes", async () => {
    const manual = readFileSync(join(projectRoot, "compiler/docs/testing.md"), "utf8")
    const [, example = ""] = /```yaml\n(name: Acme's API[\s\S]+?)```/.exec(manual) ?? []
    const cwd = exampleFolder()
    writeFileSync(join(cwd, "models/tests/acme.gw.yaml"), example)
    const { out } = await run({ cwd }, "test", "models/tests/acme.gw.yaml")
    expect(out).toContain("2 tests, 9 expectations: all passed")
  })
})

test("apply --probe tests exactly the plan, before it sends it", async () => {
  const control = await fakeControl({
    "PUT /v1/plan": { status: 422, json: { title: "sent" } },
  })
  const apply = (text: string, ...words: string[]) =>
    run({ cwd: folder(text), env: control.env }, "apply", "--yes", "--probe", ...words)
  const failed = await apply(failing)
  expect(failed).toMatchObject({ code: 3, err: expect.stringContaining("not applied: the plan fails tests") })
  expect(failed.out).toContain("expected  bob")
  const other = await apply(tests.replace("config: ../gateway.conf", "config: ../other.conf"))
  expect(other).toMatchObject({ code: 3, err: expect.stringContaining("tests gateway.conf") })
  expect(control.seen.some(({ method }) => method === "PUT")).toBe(false)
  const passed = await apply(tests)
  expect(passed.out).toContain("all passed")
  expect(passed.err).toContain("sent")
  // The plan of a file is tested, not the one that the text would give now.
  const cwd = folder(tests)
  await run({ cwd }, "plan", "--against", "empty", "--out", "next.json")
  writeFileSync(join(cwd, "gateway.conf"), config.replace("${jwt.sub}", "nobody"))
  const fromFile = await run({ cwd, env: control.env }, "apply", "next.json", "--yes", "--probe")
  expect(fromFile.out).toContain("all passed")
  expect((await run({ cwd, env: control.env }, "apply", "--yes", "--probe")).code).toBe(3)
})
