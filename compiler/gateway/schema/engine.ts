import { engineLimits, memoryBytes } from "../../../runtime/plan/authz.ts"
import { type ArgumentPattern, many, oneOf, optional, type StatementRow, slot, word } from "./row.ts"
import { listen } from "./top.ts"

const storesMax = 10_000
/** Maximum number of `auth` lines, and of subjects in one of them. */
const callersMax = 1000

const auth: StatementRow = {
  keyword: "auth",
  several: callersMax,
  forms: [
    { args: [word("none")] },
    {
      args: [word("key"), slot("key", "reference", { to: ["secret"] })],
      block: "authz key",
      blockRequired: true,
    },
    {
      args: [word("jwt"), slot("issuer", "reference", { to: ["issuer"] })],
      block: "authz jwt",
      blockRequired: true,
    },
  ],
  byDefault: "without `auth` the engine may listen only on loopback and private addresses",
  docs: "Who may call the engine, and which stores: callers with a key (a secret), or with a token of an issuer. Several lines are alternatives.",
  example: "auth key app_key { read s; write s }",
}

const limitsRow: StatementRow = {
  keyword: "limits",
  forms: [{ args: [], block: "authz limits", blockRequired: true }],
  byDefault: "those of OpenFGA; lists are complete",
  docs: "Limits of one request to the engine. A new plan changes them without a restart.",
  example: "limits { write-tuples 500; depth 50 }",
}

const cors: StatementRow = {
  keyword: "cors",
  forms: [{ args: [], block: "authz cors", blockRequired: true }],
  byDefault: "cross-origin requests are refused",
  docs: "Which origins may call the engine from a browser.",
  example: 'cors { origins "https://console.example" }',
}

const authzen: StatementRow = {
  keyword: "authzen",
  forms: [{ args: [], block: "authz authzen", blockRequired: true }],
  byDefault: "the only store, and the address that the request reached",
  docs: "The AuthZEN API: the store behind its standard paths, and the URL in its metadata.",
  example: 'authzen { store s; url "https://pdp.example" }',
}

const log: StatementRow = {
  keyword: "log",
  forms: [{ args: [], block: "authz log", blockRequired: true }],
  byDefault: "a line for each question that takes a second or longer, and none for others",
  docs: "Which requests and decisions of the engine have lines in the log, also for `require` and `filter` of the gateway. Values of contexts are in none.",
  example: "log { requests; decisions 10% }",
}

/** Statements of `log` in `authz`. */
export const engineLogRows: readonly StatementRow[] = [
  {
    keyword: "requests",
    forms: [{ args: [] }],
    docs: "A line for each request to the engine and each question of the gateway: method, store, model, outcome, time, work and caller.",
    example: "requests",
  },
  {
    keyword: "decisions",
    forms: [{ args: [optional(slot("share", "percentage"))] }],
    byDefault: "no decision has a line",
    docs: "A line for each decision, or for a share of them, drawn at random: user, relation, object and result. Checks in batches have one each.",
    example: "decisions 10%",
  },
  {
    keyword: "users",
    forms: [
      { args: [word("plain")] },
      { args: [word("hashed"), word("by"), slot("key", "reference", { to: ["secret"] })] },
    ],
    byDefault: "only the type of the user",
    docs: "How lines about decisions name users: as they are, or by a hash (HMAC-SHA-256) with a secret, so that lines about one user can be joined and nobody without the secret can guess it.",
    example: "users plain",
  },
  {
    keyword: "slow",
    forms: [{ args: [slot("time", "duration", { min: 1, max: 86_400_000 })] }],
    byDefault: "1s",
    docs: "From this time on a question has a line with its work.",
    example: "slow 200ms",
  },
  {
    keyword: "slow-steps",
    forms: [{ args: [slot("steps", "count", { min: 1, max: 1_000_000_000 })] }],
    byDefault: "no limit",
    docs: "From this many steps of work on a question has a line as well, however long it takes.",
    example: "slow-steps 100000",
  },
]

export const authzRows: readonly StatementRow[] = [
  {
    ...listen,
    required: false,
    byDefault: "no listener: only `require` and `filter` use the engine",
    forms: [{ args: [many(slot("address", "address"), 16)], block: "engine listen" }],
    example: "listen 127.0.0.1:8080",
  },
  {
    keyword: "public",
    forms: [{ args: [] }],
    docs: "Lets the engine listen on a public address although it has no `auth`.",
    example: "public",
  },
  auth,
  {
    keyword: "max-staleness",
    forms: [
      {
        args: [
          slot("time", "duration-or-none", { min: 1, max: 86_400_000, setting: "authz.maxStalenessMs" }),
        ],
      },
    ],
    byDefault: "10s",
    docs: "How old the tuples in memory may be when the database cannot be reached. After that time, the engine responds with 503.",
    example: "max-staleness 10s",
  },
  {
    keyword: "memory",
    forms: [
      {
        args: [
          slot("size", "size", {
            min: memoryBytes.minValue ?? 0,
            max: memoryBytes.maxValue ?? 0,
            setting: "authz.memoryBytes",
          }),
        ],
      },
    ],
    byDefault: "512MB",
    docs: "Memory of a process for the tuples of all stores. Tuples that do not fit are read from the database when a question needs them.",
    example: "memory 512MB",
  },
  {
    keyword: "ready",
    forms: [{ args: [word("when"), word("warm")] }],
    byDefault: "ready at once: until a store is in memory, questions read the database",
    docs: "A process that starts is ready only when the tuples of the plan's stores are in memory, or it is known that they do not fit.",
    example: "ready when warm",
  },
  limitsRow,
  cors,
  authzen,
  log,
  {
    keyword: "store",
    several: true,
    forms: [{ args: [slot("name", "name", { to: ["store"] })], block: "store", blockRequired: true }],
    docs: "A store of relation tuples with its authorization model.",
    example: 'store acme { model "models/acme.fga" }',
  },
]

const stores = oneOf([word("*")], [many(slot("store", "reference", { to: ["store"] }), storesMax)])

/** The permissions of a key or subject. */
export const grantRows: readonly StatementRow[] = [
  {
    keyword: "read",
    several: true,
    forms: [{ args: [stores] }],
    docs: "Stores the caller may read: checks, lists, tuples, models, changes. `*` is every store, also those made through the API.",
    example: "read s",
  },
  {
    keyword: "write",
    several: true,
    forms: [{ args: [stores] }],
    docs: "Stores whose tuples, models and assertions the caller may write. It does not imply `read`.",
    example: "write s",
  },
  {
    keyword: "manage",
    forms: [{ args: [word("stores")] }],
    docs: "The caller may create, rename and delete stores, and list all of them. Without it a list has the stores the caller has a grant for.",
    example: "manage stores",
  },
]

export const engineJwtRows: readonly StatementRow[] = [
  {
    keyword: "subject",
    several: callersMax,
    forms: [
      { args: [word("*")], block: "authz subject", blockRequired: true },
      {
        args: [many(slot("subject", "constant", { max: 1024 }), 100)],
        block: "authz subject",
        blockRequired: true,
      },
    ],
    docs: "Permissions of tokens with these subjects (`sub`); `*` is any subject that is not listed.",
    example: 'subject "orders-service" { read s }',
  },
]

const bounds = engineLimits.shape

/** The bounds come from the plan's schema, so that they are defined only once. */
const boundsOf = (
  field: Exclude<keyof typeof bounds, "connectionsPerAddressMax">,
): { min: number; max: number } => {
  const schema = bounds[field]
  const { minValue, maxValue } = "unwrap" in schema ? schema.unwrap() : schema
  return { min: minValue ?? 0, max: maxValue ?? Number.MAX_SAFE_INTEGER }
}

type Field = Exclude<keyof typeof bounds, "connectionsPerAddressMax">

const limit = (
  keyword: string,
  kind: "count" | "size" | "duration",
  field: Field,
  row: Pick<StatementRow, "byDefault" | "docs" | "example">,
): StatementRow =>
  ({ keyword, forms: [{ args: [slot(field, kind, boundsOf(field))] }], ...row }) as StatementRow

const within = (time: Field): ArgumentPattern[] => [
  optional(word("in"), slot(time, "duration", boundsOf(time))),
]

/** The limits of a list question: maximum number of results and maximum time. */
const list = (keyword: string, results: Field, time: Field, docs: string): StatementRow => ({
  keyword,
  forms: [
    {
      args: [
        oneOf(
          [word("in"), slot(time, "duration", boundsOf(time))],
          [word("none"), ...within(time)],
          [slot(results, "count", boundsOf(results)), ...within(time)],
        ),
      ],
    },
  ],
  byDefault: "none in 3s",
  docs,
  example: `${keyword} 1000 in 5s`,
})

/** The slots have the names of the plan's fields. */
export const engineLimitRows: readonly StatementRow[] = [
  limit("body", "size", "bodyBytesMax", {
    byDefault: "602KB",
    docs: "Largest request body; a larger one gets 413.",
    example: "body 1MB",
  }),
  limit("timeout", "duration", "requestMs", {
    byDefault: "3s",
    docs: "Longest time for a response, except lists; then the caller gets 504.",
    example: "timeout 3s",
  }),
  limit("write-tuples", "count", "tuplesPerWriteMax", {
    byDefault: "100",
    docs: "Maximum number of writes and deletes of one request in total.",
    example: "write-tuples 100",
  }),
  limit("contextual-tuples", "count", "contextualTuplesMax", {
    byDefault: "100",
    docs: "Maximum number of contextual tuples of one check.",
    example: "contextual-tuples 100",
  }),
  limit("condition-context", "size", "conditionContextBytesMax", {
    byDefault: "32KB",
    docs: "Largest context stored with a tuple, as JSON.",
    example: "condition-context 32KB",
  }),
  limit("model-types", "count", "typesPerModelMax", {
    byDefault: "100",
    docs: "Maximum number of types of a model that is written through the API.",
    example: "model-types 100",
  }),
  limit("model-size", "size", "modelBytesMax", {
    byDefault: "256KB",
    docs: "Largest model that is written through the API.",
    example: "model-size 256KB",
  }),
  limit("batch-checks", "count", "checksPerBatchMax", {
    byDefault: "50",
    docs: "Maximum number of checks of one batch.",
    example: "batch-checks 50",
  }),
  list(
    "list-objects",
    "listObjectsMax",
    "listObjectsMs",
    "Maximum number of objects in a list, and its time limit; the response says when a list is cut.",
  ),
  list(
    "list-users",
    "listUsersMax",
    "listUsersMs",
    "Maximum number of users in a list, and its time limit; the response says when a list is cut.",
  ),
  limit("list-page", "count", "listPageSizeMax", {
    byDefault: "1000",
    docs: "Largest page of the lists of objects and users.",
    example: "list-page 1000",
  }),
  limit("matrix-cells", "count", "matrixCellsMax", {
    byDefault: "10000",
    docs: "Maximum number of cells of one matrix: users × relations × objects.",
    example: "matrix-cells 1000",
  }),
  limit("changes-page", "count", "changesPageSizeMax", {
    byDefault: "100",
    docs: "Largest page of changes.",
    example: "changes-page 100",
  }),
  limit("changes-horizon", "duration", "changesHorizonMs", {
    byDefault: "0s",
    docs: "Changes younger than this are left out of the change feed.",
    example: "changes-horizon 30s",
  }),
  limit("watchers", "count", "watchersMax", {
    byDefault: "5000",
    docs: "Maximum number of clients that watch changes at the same time, in each process.",
    example: "watchers 10000",
  }),
  limit("assertions", "count", "assertionsMax", {
    byDefault: "100",
    docs: "Maximum number of assertions of one model.",
    example: "assertions 100",
  }),
  limit("assertions-size", "size", "assertionsBytesMax", {
    byDefault: "256KB",
    docs: "Largest set of assertions of a model, as JSON.",
    example: "assertions-size 256KB",
  }),
  limit("assertion-tuples", "count", "assertionTuplesMax", {
    byDefault: "20",
    docs: "Maximum number of contextual tuples of one assertion.",
    example: "assertion-tuples 20",
  }),
  {
    keyword: "depth",
    forms: [{ args: [oneOf([word("none")], [slot("depthMax", "count", boundsOf("depthMax"))])] }],
    byDefault: "25",
    docs: "Maximum number of usersets and `from` that a check follows in a row; deeper checks are refused as too complex.",
    example: "depth 50",
  },
  {
    keyword: "connections-per-address",
    forms: [
      { args: [word("none")] },
      { args: [slot("connectionsPerAddressMax", "count", { min: 1, max: 1_000_000 })] },
    ],
    byDefault: "4096",
    docs: "Open connections that one address may have in each process; the addresses of an IPv6 network (/64) count as one. A further one is closed at once.",
    example: "connections-per-address 500",
  },
]

export const engineCorsRows: readonly StatementRow[] = [
  {
    keyword: "origins",
    required: true,
    forms: [{ args: [word("*")] }, { args: [many(slot("origin", "constant", { max: 1024 }), 1000)] }],
    docs: "The allowed origins; `*` is any.",
    example: 'origins "https://console.example" "http://localhost:3000"',
  },
  {
    keyword: "headers",
    forms: [{ args: [word("*")] }, { args: [many(slot("header", "header-name"), 1000)] }],
    byDefault: "*",
    docs: "Request headers that a page may send; `*` is any.",
    example: 'headers "Authorization" "Content-Type"',
  },
]

export const authzenRows: readonly StatementRow[] = [
  {
    keyword: "store",
    forms: [{ args: [slot("store", "reference", { to: ["store"] })] }],
    byDefault: "the only store, if there is exactly one",
    docs: "The store that AuthZEN's paths without a store use.",
    example: "store s",
  },
  {
    keyword: "url",
    forms: [{ args: [slot("url", "url")] }],
    byDefault: "`http://` and the address that the request reached",
    docs: "The URL under which clients reach the engine, for the metadata.",
    example: 'url "https://pdp.example"',
  },
]
