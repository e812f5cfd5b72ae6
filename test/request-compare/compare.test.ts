import { expect, test } from "vitest"
import { compileAndTest } from "../../compiler/compile.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { comparePlans } from "../../compiler/diff/compare-plans.ts"
import { requestsJson, requestsText } from "../../compiler/render/requests.ts"
import { compareRequests } from "../../compiler/request-compare/compare-requests.ts"
import type { Plan } from "../../runtime/plan/plan.ts"

const model = `model
  schema 1.1
type user
type order
  relations
    define owner: [user]
    define viewer: [user] or owner
`

const base = `
gateway acme { listen 127.0.0.1:8000 }
authz { store acme { model "acme.fga" } }
issuer acme { discovery "https://id.example"; audience orders; claims { sub string; scope string; roles list string } }
backend orders { target "http://127.0.0.1:9001" }
backend shop { target "http://127.0.0.1:9002" }
api orders {
  path "/orders"
  backend orders
  auth jwt acme { claim scope has "orders.read" }
  GET "/{id}" { require viewer of "order:\${path.id}" for "user:\${jwt.sub}" }
  GET "/" { limit 10 per 1m by jwt.sub }
}
api shop {
  path "/shop"
  backend shop
  auth subscription
  GET "/items"
  POST "/items" { inbound { header set "X-Caller" "shop" } }
}
product gold { apis shop }
product free { apis shop }
`

async function planOf(text: string, fga = model): Promise<Plan> {
  const files = new MemoryFiles([
    ["gateway.conf", text],
    ["acme.fga", fga],
  ])
  const { plan, diagnostics } = await compileAndTest(files, "gateway.conf")
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics[0]))
  return plan
}

const located = (plan: Plan) => ({ plan, environment: {}, folder: "." })

/** Compares `base` with an edited one. Each difference is `ROUTE | CALLER | BEFORE -> AFTER`, with what changed where both are served. */
async function compared(edit: (text: string) => string, fga = model) {
  const [before, after] = [await planOf(base), await planOf(edit(base), fga)]
  const found = await compareRequests({ before: located(before), after: located(after) })
  if (typeof found === "string") throw new Error(found)
  const lines = found.differences.map(({ routes, caller, effect, before, after, facts }) => {
    const more = effect === "changes" ? ` (${facts.map(({ name }) => name).join(", ")})` : ""
    return `${effect}: ${routes.join(" ")}, ${caller}: ${before.words} -> ${after.words}${more}`
  })
  return { ...found, lines }
}

const replaced =
  (from: string, to: string) =>
  (text: string): string => {
    if (!text.includes(from)) throw new Error(`the text has no ${from}`)
    return text.replace(from, to)
  }

test("puts a key where the other routes of the API read it, also on a route that demands none", async () => {
  const { lines } = await compared(replaced('POST "/items" {', 'POST "/items" { auth none;'))
  // The backend of a caller with a key gets what it got before: the gateway takes the key out on every route of the API.
  expect(lines).toEqual([
    "opens: POST /shop/items, without a credential: 401 unauthorized -> 200 from backend shop",
    "opens: POST /shop/items, with an unknown subscription key: 401 unauthorized -> 200 from backend shop",
  ])
})

test("says nothing about plans that treat every request equally", async () => {
  const same = await compared((text) => text)
  expect(same).toMatchObject({ routes: 4, concerned: 0, requests: 0, lines: [] })
  const reordered = await compared(
    replaced('GET "/" { limit 10', 'GET "/" { inbound { set seen "1" }; limit 10'),
  )
  expect(reordered).toMatchObject({ concerned: 1, lines: [] })
})

test.each([
  [
    "a dropped credential",
    replaced(
      'auth jwt acme { claim scope has "orders.read" }\n  GET "/{id}" { require viewer of "order:${path.id}" for "user:${jwt.sub}" }\n  GET "/" { limit 10 per 1m by jwt.sub }',
      'auth none\n  GET "/"',
    ),
    ["opens: GET /orders, without a credential: 401 unauthorized -> 200 from backend orders"],
  ],
  [
    "a dropped claim",
    replaced('{ claim scope has "orders.read" }', ""),
    ["opens: GET /orders, with a token of acme: 403 insufficient-scope -> 200 from backend orders"],
  ],
  [
    "another backend",
    replaced("backend shop\n", "backend orders\n"),
    [
      "changes: GET /shop/items, with a key of product free: 200 from backend shop -> 200 from backend orders (sent: to, sent: header host)",
    ],
  ],
  [
    "a product that no longer opens an API",
    replaced("product free { apis shop }", "product free { apis orders }"),
    ["closes: GET /shop/items, with a key of product free: 200 from backend shop -> 401 unauthorized"],
  ],
  [
    "a header",
    replaced('"X-Caller" "shop"', '"X-Caller" "other"'),
    [
      "changes: POST /shop/items, with a key of product free: 200 from backend shop -> 200 from backend shop (sent: header x-caller)",
    ],
  ],
  [
    "a limit",
    replaced("limit 10 per 1m", "limit 20 per 1m"),
    [expect.stringMatching(/^changes: GET \/orders, with a token of acme with scope .*\(.*limit/)],
  ],
  [
    "another relation",
    replaced("require viewer", "require owner"),
    [
      'closes: GET /orders/{id}, with a token of acme with scope "orders.read", who is viewer of order:1: 200 from backend orders -> 403 forbidden',
    ],
  ],
])("tells who notices %s", async (_, edit, expected) => {
  const { lines } = await compared(edit)
  for (const line of expected) expect(lines).toContainEqual(line)
})

test("tells what a change of the model means for a route", async () => {
  const { lines } = await compared((text) => text, model.replace("[user] or owner", "[user]"))
  expect(lines).toEqual([
    'closes: GET /orders/{id}, with a token of acme with scope "orders.read", with user:caller owner order:1: 200 from backend orders -> 403 forbidden',
  ])
})

test("compares new and removed routes with what the other plan does with their requests", async () => {
  const { lines } = await compared(replaced('GET "/items"\n', 'GET "/offers"\n'))
  expect(lines).toContain(
    "closes: GET /shop/items, with a key of product gold: 200 from backend shop -> 405 method-not-allowed",
  )
  expect(lines).toContain(
    "opens: GET /shop/offers, with a key of product gold: 404 not-found -> 200 from backend shop",
  )
})

test("is printed with equal routes in one group, and written as JSON", async () => {
  const found = await compared(replaced('{ claim scope has "orders.read" }', ""))
  expect(
    requestsText(found, { colour: false }),
  ).toBe(`2 of 4 routes treat requests differently (50 %): 31 requests were sent through the plans
  opens     GET /orders
            with a token of acme: 403 insufficient-scope (validate-jwt, gateway.conf:10) → 200 from backend orders
  opens     GET /orders/{id}
            with a token of acme, who is viewer of order:1: 403 insufficient-scope (validate-jwt, gateway.conf:10) → 200 from backend orders
`)
  const json = JSON.parse(requestsJson(found)) as { differences: { facts: unknown[] }[] }
  expect(json).toMatchObject({ routes: 4, concerned: 2, left: 0, unplayed: [] })
  expect(json.differences[0]).toMatchObject({
    routes: ["GET /orders"],
    effect: "opens",
    before: { kind: "refused", words: "403 insufficient-scope" },
    after: { kind: "served" },
  })
})

/** The other source is the comparison of the texts: what callers notice must be a change there, with at least its risk. */
test("agrees with the comparison of plans about every weakened guard", async () => {
  const weakened: [from: string, to: string][] = [
    ['auth jwt acme { claim scope has "orders.read" }', "auth jwt acme"],
    ['has "orders.read"', 'has any "orders.read" "orders.write"'],
    ["audience orders", 'audience orders "shop"'],
    ["require viewer", "require owner"],
    ["limit 10", "limit 11"],
    ["limit 10 per 1m by jwt.sub", ""],
    ["auth subscription", "auth none"],
    ['header set "X-Caller" "shop"', ""],
    ["product free { apis shop }", "product free { apis orders }"],
    ['GET "/items"\n', ""],
    ["backend shop\n", "backend orders\n"],
  ]
  for (const [from, to] of weakened) {
    const edit = replaced(from, to)
    const { differences } = await compared(edit)
    const risks = new Set(
      comparePlans((await planOf(base)).plan, (await planOf(edit(base))).plan).map(({ risk }) => risk),
    )
    expect(differences.length, from).toBeGreaterThan(0)
    expect(risks.has("opens") || risks.has("breaking") || risks.has("closes"), from).toBe(true)
    if (differences.some(({ effect }) => effect === "opens")) expect(risks.has("opens"), from).toBe(true)
  }
})

test("says why a plan cannot run here", async () => {
  const secret = replaced("backend orders {", 'secret token = file("missing.txt")\nbackend orders {')(base)
  const edited = replaced('"X-Caller" "shop"', '"X-Caller" "${token}"')(secret)
  const [before, after] = [await planOf(base), await planOf(edited)]
  const found = await compareRequests({ before: located(before), after: located(after) })
  expect(found).toMatch(/missing\.txt/)
})
