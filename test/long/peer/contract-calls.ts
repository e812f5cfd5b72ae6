/** One HTTP call, as it is put to both servers; `{store}` and `{model}` are each server's own. */
export interface ContractCall {
  readonly method: string
  readonly path: string
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown
  /** What was done to a valid call; absent for one written by hand. */
  readonly changes?: readonly string[]
}

export const noId = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
const store = "/stores/{store}"
const key = { user: "user:ann", relation: "viewer", object: "document:1" }
const guest = {
  user: "user:gus",
  relation: "guest",
  object: "document:1",
  condition: { name: "in_office", context: { floor: 4 } },
}
const contextual = { contextual_tuples: { tuple_keys: [{ ...key, user: "user:con" }, guest] } }
const terms = { authorization_model_id: "{model}", consistency: "MINIMIZE_LATENCY" }
const context = { context: { city: "Bonn" } }
const tupleKey = { tuple_key: key }
const list = { type: "document", relation: "viewer", user: "user:ann", ...terms, ...contextual, ...context }

/** Valid calls that change nothing, with every field there is. */
export const questions: readonly ContractCall[] = [
  post("/check", { ...tupleKey, ...terms, ...contextual, ...context }),
  post("/check", { tuple_key: { user: "user:gus", relation: "guest", object: "document:2" }, ...context }),
  post("/batch-check", {
    ...terms,
    checks: [
      { ...tupleKey, ...contextual, ...context, correlation_id: "one" },
      { ...tupleKey, correlation_id: "two" },
    ],
  }),
  post("/expand", { tuple_key: { relation: "viewer", object: "document:1" }, ...contextual, ...terms }),
  post("/list-objects", list),
  post("/streamed-list-objects", list),
  post("/list-users", {
    object: { type: "document", id: "1" },
    relation: "viewer",
    user_filters: [{ type: "user" }],
    contextual_tuples: contextual.contextual_tuples.tuple_keys,
    ...context,
    ...terms,
  }),
  post("/list-users", {
    object: { type: "document", id: "1" },
    relation: "viewer",
    user_filters: [{ type: "team", relation: "member" }],
  }),
  post("/read", { ...tupleKey, page_size: 2, consistency: "HIGHER_CONSISTENCY" }),
  post("/read", { tuple_key: { object: "document:", user: "user:ann" } }),
  post("/read", { tuple_key: { object: "document:1" } }),
  post("/read", { page_size: 100 }),
]

/** Valid calls that change the store. */
export const changing: readonly ContractCall[] = [
  post("/write", {
    writes: {
      tuple_keys: [
        { ...key, user: "user:new" },
        { ...guest, user: "user:new" },
      ],
      on_duplicate: "ignore",
    },
    deletes: { tuple_keys: [{ ...key, user: "user:old" }], on_missing: "ignore" },
    authorization_model_id: "{model}",
  }),
  post("/write", { writes: { tuple_keys: [{ ...key, user: "team:red#member" }], on_duplicate: "ignore" } }),
  post("/write", { deletes: { tuple_keys: [{ ...key, user: "user:old" }], on_missing: "ignore" } }),
  {
    method: "PUT",
    path: `${store}/assertions/{model}`,
    body: {
      assertions: [
        { ...tupleKey, expectation: true, contextual_tuples: [{ ...key, user: "user:con" }], ...context },
      ],
    },
  },
  { method: "POST", path: "/stores", body: { name: "contract" } },
]

const subject = { type: "user", id: "ann" }
const resource = { type: "document", id: "1" }
const action = { name: "viewer" }

/** AuthZEN's calls that both understand; where they differ is its standard's matter (test/cases/authzen). */
export const authzenCalls: readonly ContractCall[] = [
  post("/access/v1/evaluation", { subject, resource, action }),
  post("/access/v1/evaluation", { subject, resource, action: { name: "owner" } }),
  post("/access/v1/evaluation", { subject, resource, action: { name: "nothing" } }),
  post("/access/v1/evaluation", { subject, resource }),
  post("/access/v1/evaluation", { subject, resource: { type: "document" }, action }),
  post("/access/v1/evaluation", { subject: { type: "user" }, resource, action }),
  post("/access/v1/evaluation", {}),
  post("/access/v1/evaluations", {
    subject,
    action,
    evaluations: [{ resource }, { resource: { ...resource, id: "2" } }],
  }),
  post("/access/v1/evaluations", {
    subject,
    resource,
    action,
    evaluations: [{}, { action: { name: "owner" } }],
  }),
  post("/access/v1/evaluations", {
    subject,
    resource,
    evaluations: [{ action: { name: "owner" } }, { action }],
    options: { evaluations_semantic: "deny_on_first_deny" },
  }),
  post("/access/v1/evaluations", {
    subject,
    resource,
    evaluations: [{ action }, { action: { name: "owner" } }],
    options: { evaluations_semantic: "permit_on_first_permit" },
  }),
  post("/access/v1/search/subject", { subject: { type: "user" }, resource, action }),
  post("/access/v1/search/resource", { subject, resource: { type: "document" }, action }),
  post("/access/v1/search/action", { subject, resource }),
]

function post(path: string, body: unknown): ContractCall {
  return { method: "POST", path: store + path, body }
}

const pageSizes = ["", "0", "1", "2", "100", "101", "-1", "x", "1.5", "99999999999", "1e1"]
const tokens = ["", "x", "====", "a b", "bm9uc2Vuc2U=", "x".repeat(5121), "%00"]

/** Calls with a query instead of a body, and what no change of a body comes to. */
export function otherCalls(): ContractCall[] {
  const get = (path: string): ContractCall => ({ method: "GET", path })
  const paged = ["/stores", `${store}/authorization-models`, `${store}/changes`].flatMap((path) => [
    get(path),
    ...pageSizes.map((size) => get(`${path}?page_size=${size}`)),
    ...pageSizes.map((size) => get(`${path}?pageSize=${size}`)),
    ...tokens.map((token) => get(`${path}?continuation_token=${token}`)),
    get(`${path}?nobody=knows`),
    get(`${path}?page_size=1&page_size=2`),
  ])
  const types = ["", "document", "nothing", "a:b", "a%20b", "x".repeat(255), "%C3%A9"]
  const times = [
    "",
    "2020-01-01T00:00:00Z",
    "2020-01-01T00:00:00.123456789Z",
    "2020-01-01T00:00:00%2B02:00",
    "2020-01-01",
    "x",
    "1577836800",
    "2999-01-01T00:00:00Z",
    "1969-01-01T00:00:00Z",
    "2020-13-01T00:00:00Z",
    "2020-02-30T00:00:00Z",
  ]
  const names = ["contract", "peer", "nobody", "x", "a:b", "x".repeat(65)]
  const stores = ["{store}", noId, "x", noId.toLowerCase(), `${noId}X`, "%20", "a%2Fb"]
  const ofStore = stores.flatMap((id) => [
    get(`/stores/${id}`),
    get(`/stores/${id}/authorization-models`),
    get(`/stores/${id}/authorization-models/{model}`),
    get(`/stores/${id}/changes`),
    get(`/stores/${id}/assertions/{model}`),
    ...[...questions, ...changing]
      .filter(({ path }) => path.startsWith(store))
      .map((call) => ({ ...call, path: call.path.replace("{store}", id), changes: [`store ${id}`] })),
  ])
  const models = [noId, "x", noId.toLowerCase(), "%20", "latest"].flatMap((id) => [
    get(`${store}/authorization-models/${id}`),
    get(`${store}/assertions/${id}`),
    { method: "PUT", path: `${store}/assertions/${id}`, body: { assertions: [] } },
  ])
  return [
    ...paged,
    ...types.map((type) => get(`${store}/changes?type=${type}`)),
    ...times.map((time) => get(`${store}/changes?start_time=${time}`)),
    ...times.map((time) => get(`${store}/changes?startTime=${time}`)),
    ...names.map((name) => get(`/stores?name=${name}`)),
    ...ofStore,
    ...models,
    get(`${store}/authorization-models/{model}`),
    ...extremeBodies(),
    ...brokenBodies(),
    ...wrongPlaces(),
    { method: "PATCH", path: store, body: { name: "renamed" } },
    { method: "DELETE", path: `/stores/${noId}` },
    { method: "DELETE", path: "/stores/x" },
  ]
}

const brokenTexts = [
  "",
  " ",
  "{",
  "}",
  "[]",
  "null",
  "7",
  '"x"',
  "{}",
  "{} {}",
  "{}x",
  '{"a":}',
  "{'a':1}",
  '{"a":1,}',
  '{"a":1,"a":2}',
  "\ufeff{}",
  "{}\n\n",
  '{"tuple_key":{"user":"user:ann","relation":"viewer","object":"document:1"}} trailing',
  '{"tuple_key":{"user":"user:ann","relation":"viewer","object":"document:1"},"tuple_key":{}}',
  '{"tuple_key":{"user":"user:ann","relation":"viewer","object":"document:1"},"tupleKey":{"user":"user:ann","relation":"viewer","object":"document:1"}}',
]

/** Large, deep, and with characters that no database holds. */
function extremeBodies(): ContractCall[] {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
  const storing = (city: string) => ({
    ...guest,
    user: `user:c${city.length}`,
    condition: { name: "in_office", context: { city } },
  })
  const odd = [
    "user:\n",
    "user:\u0000",
    "user:a\u0000b",
    "user:\u0001",
    "user:\u007f",
    "user:\u0085",
    "user:\u3000",
    "user:😀",
  ]
  return [
    post("/check", { ...tupleKey, context: { city: "x".repeat(600_000) } }),
    post("/check", { ...tupleKey, context: { city: "x".repeat(700_000) } }),
    ...[10, 60, 70, 200].map((levels) => post("/check", { ...tupleKey, context: { city: deep(levels) } })),
    ...odd.flatMap((user) => [
      post("/check", { tuple_key: { ...key, user } }),
      post("/check", { ...tupleKey, context: { city: user } }),
      post("/check", { ...tupleKey, contextual_tuples: { tuple_keys: [{ ...key, user }] } }),
      post("/write", { writes: { tuple_keys: [{ ...key, user }], on_duplicate: "ignore" } }),
      post("/write", { deletes: { tuple_keys: [{ ...key, user }], on_missing: "ignore" } }),
      post("/list-objects", { type: "document", relation: "viewer", user }),
      post("/write", { writes: { tuple_keys: [storing(user)], on_duplicate: "ignore" } }),
      post("/check", { ...tupleKey, contextual_tuples: { tuple_keys: [storing(user)] } }),
      post("/read", { tuple_key: { ...key, user } }),
    ]),
    post("/check", '{"tuple_key":{"user":"user:\\ud800","relation":"viewer","object":"document:1"}}'),
    ...[1000, 32_700, 33_000].map((bytes) =>
      post("/write", {
        writes: {
          tuple_keys: [
            {
              ...guest,
              user: "user:big",
              condition: { name: "in_office", context: { city: "x".repeat(bytes) } },
            },
          ],
          on_duplicate: "ignore",
        },
      }),
    ),
  ]
}

function brokenBodies(): ContractCall[] {
  const places = [...new Set([...questions, ...changing].map(({ method, path }) => `${method} ${path}`))]
  return [...places, `POST ${store}/authorization-models`].flatMap((place) => {
    const [method = "", path = ""] = place.split(" ")
    return brokenTexts.map((body) => ({ method, path, body }))
  })
}

function wrongPlaces(): ContractCall[] {
  const paths = [
    "/",
    "/nothing",
    "/stores/",
    `${store}/`,
    `${store}/nothing`,
    `${store}/check/`,
    `${store}//check`,
    `/v1${store}/check`,
    `${store}/authorization-models/{model}/x`,
    `${store}/assertions`,
    `${store}/check`,
    `${store}/write`,
    `${store}/changes`,
    "/healthz",
    "/healthz/",
    "/stores",
    "/STORES",
  ]
  return paths.flatMap((path) =>
    ["GET", "POST", "PUT", "PATCH", "DELETE"]
      .filter((method) => !(path === "/stores" && method === "POST"))
      .map((method) => ({ method, path, ...(method === "GET" ? {} : { body: {} }) })),
  )
}
