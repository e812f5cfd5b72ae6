import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { withSettings } from "../../runtime/plan/settings.ts"
import { compile } from "../compile.ts"

const text = `
gateway g {
  listen 127.0.0.1:8000
  trust  env(PROXIES, "10.0.0.0/8")
  limits { body env(BODY, "20MB"); headers env(HEADERS, "50"); head-timeout env(HEAD, "5s") }
  tracing { otlp "http://collector:4318"; sample env(SHARE, "5%") }
}
authz { listen 127.0.0.1:8080; max-staleness env(STALE, "10s"); store s { model "m.fga" } }
backend b { url "http://127.0.0.1:9"; timeout connect env(CONNECT, "1s") total 20s }
backend unused { url "http://127.0.0.1:9"; timeout env(NEVER, "1s") }
api a { path "/a"; auth none; backend b; GET "/" }
`
const { plan } = compile(
  new MemoryFiles([
    ["gateway.conf", text],
    ["m.fga", "model\n  schema 1.1\ntype user\n"],
  ]),
  "gateway.conf",
)
if (plan === undefined) throw new Error("the project is valid")

/** What is wrong with an environment. */
function problemsOf(environment: Record<string, string>): readonly string[] {
  const set = withSettings(plan as NonNullable<typeof plan>, environment)
  return "problems" in set ? set.problems.map(({ place, message }) => `${place}: ${message}`) : []
}

test("variables that are set replace the defaults, and nothing else", () => {
  const environment = {
    ...{ PROXIES: "192.168.1.7, fd00::/8 192.168.1.7", BODY: "1GB", HEADERS: "10" },
    ...{ SHARE: "0.5%", STALE: "none", CONNECT: " 250ms " },
  }
  const set = withSettings(plan, environment)
  if ("problems" in set) throw new Error("the environment is valid")
  const { gateway, authz, backends, ...others } = plan.plan
  expect(set.plan).toEqual({
    ...plan,
    plan: {
      ...others,
      gateway: {
        ...gateway,
        trust: ["192.168.1.7/32", "fd00::/8"],
        limits: { ...gateway?.limits, bodyBytesMax: 2 ** 30, headersMax: 10 },
        tracing: { ...gateway?.tracing, sample: 0.5 },
      },
      authz: { ...authz, maxStalenessMs: null },
      backends: { b: { ...backends["b"], connectMs: 250 } },
    },
  })
})

test("without a variable the plan is the same object", () => {
  expect(withSettings(plan, { NEVER: "not read, because nothing uses the backend" })).toEqual({ plan })
})

test("`none` trusts no proxy", () => {
  expect(withSettings(plan, { PROXIES: "none" })).toMatchObject({
    plan: { plan: { gateway: { trust: [] } } },
  })
})

test("all values that do not fit are reported, each with its place and what to write", () => {
  expect(
    problemsOf({
      ...{ PROXIES: "10.0.0.1/8", BODY: "20 MB", HEADERS: "0", HEAD: "none", SHARE: "101%", STALE: "" },
      CONNECT: "-1s",
    }),
  ).toMatchInlineSnapshot(`
    [
      "gateway.trust: the environment variable PROXIES is \`10.0.0.1/8\`: \`10.0.0.1/8\` has bits set after its prefix; write networks such as \`10.0.0.0/8\`, separated by blanks, or \`none\`",
      "gateway.limits.bodyBytesMax: the environment variable BODY is \`20 MB\`: write a size between \`0B\` and \`1024GB\`",
      "gateway.limits.headersMax: the environment variable HEADERS is \`0\`: write a whole number between \`1\` and \`10000\`",
      "gateway.limits.headMs: the environment variable HEAD is \`none\`: write a duration between \`1s\` and \`2m\`",
      "gateway.tracing.sample: the environment variable SHARE is \`101%\`: write a share between \`0%\` and \`100%\`",
      "authz.maxStalenessMs: the environment variable STALE is \`\`: write a duration between \`1ms\` and \`1d\`",
      "backends.b.connectMs: the environment variable CONNECT is \`-1s\`: write a duration between \`1ms\` and \`1d\`",
    ]
  `)
})

test("the places of decisions are no settings", () => {
  const place = "control.issuers"
  const foreign = {
    ...plan,
    plan: { ...plan.plan, settings: { [place]: { env: "X", is: "count" as const } } },
  }
  expect(withSettings(foreign, { X: "1" })).toEqual({
    problems: [{ place, message: "the environment variable X is `1`: the plan has no such place" }],
  })
})
