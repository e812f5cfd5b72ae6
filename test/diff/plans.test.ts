import { describe, expect, test } from "vitest"
import { comparePlans } from "../../compiler/diff/compare-plans.ts"
import { stepIdOf } from "../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import { compiled } from "./compiled.ts"

// Plans that gateway.conf cannot say, as other tools make them: what guards may stand anywhere.

const body = compiled({
  "gateway.conf": `gateway acme { listen 127.0.0.1:8000 }
authz {
  store acme { model "acme.fga" }
}
issuer acme { discovery "https://id.example/.well-known/openid-configuration"; audience a }
backend one { url "http://127.0.0.1:9001" }
api orders { path "/orders"; auth jwt acme; backend one; GET "/{id}" }
`,
  "acme.fga":
    "model\n  schema 1.1\n\ntype user\n\ntype order\n  relations\n    define owner: [user]\n    define viewer: [user]\n",
}).plan

const auth: Step = {
  kind: "validate-jwt",
  issuers: ["acme"],
  from: { header: "authorization", scheme: "Bearer" },
  claims: [],
  requireExpiration: true,
  status: 401,
  claimStatus: 403,
}
const limit: Step = {
  kind: "rate-limit",
  counter: "api orders: ip, 60s",
  callsMax: 5,
  periodSeconds: 60,
  keys: [{ by: "ip" }],
}
const answer: Step = { kind: "respond", status: 200, headers: [], media: null }

function planWith(...inbound: Step[]): PlanBody {
  const key = "GET /orders/{id}"
  const route = body.routes[key]
  if (route === undefined) throw new Error("the route is gone")
  const steps = Object.fromEntries(inbound.map((step) => [stepIdOf(step), step]))
  const sections = { ...route.sections, inbound: inbound.map(stepIdOf) }
  return { ...body, steps: { ...body.steps, ...steps }, routes: { [key]: { ...route, sections } } }
}

const told = (before: PlanBody, after: PlanBody) =>
  comparePlans(before, after).flatMap(({ reasons }) => reasons.map(({ risk, why }) => `${risk}: ${why}`))

describe("the order of steps", () => {
  test("an answer that moves before a guard opens, and back closes", () => {
    expect(told(planWith(auth, answer), planWith(answer, auth))).toEqual([
      "opens: `respond 200` can respond before `auth jwt acme` is checked",
    ])
    expect(told(planWith(answer, auth), planWith(auth, answer))).toEqual([
      "closes: `auth jwt acme` is checked before `respond 200` can respond",
    ])
  })

  test("a new answer before a guard opens", () => {
    expect(told(planWith(auth), planWith(answer, auth))).toEqual([
      "opens: it can respond before `auth jwt acme` is checked",
      "breaking: these requests get 200 from the gateway instead of a response of the backend",
    ])
  })

  test("a limit behind auth does not count those whom auth refuses", () => {
    expect(told(planWith(limit, auth), planWith(auth, limit))).toEqual([
      "opens: calls that `auth` refuses are no longer counted",
    ])
    expect(told(planWith(auth, limit), planWith(limit, auth))).toEqual([
      "closes: calls that `auth` refuses are now counted too",
    ])
  })

  test("the same step once more, or elsewhere among equal ones, is told", () => {
    expect(told(planWith(auth, limit), planWith(auth, limit, limit))).toHaveLength(1)
    expect(told(planWith(limit, auth, limit), planWith(limit, limit, auth)).length).toBeGreaterThan(0)
  })
})

test("relation plans that do not belong to the model's text are told, however little the text says", () => {
  const [digest, model] = Object.entries(body.models)[0] as [string, PlanBody["models"][string]]
  const [first, second] = model.relations.relations
  if (first === undefined || second === undefined) throw new Error("the relations are gone")
  const relations = { ...model.relations, relations: [{ ...first, plan: second.plan }, second] }
  const forged = { ...body, models: { [digest]: { ...model, relations } } }
  const why =
    "opens: the compiled model does not match its text in this version: make the plan again and compare"
  expect(told(body, forged)).toEqual([why])
  expect(told(forged, body).length).toBeGreaterThan(0)
  expect(
    comparePlans(undefined, forged).flatMap(({ reasons }) =>
      reasons.map((each) => `${each.risk}: ${each.why}`),
    ),
  ).toContain(why)
  expect(comparePlans(forged, forged)).toEqual([])
})
