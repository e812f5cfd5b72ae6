import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { canaryLimits } from "../../runtime/canary/verdict.ts"
import {
  activateRequest,
  applyRequest,
  auditPruneRequest,
  auditQuery,
  canaryEndRequest,
  createSubscriptionRequest,
  createTokenRequest,
  eventsQuery,
  explainRequestQuestion,
  listQuery,
  outageRollbackAnswer,
  outageRollbackRequest,
  planChangesQuery,
  pruneRequest,
  refusalsQuery,
  rollbackRequest,
  rotateRequest,
  routesQuery,
  usageQuery,
} from "../../runtime/control/api.ts"
import { nextState, subscriptionActions } from "../../runtime/control/subscription-states.ts"
import { planAuthor } from "../../runtime/plan/seal.ts"
import { projectRoot } from "../structure/tree.ts"

const page = readFileSync(join(projectRoot, "runtime/docs/control-api.md"), "utf8")

/** Method and path of every route in the page's headings, parameters as `{name}`. */
const described = [...page.matchAll(/^### (.+)$/gm)].flatMap(([, heading = ""]) =>
  [...heading.matchAll(/`([A-Z]+ \/\S+)`/g)].map(([, route = ""]) => route),
)

test("the page has every route of the control listener, and no other", () => {
  const folder = join(projectRoot, "runtime/control")
  const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.includes("page"))
    .map((path) => readFileSync(join(folder, path), "utf8"))
  const routes = sources.flatMap((source) =>
    [...source.matchAll(/app\.(get|put|post|delete)(?:<.*?>)?\(\s*["`]([^"`]+)["`]/g)].map(
      ([, method = "", path = ""]) =>
        `${method.toUpperCase()} ${path.replace(/:(\w+)/g, "{$1}").replace(/\$\{(\w+)\}/g, "{$1}")}`,
    ),
  )
  expect(routes.length).toBeGreaterThan(10)
  // The console and the playground are for people.
  const api = routes.filter((route) => !/ \/(?:console|\{folder\})/.test(route))
  expect([...new Set(described)].sort()).toEqual([...new Set(api)].sort())
})

test.each([
  ["PUT /v1/plan", { ...applyRequest.shape, ...planAuthor.shape }],
  ["POST /v1/rollback", rollbackRequest.shape],
  ["POST /v1/rollback/without-database", { ...outageRollbackRequest.shape, ...outageRollbackAnswer.shape }],
  ["POST /v1/canary", { percent: 0, seconds: 0, limits: 0, ...canaryLimits.shape }],
  ["POST /v1/canary/promote", canaryEndRequest.shape],
  ["POST /v1/explain-request", explainRequestQuestion.shape],
  ["GET /v1/subscriptions", listQuery.shape],
  ["POST /v1/subscriptions", createSubscriptionRequest.shape],
  ["POST /v1/subscriptions/{name}/{action}", activateRequest.shape],
  ["POST /v1/subscriptions/{name}/rotate", rotateRequest.shape],
  ["GET /v1/usage", usageQuery.shape],
  ["POST /v1/prune", pruneRequest.shape],
  ["POST /v1/tokens", createTokenRequest.shape],
  ["GET /v1/events", eventsQuery.shape],
  ["GET /v1/plans/{serial}/changes", planChangesQuery.shape],
  ["GET /v1/routes", routesQuery.shape],
  ["GET /v1/refusals", refusalsQuery.shape],
  ["GET /v1/audit", auditQuery.shape],
  ["POST /v1/audit/prune", auditPruneRequest.shape],
])("the section of `%s` has every field", (route, shape) => {
  const section = page.split(`### \`${route}\`\n`)[1]?.split(/^##/m)[0] ?? ""
  expect(Object.keys(shape).filter((field) => !section.includes(`\`${field}\``))).toEqual([])
})

test("the table of actions is the one of the states", () => {
  const states = ["submitted", "active", "suspended", "rejected", "cancelled", "expired"] as const
  for (const action of subscriptionActions) {
    const [, from = "", to] =
      new RegExp(`^\\| \`${action}\` +\\| (.+?) +\\| \`(\\w+)\``, "m").exec(page) ?? []
    const possible = states.filter((state) => typeof nextState("x", state, action) !== "string")
    expect(from.match(/\w+/g)?.sort(), action).toEqual([...possible].sort())
    expect(nextState("x", possible[0] ?? "active", action)).toEqual({ state: to })
  }
})
