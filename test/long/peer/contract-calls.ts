import type { Random } from "../../naive/random.ts"

/** One HTTP call, as it is put to both servers; `{store}` and `{model}` are each server's own. */
export interface ContractCall {
  readonly method: string
  readonly path: string
  /** Sent as JSON; a text is sent as it is. */
  readonly body?: unknown
  /** What was done to a valid call; absent for one written by hand. */
  readonly changes?: readonly string[]
}

const noId = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
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

/** What a field is made to be. */
const strange: readonly unknown[] = [
  null,
  "",
  " ",
  "x",
  "*",
  "a b",
  "a:b",
  "user:*",
  "user:ann",
  "team:red#member",
  "team:red#nothing",
  "nothing:1",
  "document:1",
  "document:2",
  "document:",
  ":1",
  "a:b:c",
  "document:a#b",
  "nothing",
  "viewer",
  "guest",
  "error",
  "é\u00a0ü",
  "x".repeat(37),
  "x".repeat(51),
  "x".repeat(255),
  "x".repeat(257),
  `user:${"x".repeat(508)}`,
  noId,
  noId.toLowerCase(),
  0,
  1,
  -1,
  100,
  101,
  1.5,
  "7",
  true,
  [],
  {},
  [{}],
  [null],
  { type: "user" },
  [{ type: "user" }, { type: "team" }],
]

type Step = string | number

/** Every place of a JSON value, outermost first. */
function placesOf(value: unknown, path: readonly Step[] = []): (readonly Step[])[] {
  if (value === null || typeof value !== "object") return [path]
  const inner = Object.entries(value).flatMap(([name, each]) =>
    placesOf(each, [...path, Array.isArray(value) ? Number(name) : name]),
  )
  return [path, ...inner]
}

/** One change of a valid body; `what` says which. */
interface Change {
  readonly what: string
  readonly body: unknown
}

function edited(
  value: unknown,
  [step, ...rest]: readonly Step[],
  edit: (holder: Holder, last: Step) => void,
): unknown {
  if (step === undefined) return value
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Holder
  if (rest.length === 0) edit(copy, step)
  else copy[step] = edited(copy[step], rest, edit)
  return copy
}

type Holder = Record<Step, unknown>

const otherSpelling = (name: string) =>
  name.includes("_")
    ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** All changes there are of one place. */
function changesAt(body: unknown, path: readonly Step[]): Change[] {
  const where = path.join(".")
  if (path.length === 0) return []
  const name = path.at(-1) as Step
  const changes: Change[] = strange.map((value) => ({
    what: `${where} = ${short(value)}`,
    body: edited(body, path, (holder, last) => {
      holder[last] = value
    }),
  }))
  if (typeof name === "number") {
    changes.push({
      what: `${where} twice`,
      body: edited(body, path, (holder, last) => (holder as unknown as unknown[]).push(holder[last])),
    })
    for (const times of [19, 21, 51, 101])
      changes.push({
        what: `${where} ${times} times`,
        body: edited(body, path, (holder, last) => {
          const items = holder as unknown as unknown[]
          while (items.length < times) items.push(numbered(holder[last], items.length))
        }),
      })
    return changes
  }
  changes.push({ what: `without ${where}`, body: edited(body, path, (holder, last) => delete holder[last]) })
  changes.push({
    what: `unknown field beside ${where}`,
    body: edited(body, path, (holder) => {
      holder["nobody_knows"] = { it: 1 }
    }),
  })
  if (otherSpelling(name) !== name)
    changes.push({
      what: `${where} spelled otherwise`,
      body: edited(body, path, (holder, last) => {
        holder[otherSpelling(String(last))] = holder[last]
        delete holder[last]
      }),
    })
  return changes
}

/** The same with other users and ids, so that nothing is there twice. */
function numbered(value: unknown, count: number): unknown {
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (name === "user" && typeof each === "string" && !each.includes("#")) return [name, `${each}${count}`]
      if (name === "correlation_id") return [name, `${each}${count}`]
      return [name, typeof each === "object" && !Array.isArray(each) ? numbered(each, count) : each]
    }),
  )
}

const short = (value: unknown) => {
  const text = JSON.stringify(value)
  return text.length > 30 ? `${text.slice(0, 12)}… (${text.length})` : text
}

/** Every single change of a call's body. */
export function changed(call: ContractCall): ContractCall[] {
  return placesOf(call.body).flatMap((path) =>
    changesAt(call.body, path).map(({ what, body }) => ({ ...call, body, changes: [what] })),
  )
}

/** A call with two or three changes. */
export function randomCall(random: Random, bases: readonly ContractCall[]): ContractCall {
  const base = random.pick(bases)
  let body = base.body
  const changes: string[] = []
  for (let left = 2 + random.below(2); left > 0; left -= 1) {
    const path = random.pick(placesOf(body))
    const options = changesAt(body, path)
    if (options.length === 0) continue
    const change = random.pick(options)
    body = change.body
    changes.push(change.what)
  }
  return { ...base, body, changes }
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
