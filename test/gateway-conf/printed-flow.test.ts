import { expect, test } from "vitest"
import { oneLine, type Printing } from "../../compiler/gateway/print.ts"
import { printStep } from "../../compiler/gateway/step-texts.ts"
import type { Step, StepKind } from "../../runtime/plan/steps.ts"
import { compiled } from "../diff/compiled.ts"

// Statements of relations, repetition, versions and backends: what is printed makes the step again.

const model = `model
  schema 1.1
type user
type order
  relations
    define viewer: [user]
    define owner: [user]
`

/** A plan in which the statement stands in a version of an API. */
const project = (statement: string, stores: readonly string[]) =>
  compiled({
    "orders.fga": model,
    "gateway.conf": `gateway acme {
  listen 127.0.0.1:8000
  trust none
}
issuer acme { discovery "https://id.example/.well-known/openid-configuration"; audience orders; claims { sub string } }
authz { ${stores.map((name) => `store ${name} { model "orders.fga" }`).join("; ")} }
pdp opa { url "https://pdp.example" }
backend one { url "http://127.0.0.1:9001"; balance hash by "\${request.ip}" }
api orders {
  path "/orders"
  auth jwt acme
  version v1 {
    ${/^backend/.test(statement) ? "" : "backend one"}
    ${statement}
    GET "/{id}"
  }
  version v2 { backend one; GET "/{id}" }
}`,
  })

function printed(statement: string, kind: StepKind, stores: readonly string[]) {
  const { plan: body } = project(statement, stores)
  const lacking: string[] = []
  const printing: Printing = {
    body,
    inSection: true,
    inside: (ids) => ids.map((id) => printStep(body.steps[id] as Step, printing)),
    header: (name) => name,
    lacks: (what) => lacking.push(what),
    refuses: (why) => lacking.push(why),
  }
  const { sections } = Object.values(body.routes).find(({ version }) => version === "v1") ?? {}
  const steps = Object.values(sections ?? {}).flatMap((ids) => ids.map((id) => body.steps[id]))
  const step = steps.find((each) => each?.kind === kind)
  if (step === undefined) throw new Error(`no step of ${kind}`)
  const text = oneLine(printStep(step, printing))
  expect(lacking).toEqual([])
  return { step, text }
}

const viewer = 'viewer of "order:${path.id}" for "user:${jwt.sub}"'
const owner = 'owner of "order:1" for "user:${jwt.sub}"'
const circumstances =
  'context "a b" (request.ip); context ip (request.ip); tuple "user:x" owner "order:${path.id}"'
const one = ["main"]
const two = ["main", "other"]
const rows: readonly (readonly [StepKind, string, readonly string[]])[] = [
  ["require", `require ${viewer}`, one],
  ["require", `require ${viewer} in other { ${circumstances} }`, two],
  ["require", `require ${viewer} by opa { subject a (request.ip); resource b (1); action "c d" (2) }`, one],
  ["require-any", `require any { ${viewer}; ${owner} { context a (1) } }`, one],
  ["require-any", `require any { ${viewer} in main; ${owner} in other }`, two],
  ["require-all", `require all { ${viewer} by opa; ${owner} by opa }`, one],
  ["filter", 'filter "items" by viewer of "order:${item.id}" for "user:${jwt.sub}"', one],
  [
    "filter",
    'filter "." by viewer of "order:${item.id}" for "user:${jwt.sub}" in main { context a (1) }',
    two,
  ],
  ["grant", 'grant owner of "order:${path.id}" to "user:${jwt.sub}"', one],
  ["grant", 'revoke owner of "order:${path.id}" from "user:${jwt.sub}" in other', two],
  ["retry", "inbound { retry 3 while (var.a == null) { set a (null) } }", one],
  [
    "retry",
    'inbound { retry 3 while (var.a == "x") every 90s plus 1m at-most 2h { set a "b"; set c "d" } }',
    one,
  ],
  ["parallel", 'inbound { parallel all { branch { set a "1"; set b "2" }; branch { set c "3" } } }', one],
  ["parallel", 'inbound { parallel any { branch { set a "1" } } }', one],
  ["deprecation", "deprecated", one],
  ["deprecation", 'deprecated 2026-01-01 "https://docs.example/v1"; sunset 2027-01-01; successor v2', one],
  ["deprecation", "sunset 2027-01-01 then 410", one],
  ["deprecation", "removed; successor v2", one],
  ["forward", "backend one", one],
  ["forward", 'backend "https://a.example/b"', one],
]

test.each(rows)("a step of %s is printed as `%s`", (kind, statement, stores) => {
  const { step, text } = printed(statement, kind, stores)
  const again = statement.startsWith("inbound") ? `inbound { ${text} }` : text
  expect(printed(again, kind, stores).step).toEqual(step)
  expect(again).toBe(statement)
})
