import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { digestOf, stepIdOf } from "../../runtime/plan/canonical.ts"
import type { Plan, PlanBody } from "../../runtime/plan/plan.ts"
import { readPlan } from "../../runtime/plan/read.ts"
import { compile } from "../compile.ts"

const { plan } = compile(
  new MemoryFiles([
    [
      "gateway.conf",
      'gateway g { listen 127.0.0.1:8000 }\napi a { path "/a"; backend "http://127.0.0.1:9001"; auth none; policy xml "a.xml"; GET "/" {}; POST "/" {} }',
    ],
    [
      "a.xml",
      '<policies><inbound><base /><set-query-parameter id="q" name="a"><value>1</value></set-query-parameter></inbound></policies>',
    ],
  ]),
  "gateway.conf",
)
const made = plan as Plan
const [[id, outline] = ["", {}]] = Object.entries(made.plan.outlines ?? {})

function problemsOf(change: Partial<PlanBody>): readonly string[] {
  const body = { ...made.plan, ...change }
  const read = readPlan({ ...made, plan: body, digest: digestOf(body) })
  return "problems" in read ? read.problems.map(({ path, message }) => `${path}: ${message}`) : []
}

test("routes whose documents are the same share an outline", () => {
  expect(made.plan.outlines).toEqual({
    [id]: {
      "inbound.0": { source: "set-query-parameter", scope: "api", path: "set-query-parameter[1]", id: "q" },
    },
  })
  expect(Object.values(made.plan.routes).map((route) => route.outline)).toEqual([id, id])
  expect(problemsOf({})).toEqual([])
})

test("an outline is there, is used, and has the id of its content", () => {
  expect(problemsOf({ outlines: {} })).toEqual([
    `plan.routes["GET /a"].outline: there is no outline \`${id}\``,
    `plan.routes["POST /a"].outline: there is no outline \`${id}\``,
  ])
  expect(problemsOf({ outlines: { [id]: outline, [stepIdOf({})]: {} } })).toEqual([
    `plan.outlines.${stepIdOf({})}: no route has this outline`,
  ])
  expect(problemsOf({ outlines: { [id]: {} } })).toEqual([
    `plan.outlines.${id}: the id does not match the content`,
  ])
})
