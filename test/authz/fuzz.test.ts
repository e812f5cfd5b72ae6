import fc from "fast-check"
import { afterAll, beforeAll, expect, test } from "vitest"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createMigratedDatabase, describePostgres, type TestDatabase } from "../postgres.ts"
import { scaled } from "../support/random-run.ts"
import { documentModel, type Served, serve } from "./harness.ts"

/** Bodies made of the API's own words in wrong places: deeper than random JSON gets. */
const names = [
  "tuple_key",
  "tupleKey",
  "user",
  "relation",
  "object",
  "writes",
  "deletes",
  "tuple_keys",
  "condition",
  "name",
  "context",
  "contextual_tuples",
  "authorization_model_id",
  "page_size",
  "continuation_token",
  "consistency",
  "explain",
  "schema_version",
  "type_definitions",
  "checks",
  "correlation_id",
  "user_filters",
  "id",
  "users",
  "objects",
  "ternary",
  "type",
  "relations",
  "metadata",
  "this",
  "union",
  "child",
  "conditions",
  "expression",
  "parameters",
  "__proto__",
]
const words = [
  "user:ann",
  "user:*",
  "team:x#member",
  "document:1",
  "document:",
  "owner",
  "viewer",
  "guest",
  "in_office",
  "floor > 3",
  "1.1",
  "HIGHER_CONSISTENCY",
  "",
  "\u0000",
  "\ud800",
  "user:\ud83d\ude00",
  "::##",
  "x".repeat(600),
]
const { body } = fc.letrec((tie) => ({
  body: fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 6 }),
  value: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words) },
    { weight: 3, arbitrary: tie("body") },
    { weight: 2, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  ),
}))

const ann = { user: "user:ann", relation: "viewer", object: "document:1" }
const conditioned = { ...ann, relation: "guest", condition: { name: "in_office", context: { city: "Bonn" } } }
/** What is right but for one place. */
const valid: Readonly<Record<string, unknown>> = {
  "/check": {
    tuple_key: ann,
    contextual_tuples: { tuple_keys: [conditioned] },
    context: { floor: 4 },
    consistency: "HIGHER_CONSISTENCY",
    explain: true,
    authorization_model_id: "",
  },
  "/write": {
    writes: { tuple_keys: [conditioned], on_duplicate: "ignore" },
    deletes: { tuple_keys: [ann], on_missing: "ignore" },
    authorization_model_id: "",
  },
  "/read": { tuple_key: ann, page_size: 10, continuation_token: "", consistency: 100 },
  "/authorization-models": documentModel,
  "/batch-check": {
    checks: [
      { tuple_key: ann, contextual_tuples: { tuple_keys: [conditioned] }, correlation_id: "1", context: {} },
    ],
    explain: true,
    ternary: true,
  },
  "/expand": { tuple_key: ann, contextual_tuples: { tuple_keys: [conditioned] } },
  "/list-objects": { ...ann, type: "document", context: { floor: 4 }, page_size: 10, continuation_token: "" },
  "/list-users": {
    object: { type: "document", id: "1" },
    relation: "viewer",
    user_filters: [{ type: "team", relation: "member" }],
    contextual_tuples: [conditioned],
    context: {},
  },
  "/list-relations": { user: "user:ann", object: "document:1", relations: ["viewer", "owner"], context: {} },
  "/matrix": { users: ["user:ann"], relations: ["viewer"], objects: ["document:1", "team:x"] },
  "/explain": { tuple_key: ann, contextual_tuples: { tuple_keys: [conditioned] }, context: { floor: 4 } },
}

/** A copy with the n-th value, counted in depth, replaced. */
function withOther(json: unknown, place: number, other: unknown): unknown {
  let left = place
  const walk = (value: unknown): unknown => {
    left -= 1
    if (left < 0) {
      left = Number.POSITIVE_INFINITY
      return other
    }
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]))
  }
  return walk(json)
}

/** `encodeURIComponent` takes no half surrogate pairs. */
const wellFormed = (text: string) => text.replace(/\p{Surrogate}/gu, "\ufffd")

describePostgres("the API under rubbish", () => {
  let created: TestDatabase
  let served: Served & { listeners: { close(): Promise<void> } }
  beforeAll(async () => {
    created = await createMigratedDatabase()
    const database = openPostgres(created.url)
    served = await serve(database)
  })
  afterAll(async () => {
    await served.listeners.close()
    await served.database.close()
    await created.drop()
  })

  test.each(Object.keys(valid))("%s never answers with a fault of ours", async (route) => {
    const { json } = await served.call("POST", "/stores", { name: "fuzz store" })
    const paths = [`/stores/acme${route}`, `/stores/${json.id}${route}`]
    const spoilt = fc
      .tuple(fc.nat({ max: 90 }), fc.oneof(fc.constantFrom(...words), fc.jsonValue(), body))
      .map(([place, other]) => withOther(valid[route], place, other))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.oneof(spoilt, body), async (path, value) => {
        const { status, json: answer } = await served.call("POST", path, JSON.stringify(value))
        expect(status).toBeLessThan(500)
        if (status < 300) return
        expect(Object.keys(answer)).toEqual(["code", "message"])
        expect(answer.message).not.toMatch(/undefined(?! condition)|\[object|Cannot read|SQLSTATE/)
      }),
      { numRuns: scaled(150, 0.4) },
    )
  })

  test("paths and queries", async () => {
    const part = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(...words, "..", "%", "%00", "?", "#"),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("GET", "POST", "DELETE"),
        fc.array(part, { maxLength: 4 }),
        async (method, parts) => {
          const path = `/stores/${parts.map((each) => encodeURIComponent(wellFormed(each))).join("/")}`
          const { status } = await served.call(method, path, method === "POST" ? {} : undefined)
          expect(status).toBeLessThan(500)
          const query = parts.map(
            (each, at) =>
              `${["page_size", "continuation_token", "name"][at % 3]}=${encodeURIComponent(wellFormed(each))}`,
          )
          expect((await served.call("GET", `/stores?${query.join("&")}`)).status).toBeLessThan(500)
        },
      ),
      { numRuns: scaled(150, 0.4) },
    )
  })
})
