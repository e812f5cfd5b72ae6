import * as z from "zod"
import type { RequestExplanation } from "../gateway/explain/request-explanation.ts"
import { plan } from "../plan/plan.ts"

/** A header every answer of the control API has: whoever asks sees that nothing else answers there. */
export const controlMark = "sallyport-control"
export type ControlMark = typeof controlMark

/** Who applied a plan, for the history. All three are words for people; nothing is decided by them. */
export const author = z.strictObject({
  who: z.string().min(1).max(200),
  commit: z.string().max(200).nullable(),
  message: z.string().max(2000).nullable(),
})
export type Author = z.infer<typeof author>

/** Body of `PUT /v1/plan`. `base` is the serial the plan was compared with, null when nothing was running then; `baseStamp` tells it from a plan of that serial in another history of the database. */
export const applyRequest = z.strictObject({
  plan: z.unknown(),
  base: z.number().int().min(1).nullable(),
  baseStamp: z.string().optional(),
  author,
})

/** Body of `POST /v1/rollback`: makes the plan of an earlier serial the newest again, as a new serial. */
export const rollbackRequest = z.strictObject({
  serial: z.number().int().min(1),
  base: z.number().int().min(1).nullable(),
  baseStamp: z.string().optional(),
  author,
})

/** One line of the history. `at` is RFC 3339; `stamp` is random and the plan's own, see `baseStamp`. */
export const planRecord = z.strictObject({
  serial: z.number().int().min(1),
  stamp: z.string(),
  digest: z.string(),
  at: z.string(),
  who: z.string(),
  commit: z.string().nullable(),
  message: z.string().nullable(),
})
export type PlanRecord = z.infer<typeof planRecord>

/** Answer of `GET /v1/plan` and `GET /v1/plans/{serial}`. */
export const planAnswer = z.strictObject({ record: planRecord, plan })
export type PlanAnswer = z.infer<typeof planAnswer>

/** Answer of `PUT /v1/plan` and `POST /v1/rollback`. `applied` false: the running plan is the same already and nothing was done. */
export const applyAnswer = z.strictObject({ applied: z.boolean(), record: planRecord })
export type ApplyAnswer = z.infer<typeof applyAnswer>

/** Answer of `GET /v1/plans`, newest first. */
export const historyAnswer = z.strictObject({ plans: z.array(planRecord) })
export type HistoryAnswer = z.infer<typeof historyAnswer>

/** One process of the fleet as it last said itself. `serial` is the plan it serves, null when it serves none; `error` what kept it from a newer one. */
export const processStatus = z.strictObject({
  id: z.string(),
  host: z.string(),
  pid: z.number().int(),
  roles: z.array(z.string()),
  version: z.string(),
  startedAt: z.string(),
  seenAt: z.string(),
  serial: z.number().int().nullable(),
  error: z.string().nullable(),
  /** `degraded`: it serves on, but something it needs is away; `reasons` say what. `draining`: it takes nothing new. */
  state: z.enum(["active", "degraded", "draining"]),
  reasons: z.array(z.string()),
  /** The newest change of issued subscriptions it knows; null where it serves no calls. */
  subscriptions: z.number().int().nullable(),
})
export type ProcessStatus = z.infer<typeof processStatus>

/** A target of a backend, or a decision point, as the process that was asked sees it. `outstanding`: requests sent to it that are not over. */
const targetStatus = z.strictObject({
  origin: z.string(),
  health: z.enum(["up", "down", "unknown"]),
  breaker: z.enum(["closed", "open", "half-open", "none"]),
  outstanding: z.number().int(),
})

/**
 * What passes through the process that was asked: requests in work, WebSockets that are open, its targets by backend, and its decision points by name (`health`: by the
 * last question, for a quarter of an hour).
 */
const trafficStatus = z.strictObject({
  requests: z.number().int(),
  tunnels: z.number().int(),
  backends: z.record(z.string(), z.array(targetStatus)),
  decisionPoints: z.record(z.string(), targetStatus),
})

/**
 * Answer of `GET /v1/status`. `serial` is the newest plan in the database; `warnings` are things that do not stop service, e.g. an issuer that is away. `traffic` is null
 * where the process that was asked serves no requests.
 */
export const statusAnswer = z.strictObject({
  serial: z.number().int().nullable(),
  processes: z.array(processStatus),
  warnings: z.array(z.string()),
  traffic: trafficStatus.nullable(),
})
export type StatusAnswer = z.infer<typeof statusAnswer>

/** Problem body of every failure (RFC 9457). `problems` list what is wrong with a plan, with the place in the text where it is known. */
export const controlProblem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  detail: z.string().optional(),
  problems: z
    .array(z.object({ path: z.string(), message: z.string(), origin: z.string().optional() }))
    .optional(),
  current: planRecord.nullable().optional(),
})

const short = z.string().max(1_024)

/**
 * Body of `POST /v1/explain-request`: a request that need not have been made. `target` is path and query; `body` is base64. `key` and `token` are put where the route
 * wants them; with `claims` authentication passes with these, or as the subscription that `sub` names.
 */
export const explainRequestQuestion = z.strictObject({
  method: z
    .string()
    .max(64)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is not a method"),
  target: z.string().max(16_384).startsWith("/"),
  host: short.default("localhost"),
  ip: z.union([z.ipv4(), z.ipv6()]).default("127.0.0.1"),
  headers: z
    .array(z.tuple([short, z.string().max(16_384)]))
    .max(200)
    .default([]),
  body: z.base64().max(16_000_000).optional(),
  key: short.optional(),
  token: z.string().max(16_384).optional(),
  claims: z.record(z.string(), z.unknown()).optional(),
})
/** See `explainRequestQuestion`; what has a default may be left out. */
export type ExplainRequestQuestion = z.input<typeof explainRequestQuestion>

/** Answer of `POST /v1/explain-request`. */
export type ExplainRequestAnswer = RequestExplanation

const text = z.string()

/** A question to the engine about a store, or to a decision point, with its answer; `revision` is absent where there was none. `reason`: what the decision point said. */
const decision = z.strictObject({
  store: text.optional(),
  pdp: text.optional(),
  user: text,
  relation: text,
  object: text,
  allowed: z.boolean(),
  revision: z.number().optional(),
  reason: text.optional(),
})

/**
 * A request that was not let through. `user` is the `sub` of its token. `place` is `file:line`. `problem` is absent where a `respond` answered.
 * `cause` is for operators.
 */
const refusal = z.strictObject({
  id: text,
  at: z.iso.datetime(),
  method: text,
  path: text,
  status: z.number().int(),
  problem: text.optional(),
  cause: text.optional(),
  route: text.optional(),
  api: text.optional(),
  version: text.optional(),
  operation: text.optional(),
  answeredBy: z.strictObject({ kind: text, place: text }).optional(),
  user: text.optional(),
  subscription: text.optional(),
  product: text.optional(),
  backend: text.optional(),
  decision: decision.optional(),
})
/** A request that was refused, without headers, query and body. */
export type RefusedRequest = z.infer<typeof refusal>

/**
 * Answer of `GET /v1/refusals/{id}`. `proof` is why the engine said no, asked again: at the revision it said it at where that is still to be had (`atRefusal`),
 * else as it is now.
 */
const refusalAnswer = z.strictObject({
  refusal,
  proof: z
    .strictObject({ atRefusal: z.boolean(), allowed: z.boolean(), revision: z.number(), text })
    .optional(),
})
export type RefusalAnswer = z.infer<typeof refusalAnswer>

/** Name of a subscription: in logs, in usage, in expressions. */
const subscriptionName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, "a letter, then letters, digits, `_` or `-`, 63 at most")

/** What it opens: the APIs of a product, one API, or all. */
const subscriptionScope = z.union([
  z.strictObject({ product: z.string() }),
  z.strictObject({ api: z.string() }),
  z.strictObject({ all: z.literal(true) }),
])

/** States of a subscription. Only `active` lets its keys in. */
const subscriptionStates = ["submitted", "active", "suspended", "rejected", "cancelled", "expired"] as const
/** One of `subscriptionStates`. */
export type SubscriptionStatus = (typeof subscriptionStates)[number]

/** A key as it can be recognised; times are RFC 3339, `lastUsedAt` is right within a minute. */
const keyInfo = z.strictObject({
  prefix: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
})

/** A subscription, issued or of the text. Of one of the text only name, scope and state are known. */
const subscription = z.strictObject({
  name: z.string(),
  source: z.enum(["issued", "text"]),
  scope: subscriptionScope,
  state: z.enum(subscriptionStates),
  owner: z.string(),
  note: z.string(),
  primary: keyInfo.nullable(),
  secondary: keyInfo.nullable(),
  expiresAt: z.string().nullable(),
  createdAt: z.string().nullable(),
  changedAt: z.string().nullable(),
})
export type Subscription = z.infer<typeof subscription>

const moment = z.iso.datetime({ offset: true })
/** Keys made elsewhere are taken as they are: callers need not change theirs. Shorter ones could be guessed. */
const givenKey = z.string().regex(/^[\x21-\x7e]{24,512}$/, "24 to 512 characters without blanks")

/** Body of `POST /v1/subscriptions`. Without `state` the product says: `submitted` where it wants approval, else `active`. */
export const createSubscriptionRequest = z.strictObject({
  name: subscriptionName,
  scope: subscriptionScope,
  owner: z.string().max(200).default(""),
  note: z.string().max(2000).default(""),
  expiresAt: moment.nullable().default(null),
  state: z.enum(["submitted", "active"]).optional(),
  keys: z.strictObject({ primary: givenKey, secondary: givenKey }).optional(),
})
/** See `createSubscriptionRequest`. */
export type CreateSubscription = z.infer<typeof createSubscriptionRequest>

/** Body of `POST /v1/subscriptions/{name}/activate`: an expired one needs a new end, or `null` for none. */
export const activateRequest = z.strictObject({ expiresAt: moment.nullable().optional() })

/** Body of `POST /v1/subscriptions/{name}/rotate`. */
export const rotateRequest = z.strictObject({ key: z.enum(["primary", "secondary"]) })

/** Answer of create and rotate. `keys` are shown this once, and only those made here. */
const issuedAnswer = z.strictObject({
  subscription,
  keys: z.strictObject({ primary: z.string().optional(), secondary: z.string().optional() }),
})
export type IssuedAnswer = z.infer<typeof issuedAnswer>

/** Answer of `GET /v1/subscriptions`, by name; `after` of the next page, null at the end. `gateway` is the name the running plan has for itself. */
const subscriptionsAnswer = z.strictObject({
  gateway: z.string().nullable(),
  subscriptions: z.array(subscription),
  next: z.string().nullable(),
})
export type SubscriptionsAnswer = z.infer<typeof subscriptionsAnswer>

/** Query of `GET /v1/subscriptions`. */
export const listQuery = z.strictObject({
  state: z.enum(subscriptionStates).optional(),
  product: z.string().optional(),
  api: z.string().optional(),
  owner: z.string().optional(),
  prefix: z.string().max(512).optional(),
  text: z.string().max(200).optional(),
  after: z.string().max(100).default(""),
  limit: z.coerce.number().int().min(1).max(500).default(50),
})
/** See `listQuery`. */
export type SubscriptionQuery = z.infer<typeof listQuery>

/** What usage can be told by. `user`: who the token of a call without subscription names (`sub`); `(others)` are those for whom a process had no line left in an hour. */
const usageBy = z.enum(["subscription", "user", "product", "api", "operation", "version", "status", "day"])

/** Query of `GET /v1/usage`: `by` is a list with commas; `since` counts from its hour on. `deprecated=true`: calls of versions the running plan calls deprecated. */
export const usageQuery = z.strictObject({
  by: z
    .string()
    .default("")
    .transform((text) => text.split(",").filter((word) => word !== ""))
    .pipe(z.array(usageBy).max(8)),
  since: moment.optional(),
  until: moment.optional(),
  subscription: z.string().optional(),
  user: z.string().optional(),
  product: z.string().optional(),
  api: z.string().optional(),
  deprecated: z.enum(["true", "false"]).optional(),
})
/** See `usageQuery`. */
export type UsageQuestion = z.infer<typeof usageQuery>

/**
 * The calls of one group. `key` has a word for each of `by`, empty where there was none. `billed` are those that cost something; `amounts` what all cost, exact. Times are
 * in milliseconds, within a tenth of the truth, null where nothing was measured.
 */
const usageLine = z.strictObject({
  key: z.partialRecord(usageBy, z.string()),
  calls: z.number().int(),
  billed: z.number().int(),
  bytesIn: z.number().int(),
  bytesOut: z.number().int(),
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
  amounts: z.array(z.strictObject({ amount: z.string(), currency: z.string() })),
})
export type UsageLine = z.infer<typeof usageLine>

/** Answer of `GET /v1/usage`, most calls first. `cut`: there are more groups than are told. */
const usageAnswer = z.strictObject({
  by: z.array(usageBy),
  lines: z.array(usageLine),
  cut: z.boolean(),
})
export type UsageAnswer = z.infer<typeof usageAnswer>

export type ControlProblem = z.infer<typeof controlProblem>
