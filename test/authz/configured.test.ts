import { afterAll, beforeAll, expect, test } from "vitest"
import { type AuthzLimits, authzLimits } from "../../runtime/authz/ports.ts"
import type { Database } from "../../runtime/store/database.ts"
import { openPostgres } from "../../runtime/store/postgres.ts"
import { createMigratedDatabase, describePostgres, type TestDatabase } from "../postgres.ts"
import { documentModel, type Served, serve } from "./harness.ts"

const key = (at: number) => ({ user: `user:u${at}`, relation: "owner", object: "document:1" })
const keys = (count: number) => Array.from({ length: count }, (_, at) => key(at))
const checks = (count: number) =>
  keys(count).map((tuple_key, at) => ({ tuple_key, correlation_id: String(at) }))
const guest = (city: string) => ({
  user: "user:g",
  relation: "guest",
  object: "document:1",
  condition: { name: "in_office", context: { city } },
})
const types = (count: number) => ({
  schema_version: "1.1",
  type_definitions: Array.from({ length: count }, (_, at) => ({ type: `type${at}` })),
})
const question = { type: "document", relation: "owner", user: "user:u0" }
const users = { object: { type: "document", id: "1" }, relation: "owner", user_filters: [{ type: "user" }] }
const assertion = (tuples: number, padding = "") => ({
  tuple_key: key(0),
  contextual_tuples: keys(tuples),
  context: { padding },
})

interface LimitCase {
  readonly limit: Partial<AuthzLimits>
  readonly method?: string
  readonly path: string
  readonly fits: unknown
  readonly over: unknown
  readonly code: string
  readonly message: string
}

/** One number smaller or larger than the default; a request that just fits it and one that does not. */
const cases: readonly LimitCase[] = [
  {
    limit: { tuplesPerWriteMax: 2 },
    path: "/write",
    fits: { writes: { tuple_keys: keys(2), on_duplicate: "ignore" } },
    over: { writes: { tuple_keys: keys(3) } },
    code: "exceeded_entity_limit",
    message: "The number of write operations exceeds the allowed limit of 2",
  },
  {
    limit: { contextualTuplesMax: 2 },
    path: "/check",
    fits: { tuple_key: key(0), contextual_tuples: { tuple_keys: keys(2) } },
    over: { tuple_key: key(0), contextual_tuples: { tuple_keys: keys(3) } },
    code: "validation_error",
    message: "invalid ContextualTupleKeys.TupleKeys: value must contain no more than 2 item(s)",
  },
  {
    limit: { contextualTuplesMax: 2 },
    path: "/list-users",
    fits: { ...users, contextual_tuples: keys(2) },
    over: { ...users, contextual_tuples: keys(3) },
    code: "validation_error",
    message: "invalid ListUsersRequest.ContextualTuples: value must contain no more than 2 item(s)",
  },
  {
    limit: { conditionContextBytesMax: 20 },
    path: "/write",
    fits: { writes: { tuple_keys: [guest("Bonn")], on_duplicate: "ignore" } },
    over: { writes: { tuple_keys: [guest("x".repeat(50))] } },
    code: "validation_error",
    message:
      "Invalid tuple 'document:1#guest@user:g'. Reason: condition context size limit exceeded: 61 bytes exceeds 20 bytes",
  },
  {
    limit: { conditionContextBytesMax: 100_000 },
    path: "/check",
    fits: { tuple_key: key(0), contextual_tuples: { tuple_keys: [guest("x".repeat(90_000))] } },
    over: { tuple_key: key(0), contextual_tuples: { tuple_keys: [guest("x".repeat(100_000))] } },
    code: "validation_error",
    message:
      "Invalid tuple 'document:1#guest@user:g'. Reason: condition context size limit exceeded: 100011 bytes exceeds 100000 bytes",
  },
  {
    limit: { typesPerModelMax: 5 },
    path: "/authorization-models",
    fits: types(5),
    over: types(6),
    code: "exceeded_entity_limit",
    message: "The number of type definitions in an authorization model exceeds the allowed limit of 5",
  },
  {
    limit: { checksPerBatchMax: 2 },
    path: "/batch-check",
    fits: { checks: checks(2) },
    over: { checks: checks(3) },
    code: "validation_error",
    message: "batchCheck received 3 checks, the maximum allowed is 2",
  },
  {
    limit: { listPageSizeMax: 5 },
    path: "/list-objects",
    fits: { ...question, page_size: 5 },
    over: { ...question, page_size: 6 },
    code: "page_size_invalid",
    message: "invalid ListObjectsRequest.PageSize: value must be inside range [1, 5]",
  },
  {
    limit: { listPageSizeMax: 5 },
    path: "/list-users",
    fits: { ...users, page_size: 5 },
    over: { ...users, page_size: 0 },
    code: "page_size_invalid",
    message: "invalid ListUsersRequest.PageSize: value must be inside range [1, 5]",
  },
  {
    limit: { matrixCellsMax: 4 },
    path: "/matrix",
    fits: { users: ["user:a", "user:b"], relations: ["owner", "viewer"], objects: ["document:1"] },
    over: { users: ["user:a"], relations: ["owner"], objects: ["a:1", "a:2", "a:3", "a:4", "a:5"] },
    code: "exceeded_entity_limit",
    message: "The number of cells exceeds the allowed limit of 4",
  },
  {
    limit: { matrixCellsMax: 2 },
    path: "/list-relations",
    fits: { user: "user:a", object: "document:1", relations: ["owner", "viewer"] },
    over: { user: "user:a", object: "document:1", relations: ["owner", "viewer", "parent"] },
    code: "exceeded_entity_limit",
    message: "The number of relations exceeds the allowed limit of 2",
  },
  {
    limit: { changesPageSizeMax: 5 },
    method: "GET",
    path: "/changes?page_size=",
    fits: "5",
    over: "6",
    code: "page_size_invalid",
    message: "invalid ReadChangesRequest.PageSize: value must be inside range [1, 5]",
  },
  {
    limit: { assertionsMax: 2 },
    method: "PUT",
    path: "/assertions/{model}",
    fits: { assertions: [assertion(0), assertion(0)] },
    over: { assertions: [assertion(0), assertion(0), assertion(0)] },
    code: "assertions_too_many_items",
    message: "invalid WriteAssertionsRequest.Assertions: value must contain no more than 2 item(s)",
  },
  {
    limit: { assertionTuplesMax: 2 },
    method: "PUT",
    path: "/assertions/{model}",
    fits: { assertions: [assertion(2)] },
    over: { assertions: [assertion(3)] },
    code: "validation_error",
    message: "invalid Assertion.ContextualTuples: value must contain no more than 2 item(s)",
  },
  {
    limit: { assertionsBytesMax: 1_024 },
    method: "PUT",
    path: "/assertions/{model}",
    fits: { assertions: [assertion(0, "x".repeat(500))] },
    over: { assertions: [assertion(0, "x".repeat(1_000))] },
    code: "exceeded_entity_limit",
    message: "The number of bytes exceeds the allowed limit of 1024",
  },
  {
    limit: { bodyBytesMax: 1_000 },
    path: "/read",
    fits: { padding: "x".repeat(900) },
    over: { padding: "x".repeat(1_000) },
    code: "resource_exhausted",
    message: "the request body is larger than 1000 bytes",
  },
]

describePostgres("limits as they are set", () => {
  let created: TestDatabase
  let database: Database
  let served: Served & { listeners: { close(): Promise<void> } }
  let limits: AuthzLimits = authzLimits
  let store: string
  let model: string
  beforeAll(async () => {
    created = await createMigratedDatabase()
    database = openPostgres(created.url)
    served = await serve(database, 10_000, { limits: () => limits })
    store = (await served.call("POST", "/stores", { name: "limits" })).json.id
    const { json } = await served.call("POST", `/stores/${store}/authorization-models`, documentModel)
    model = json.authorization_model_id
  })
  afterAll(async () => {
    await served.listeners.close()
    await database.close()
    await created.drop()
  })

  test.each(cases)("$limit on $path", async ({ limit, method = "POST", path, fits, over, code, message }) => {
    const ask = (body: unknown) => {
      const full = `/stores/${store}${path.replace("{model}", model)}`
      // The model that the questions are about: the cases of models make others.
      if (method === "GET") return served.call(method, `${full}${body}`)
      const named =
        path.startsWith("/assertions") || path === "/read" ? {} : { authorization_model_id: model }
      return served.call(method, full, { ...(body as object), ...named })
    }
    limits = { ...authzLimits, ...limit }
    try {
      const taken = await ask(fits)
      expect(taken.status, taken.text).toBeLessThan(300)
      expect(await ask(over)).toMatchObject({
        status: code === "resource_exhausted" ? 413 : 400,
        json: { code, message },
      })
    } finally {
      limits = authzLimits
    }
  })

  test("changes younger than the horizon are not told, nor is a token beyond them", async () => {
    const { json } = await served.call("POST", "/stores", { name: "horizon" })
    const changes = (query = "") => served.call("GET", `/stores/${json.id}/changes${query}`)
    await served.call("POST", `/stores/${json.id}/authorization-models`, documentModel)
    await served.call("POST", `/stores/${json.id}/write`, { writes: { tuple_keys: keys(3) } })
    limits = { ...authzLimits, changesHorizonMs: 60_000 }
    expect((await changes()).json).toEqual({ changes: [], continuation_token: "" })
    expect((await changes("?type=document")).json).toEqual({ changes: [], continuation_token: "" })
    limits = authzLimits
    const { json: now } = await changes()
    expect(now.changes).toHaveLength(3)
    limits = { ...authzLimits, changesHorizonMs: 60_000 }
    expect((await changes(`?continuation_token=${now.continuation_token}`)).json).toEqual({
      changes: [],
      continuation_token: now.continuation_token,
    })
    limits = authzLimits
  })

  test("a request that is not answered in time is 504, and what it waited for does not hold up the next", async () => {
    limits = { ...authzLimits, requestMs: 300 }
    const lock = { name: "", text: "select 1 from sallyport.stores where id = $1 for update" }
    const write = () =>
      served.call("POST", `/stores/${store}/write`, {
        writes: { tuple_keys: [key(1_000)], on_duplicate: "ignore" },
        authorization_model_id: model,
      })
    await database.transaction(async (transaction) => {
      await transaction.query({ ...lock, name: "hold-store" }, [store])
      expect(await write()).toMatchObject({
        status: 504,
        json: { code: "deadline_exceeded", message: "Request Deadline Exceeded" },
      })
      const check = { tuple_key: key(0), authorization_model_id: model }
      expect((await served.call("POST", `/stores/${store}/check`, check)).status).toBe(200)
    })
    limits = authzLimits
    expect((await write()).status).toBe(200)
  })
})
