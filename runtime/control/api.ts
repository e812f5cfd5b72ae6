import * as z from "zod"
import { canaryCounts } from "../canary/counts.ts"
import { canaryLimits } from "../canary/verdict.ts"
import type { RequestExplanation } from "../gateway/explain/request-explanation.ts"
import { changeClasses } from "../plan/change-rules.ts"
import { controlRoles } from "../plan/control.ts"
import { digest, plan } from "../plan/plan.ts"
import { planAuthor, planSeal, sealSignature } from "../plan/seal.ts"

/** Every response of the control API has this header, so that a client can tell it from another server at the same address. */
export const controlMark = "sallyport-control"
export type ControlMark = typeof controlMark

/** Who applied a plan, for the history. */
export type Author = z.infer<typeof planAuthor>

/** The classes of changes that the caller consents to. */
const allow = z.array(z.enum(changeClasses)).max(changeClasses.length)

/**
 * Body of `PUT /v1/plan`. `base` is the serial that the plan was compared with, null when no plan was running. `baseStamp` distinguishes it
 * from a plan with the same serial in another history of the database. `seal` and `signature` are those of the plan's file.
 * `allow`: what the caller consents to.
 */
export const applyRequest = z.strictObject({
  plan: z.unknown(),
  base: z.number().int().min(1).nullable(),
  baseStamp: z.string().optional(),
  author: planAuthor,
  seal: planSeal.optional(),
  signature: sealSignature.optional(),
  allow: allow.default([]),
})

/** Body of `POST /v1/rollback`: applies the plan of an earlier serial again, with a new serial. */
export const rollbackRequest = z.strictObject({
  serial: z.number().int().min(1),
  base: z.number().int().min(1).nullable(),
  baseStamp: z.string().optional(),
  author: planAuthor,
  allow: allow.default([]),
})

/** A plan of the history, without its record. */
const planPlace = z.strictObject({ serial: z.number().int().min(1), stamp: z.string(), digest: z.string() })

/**
 * Response of `GET /v1/kept-plans`: the plans that this process keeps on disk, the last one first. `running`: the plan that it serves; null: none, or one from
 * a file.
 */
export const keptPlansAnswer = z.strictObject({
  running: planPlace.nullable(),
  plans: z.array(z.lazy(() => planRecord)),
})
export type KeptPlansAnswer = z.infer<typeof keptPlansAnswer>

/** Body of `POST /v1/rollback/without-database`: this process alone serves the plan of an earlier serial, which it keeps on disk. */
export const outageRollbackRequest = z.strictObject({
  serial: z.number().int().min(1),
  base: z.number().int().min(1),
  baseStamp: z.string().optional(),
  author: planAuthor,
  /** Also when a canary ran when the database last answered, or when that is unknown. */
  despiteCanary: z.boolean().optional(),
})

/**
 * Response of `POST /v1/rollback/without-database`. `to`: the plan that is served now; `base`: the plan of the history that it replaces until the database answers.
 * `at` is RFC 3339.
 */
export const outageRollbackAnswer = z.strictObject({
  base: planPlace,
  to: planPlace,
  who: z.string(),
  message: z.string().nullable(),
  at: z.string(),
})
export type OutageRollbackAnswer = z.infer<typeof outageRollbackAnswer>

/**
 * Body of `POST /v1/consents`: consents to classes of changes of a plan, by its digest, over the running plan. An empty `allow` withdraws an earlier
 * consent.
 */
export const consentRequest = z.strictObject({
  digest,
  base: z.number().int().min(1).nullable(),
  baseStamp: z.string().optional(),
  allow,
  message: z.string().max(2000).nullable().default(null),
})

/** A consent to classes of changes: of whom, with the groups that person had then. `at` is RFC 3339. */
export const planConsent = z.strictObject({
  who: z.string(),
  kind: z.enum(["person", "token", "shared"]),
  issuer: z.string().nullable(),
  role: z.enum(controlRoles),
  groups: z.array(z.string()),
  allow,
  message: z.string().nullable(),
  at: z.string(),
})
/** See `planConsent`. */
export type PlanConsent = z.infer<typeof planConsent>

/** Response of `GET /v1/consents`: consents to plans that could replace the running one, by their digests. */
export const consentsAnswer = z.strictObject({
  consents: z.array(z.strictObject({ digest: z.string(), consent: planConsent })),
})
export type ConsentsAnswer = z.infer<typeof consentsAnswer>

/** Reads a stored consent; another version may have written it. */
export function readConsent(json: string): PlanConsent | undefined {
  return planConsent.safeParse(JSON.parse(json)).data
}

/**
 * How a plan came into the history. `seal`: who made its file and when, as the file says it; proved only with a `signer`, the name or id of the key
 * that `signature` was verified with. `consents`: those that counted.
 */
export const provenance = z.strictObject({
  seal: planSeal.optional(),
  signature: sealSignature.optional(),
  signer: z.string().optional(),
  consents: z.array(planConsent).optional(),
})
/** See `provenance`. */
export type Provenance = z.infer<typeof provenance>

/** One entry of the history. `at` is RFC 3339; `stamp` is random and identifies the plan, see `baseStamp`. */
export const planRecord = z.strictObject({
  serial: z.number().int().min(1),
  stamp: z.string(),
  digest: z.string(),
  at: z.string(),
  who: z.string(),
  commit: z.string().nullable(),
  message: z.string().nullable(),
  /** Absent: nothing is known about its origin. */
  provenance: provenance.optional(),
})
export type PlanRecord = z.infer<typeof planRecord>

/** Response of `GET /v1/plan` and `GET /v1/plans/{serial}`. */
export const planAnswer = z.strictObject({ record: planRecord, plan })
export type PlanAnswer = z.infer<typeof planAnswer>

/** Response of `PUT /v1/plan` and `POST /v1/rollback`. `applied` false: the running plan is already the same, and nothing changed. */
export const applyAnswer = z.strictObject({ applied: z.boolean(), record: planRecord })
export type ApplyAnswer = z.infer<typeof applyAnswer>

/**
 * Body of `POST /v1/canary`: as that of `PUT /v1/plan`, and the terms. The plan serves `percent` of the callers for `seconds`, and then all of them,
 * unless it is worse than `limits` allow.
 */
export const canaryRequest = applyRequest.extend({
  percent: z.number().min(0.01).max(99),
  seconds: z
    .number()
    .int()
    .min(1)
    .max(30 * 86_400),
  limits: canaryLimits.prefault({}),
})

/** Body of `POST /v1/canary/promote` and `POST /v1/canary/cancel`. `id`: the canary that the caller means. */
export const canaryEndRequest = z.strictObject({ id: z.string().max(64), author: planAuthor })

/**
 * A plan that serves a share of the callers, or did. `base`: the serial that serves the others. `endedBy` null: it ended by itself. `counts`: of a running
 * one, what the processes have reported. `serial`: the plan that it became.
 */
export const canaryRecord = z.strictObject({
  id: z.string(),
  base: z.number().int(),
  digest: z.string(),
  percent: z.number(),
  seconds: z.number().int(),
  limits: canaryLimits,
  who: z.string(),
  commit: z.string().nullable(),
  message: z.string().nullable(),
  startedAt: z.string(),
  state: z.enum(["running", "promoted", "returned", "cancelled", "superseded"]),
  endedAt: z.string().nullable(),
  endedBy: z.string().nullable(),
  reason: z.string().nullable(),
  counts: canaryCounts.nullable(),
  serial: z.number().int().nullable(),
})
/** See `canaryRecord`. */
export type CanaryRecord = z.infer<typeof canaryRecord>

/**
 * Response of `GET /v1/canary`: the canary that began last, running or over; null: there was none. `verdict`: what the counts of a running one say now.
 * `processes`: those that reported; `error`: why one cannot serve the plan.
 */
export const canaryAnswer = z.strictObject({
  canary: canaryRecord.nullable(),
  verdict: z.string().nullable(),
  processes: z.array(
    z.strictObject({ name: z.string(), error: z.string().nullable(), reportedAt: z.string() }),
  ),
})
export type CanaryAnswer = z.infer<typeof canaryAnswer>

/** Response of `POST /v1/canary` and of the calls that end it. */
export interface CanaryChanged {
  readonly canary: CanaryRecord
}

/** Response of `GET /v1/plans`, newest first. `history` identifies the database for seals. `canaries`: the last ones, newest first; absent: an older release. */
export const historyAnswer = z.strictObject({
  history: z.string(),
  plans: z.array(planRecord),
  canaries: z.array(canaryRecord).optional(),
})
export type HistoryAnswer = z.infer<typeof historyAnswer>

/** The last report of one process. `serial` is the plan it runs, null when it runs none; `error` is why it does not run a newer one. */
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
  /** `degraded`: it works, but something it needs is unavailable, see `reasons`. `draining`: it accepts no new requests. */
  state: z.enum(["active", "degraded", "draining"]),
  reasons: z.array(z.string()),
  /** Revision of the newest change of issued subscriptions that it has read; null in a process without the gateway role. */
  subscriptions: z.number().int().nullable(),
  /** Serial of the newest plan, when the process cannot serve it (`error` says why); else null. Absent: an older release. */
  refusedSerial: z.number().int().nullable().optional(),
  /** Since when it is in this state. Null or absent: an older release. */
  stateSince: z.string().nullable().optional(),
  /** Resident memory. Null or absent: an older release. */
  memoryBytes: z.number().int().nullable().optional(),
  /** Share of the last seconds in which its event loop was busy, 0 to 1. Null or absent: not known. */
  loopBusy: z.number().nullable().optional(),
})
export type ProcessStatus = z.infer<typeof processStatus>

/** A target of a backend, or a decision point, as this process sees it. `outstanding`: requests sent to it and not finished. */
const targetStatus = z.strictObject({
  origin: z.string(),
  health: z.enum(["up", "down", "unknown"]),
  breaker: z.enum(["closed", "open", "half-open", "none"]),
  outstanding: z.number().int(),
})

/**
 * What finds the targets of a backend. `source`: the name or service that is asked. `targets`: how many it has found; null: none yet. `reason`: why the
 * last attempt failed. `ageMs`: since it last confirmed the targets.
 */
const discoveryStatus = z.strictObject({
  by: z.enum(["dns", "srv", "kubernetes"]),
  source: z.string(),
  targets: z.number().int().nullable(),
  reason: z.string().nullable(),
  ageMs: z.number().int().nullable(),
})

/**
 * The keys with which a part of the process verifies tokens of an issuer; each part has its own. `ready`: whether there are any. `ageMs`: since their source last confirmed them; null: never. `reason`: why the last
 * attempt to get them failed.
 */
const issuerStatus = z.strictObject({
  name: z.string(),
  part: z.enum(["gateway", "engine", "control", "portal"]),
  ready: z.boolean(),
  keys: z.array(z.strictObject({ id: z.string().nullable(), algorithms: z.array(z.string()) })),
  ageMs: z.number().int().nullable(),
  reason: z.string().nullable(),
})

/** A certificate that a listener shows. `hosts`: its names. `notAfter`: when it ends. */
const certificateStatus = z.strictObject({
  name: z.string(),
  hosts: z.array(z.string()),
  notAfter: z.string(),
})

/**
 * Traffic of this process: requests in progress, open WebSockets, targets by backend (with `discoveries`, those that find them), and decision points by name (`health` is that of the
 * last query, for 15 minutes). `durations`: by backend, the time until the head of its responses since the start, by bucket, with `bounds` in seconds (the last bucket has none).
 */
const trafficStatus = z.strictObject({
  requests: z.number().int(),
  tunnels: z.number().int(),
  backends: z.record(z.string(), z.array(targetStatus)),
  decisionPoints: z.record(z.string(), targetStatus),
  discoveries: z.record(z.string(), discoveryStatus),
  durations: z.record(z.string(), z.array(z.number())),
  bounds: z.array(z.number()).readonly(),
})

const connectionsStatus = z.strictObject({
  max: z.number().int(),
  size: z.number().int(),
  inUse: z.number().int(),
  waiting: z.number().int(),
})

/** A replica that tuples are read from. `reason`: why it is not read, or what it lacks; null while it is read. */
const replicaStatus = z.strictObject({
  server: z.string(),
  state: z.enum(["reading", "behind", "refused", "unavailable"]),
  reason: z.string().nullable(),
  revisionsBehind: z.number().int(),
  connections: connectionsStatus,
})

/**
 * Something that Sallyport uses of the server. `reason`: the server's reply when it is missing. `without`: what happens then; null: Sallyport
 * cannot work.
 */
export const capabilityStatus = z.strictObject({
  name: z.string(),
  isPresent: z.boolean(),
  reason: z.string().nullable(),
  without: z.string().nullable(),
})

/**
 * The database as the process that answers sees it. `server`: `host:port`; null before the first connection and for the embedded database.
 * `connections`: those for statements; `size` open or being opened, at most `max`; `waiting` statements wait for one.
 */
const databaseStatus = z.strictObject({
  kind: z.enum(["postgres", "embedded"]),
  server: z.string().nullable(),
  connections: connectionsStatus,
  replicas: z.array(replicaStatus),
  capabilities: z.array(capabilityStatus),
})

/**
 * A store in the memory of the process that answers: by its declared name, else its id. `tuples` are those in memory. `behind`: revisions
 * that are known to exist and that answers do not contain yet. `staleMs`: since the database last confirmed that no other one is missing.
 */
const storeStatus = z.strictObject({
  store: z.string(),
  form: z.enum(["whole", "pages", "loading"]),
  revision: z.number().int(),
  behind: z.number().int(),
  staleMs: z.number().int(),
  tuples: z.number().int(),
  bytes: z.number().int(),
})

/**
 * The engine's tuples in the process that answers. `whole` stores are in memory; `paged` ones are read from the database as far as they are
 * not. `loading`: stores that are being loaded, and the part that was read, from 0 to 1; null when unknown.
 * `stores`: those in memory, the largest first.
 */
const engineStatus = z.strictObject({
  memoryBytes: z.number().int(),
  memoryBytesMax: z.number().int(),
  whole: z.number().int(),
  paged: z.number().int(),
  loading: z.array(z.strictObject({ store: z.string(), part: z.number().nullable() })),
  stores: z.array(storeStatus),
})

/**
 * Response of `GET /v1/status`. `serial` is the newest plan in the database. `warnings` do not stop the service, e.g. an unavailable
 * issuer. `traffic` describes the process that answers; it is null without the gateway role.
 */
export const statusAnswer = z.strictObject({
  serial: z.number().int().nullable(),
  processes: z.array(processStatus),
  warnings: z.array(z.string()),
  /** Those of the process that answers. */
  issuers: z.array(issuerStatus),
  /** Those of its listeners. */
  certificates: z.array(certificateStatus),
  traffic: trafficStatus.nullable(),
  database: databaseStatus,
  engine: engineStatus,
  /** The canary that runs; null: none. Absent: an older release. */
  canary: canaryRecord.nullable().optional(),
})
export type StatusAnswer = z.infer<typeof statusAnswer>

/** The feed is read by processes that may have been paused for a while, and by clients that catch up. */
const changesSecondsMin = 3_600

/**
 * Body of `POST /v1/prune`: what to keep; absent fields keep everything of their kind. `changesSeconds`: changes of the stores' feeds.
 * `plansKept`: newest plans. `deletedSeconds`: deleted stores and subscriptions. `cursor`: from the previous answer. `dryRun`: only count.
 */
export const pruneRequest = z.strictObject({
  changesSeconds: z.number().int().min(changesSecondsMin).optional(),
  plansKept: z.number().int().min(1).optional(),
  deletedSeconds: z.number().int().min(0).optional(),
  cursor: z.string().max(400).nullable().default(null),
  dryRun: z.boolean().default(false),
})

/** Numbers of deleted rows. */
export const pruned = z.strictObject({
  changes: z.number().int(),
  tuples: z.number().int(),
  stores: z.number().int(),
  subscriptions: z.number().int(),
  plans: z.number().int(),
})

/** Response of `POST /v1/prune`: the numbers of deleted rows, and the cursor for the next call; null: everything is done. */
const pruneAnswer = z.strictObject({ pruned, next: z.string().nullable() })
export type PruneAnswer = z.infer<typeof pruneAnswer>

/** A move of tuples of a store. `users` null: of all; `failure` null: the last attempt did not fail. See `MoveState`. */
const tupleMoveRecord = z.strictObject({
  store: z.string(),
  from: z.string(),
  to: z.string(),
  users: z.array(z.string()).nullable(),
  state: z.enum(["copying", "ready", "kept", "finishing", "reverting"]),
  examined: z.number().int(),
  changed: z.number().int(),
  failure: z.string().nullable(),
  startedAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

/** Response of `GET /v1/moves`. */
export const movesAnswer = z.strictObject({ moves: z.array(tupleMoveRecord) })
export type MovesAnswer = z.infer<typeof movesAnswer>

/** Response of `POST /v1/moves/count`: the number of stored tuples that each move concerns, in the order of the request. */
export const movedTuples = z.strictObject({ tuples: z.array(z.number().int()) })
export type MovedTuples = z.infer<typeof movedTuples>

/** Response of `POST /v1/moves/finish`: the number of moves whose old tuples are deleted from now on. */
export const finishedMoves = z.strictObject({ finishing: z.number().int() })
export type FinishedMoves = z.infer<typeof finishedMoves>

/** Problem body of every failure (RFC 9457). `problems` lists the errors of a plan, with their place in the text where it is known. */
export const controlProblem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number(),
  detail: z.string().optional(),
  problems: z
    .array(z.object({ path: z.string(), message: z.string(), origin: z.string().optional() }))
    .optional(),
  current: planRecord.nullable().optional(),
  missing: z
    .array(z.object({ class: z.string(), rule: z.string(), changes: z.array(z.string()) }))
    .optional(),
})

const short = z.string().max(1_024)

/**
 * Body of `POST /v1/explain-request`: a request, real or hypothetical. `target` is path and query; `body` is base64. `key` and `token` are
 * placed where the route expects them. With `claims`, authentication succeeds with these claims, or as the subscription in `sub`.
 */
export const explainRequestQuestion = z.strictObject({
  method: z
    .string()
    .max(64)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is not an HTTP method"),
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
/** See `explainRequestQuestion`; fields with a default are optional. */
export type ExplainRequestQuestion = z.input<typeof explainRequestQuestion>

/** Response of `POST /v1/explain-request`. */
export type ExplainRequestAnswer = RequestExplanation

const text = z.string()

/**
 * A question to the engine about a store, or to a decision point, with its answer. `revision` is absent without a revision. `reason` is
 * that of the decision point.
 */
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
 * A refused request. `user` is the `sub` of its token. `place` is `file:line`. `problem` is absent when a `respond` statement answered.
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
/** A refused request, without headers, query and body. */
export type RefusedRequest = z.infer<typeof refusal>

/**
 * Response of `GET /v1/refusals/{id}`. `proof` explains the engine's denial. It is computed at the revision of the denial while that is
 * available (`atRefusal`), else at the current one.
 */
export const refusalAnswer = z.strictObject({
  refusal,
  proof: z
    .strictObject({ atRefusal: z.boolean(), allowed: z.boolean(), revision: z.number(), text })
    .optional(),
})
export type RefusalAnswer = z.infer<typeof refusalAnswer>

/** Name of a subscription in logs, usage and expressions. */
const subscriptionName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,62}$/,
    "must be a letter, then letters, digits, `_` or `-`, at most 63 characters",
  )

/** What the subscription gives access to: the APIs of a product, one API, or all APIs. */
const subscriptionScope = z.union([
  z.strictObject({ product: z.string() }),
  z.strictObject({ api: z.string() }),
  z.strictObject({ all: z.literal(true) }),
])

/** States of a subscription. Keys are valid only while it is `active`. */
const subscriptionStates = ["submitted", "active", "suspended", "rejected", "cancelled", "expired"] as const
/** One of `subscriptionStates`. */
export type SubscriptionStatus = (typeof subscriptionStates)[number]

/** The recognisable part of a key. Times are RFC 3339; `lastUsedAt` is accurate to a minute. */
const keyInfo = z.strictObject({
  prefix: z.string(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
})

/** A subscription, issued or declared in gateway.conf. For a declared one only name, scope and state are known. */
export const subscription = z.strictObject({
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

/** A version of an API on which something is counted; `version` null: the API has no versions. */
const countedApi = z.strictObject({ api: text, version: text.nullable() })
export type CountedApi = z.infer<typeof countedApi>

/** What a limit or quota counts. */
const unit = z.enum(["calls", "tokens"])

/** At most `calls` (of `unit`) in any `seconds`, together on all versions in `where`. */
const subscriptionLimit = z.strictObject({
  unit,
  calls: z.number().int(),
  seconds: z.number().int(),
  where: z.array(countedApi),
})
export type SubscriptionLimit = z.infer<typeof subscriptionLimit>

/** What a subscription may use in a period of `seconds`; 0: for ever. `calls` (of `unit`), `bytes` null: not limited. */
const subscriptionQuota = z.strictObject({
  unit,
  calls: z.number().int().nullable(),
  bytes: z.number().int().nullable(),
  seconds: z.number().int(),
  where: z.array(countedApi),
})
export type SubscriptionQuota = z.infer<typeof subscriptionQuota>

/** A quota in its current period. `used` contains calls that processes have reserved. Times are RFC 3339; `endsAt` null: it never ends. */
const subscriptionQuotaUse = subscriptionQuota.extend({
  used: z.strictObject({ calls: z.number().int(), bytes: z.number().int() }),
  startsAt: z.string(),
  endsAt: z.string().nullable(),
})
export type SubscriptionQuotaUse = z.infer<typeof subscriptionQuotaUse>

/** Response of `GET /v1/subscriptions/{name}/limits`: what the running plan counts by subscription on the APIs that it opens. */
export const limitsAnswer = z.strictObject({
  limits: z.array(subscriptionLimit),
  quotas: z.array(subscriptionQuotaUse),
})
export type LimitsAnswer = z.infer<typeof limitsAnswer>

/**
 * A product of the running plan. `price` null: its calls cost nothing; `subscriptionsPerOwner` null: not limited. `limits`, `quotas`: what counts by subscription.
 * `subscriptions`: how many it has by state, with those of gateway.conf; states without one are absent.
 */
const productSummary = z.strictObject({
  name: text,
  apis: z.array(text),
  approval: z.boolean(),
  open: z.boolean(),
  unpublished: z.boolean(),
  price: z.strictObject({ amount: text, currency: text }).nullable(),
  subscriptionsPerOwner: z.number().int().nullable(),
  limits: z.array(subscriptionLimit),
  quotas: z.array(subscriptionQuota),
  subscriptions: z.partialRecord(z.enum(subscriptionStates), z.number().int()),
})
export type ProductSummary = z.infer<typeof productSummary>

/** Response of `GET /v1/products`, in order of their names. */
export const productListAnswer = z.strictObject({ products: z.array(productSummary) })
export type ProductListAnswer = z.infer<typeof productListAnswer>

const moment = z.iso.datetime({ offset: true })
/** Keys from another system are accepted as they are, so that callers need not change them. Shorter keys could be guessed. */
const givenKey = z.string().regex(/^[\x21-\x7e]{24,512}$/, "must have 24 to 512 characters without spaces")

/** Body of `POST /v1/subscriptions`. Without `state` the product decides: `submitted` when it requires approval, else `active`. */
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

/** Body of `POST /v1/subscriptions/{name}/activate`. An expired subscription needs a new end; `null` means no end. */
export const activateRequest = z.strictObject({ expiresAt: moment.nullable().optional() })

/** Body of `POST /v1/subscriptions/{name}/rotate`. */
export const rotateRequest = z.strictObject({ key: z.enum(["primary", "secondary"]) })

/** Response of create and rotate. `keys` contains only generated keys, and only this response shows them. */
export const issuedAnswer = z.strictObject({
  subscription,
  keys: z.strictObject({ primary: z.string().optional(), secondary: z.string().optional() }),
})
export type IssuedAnswer = z.infer<typeof issuedAnswer>

/**
 * Response of `GET /v1/subscriptions`, by name. `after` is for the next page, null on the last page. `gateway` is the name of the gateway
 * in the running plan.
 */
export const subscriptionsAnswer = z.strictObject({
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

/**
 * Fields to group usage by. `user`: `sub` of the token of a call without subscription. `(others)`: users for which a process had no row
 * left in that hour.
 */
const usageBy = z.enum(["subscription", "user", "product", "api", "operation", "version", "status", "day"])

/**
 * Query of `GET /v1/usage`. `by` is a comma-separated list; `since` is rounded down to its hour. `deprecated=true`: only calls of versions
 * that the running plan declares deprecated.
 */
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
 * The calls of one group. `key` has one value for each field of `by`, empty when a call had none. `billed`: calls with a price; `amounts`:
 * the exact cost of all calls. Times are in milliseconds, accurate to 10 %, null without a measurement.
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

/** Response of `GET /v1/usage`, most calls first. `cut`: there are more groups than this response contains. */
export const usageAnswer = z.strictObject({
  by: z.array(usageBy),
  lines: z.array(usageLine),
  cut: z.boolean(),
})
export type UsageAnswer = z.infer<typeof usageAnswer>

export type ControlProblem = z.infer<typeof controlProblem>

/** A token of a machine for the control API. `may`: the operations and groups in its scope; null: everything that its role may do. Times are RFC 3339; `lastUsedAt` is accurate to a minute. */
export const controlToken = z.strictObject({
  name: subscriptionName,
  prefix: z.string(),
  role: z.enum(controlRoles),
  may: z.array(z.string()).readonly().nullable(),
  createdAt: z.string(),
  createdBy: z.string(),
  expiresAt: z.string(),
  lastUsedAt: z.string().nullable(),
})
/** A token without its secret, which only the response that makes it contains. */
export type MachineToken = z.infer<typeof controlToken>

/** Body of `POST /v1/tokens`. Absent `role`: the least one that `may` needs; absent `may`: everything that `role` may do. */
export const createTokenRequest = z.strictObject({
  name: subscriptionName,
  role: z.enum(controlRoles).optional(),
  may: z.array(z.string().max(64)).min(1).max(64).optional(),
  expiresAt: z.iso.datetime({ offset: true }),
})

/** Response of `POST /v1/tokens`. `secret` is the token; no other response contains it. */
export const createdToken = z.strictObject({ token: controlToken, secret: z.string() })
export type CreatedToken = z.infer<typeof createdToken>

/**
 * Response of `GET /v1/whoami`. `kind`: a person of an issuer, a token of a machine, or the token with which the process was started. `may`: the scope of a
 * token; null: everything that the role may do.
 */
export const whoamiAnswer = z.strictObject({
  kind: z.enum(["person", "token", "shared"]),
  name: z.string(),
  role: z.enum(controlRoles),
  groups: z.array(z.string()).readonly(),
  may: z.array(z.string()).readonly().nullable(),
  issuer: z.string().nullable(),
  expiresAt: z.string().nullable(),
})
export type WhoamiAnswer = z.infer<typeof whoamiAnswer>

/** Response of `GET /v1/try-it`: the origin whose pages may call the gateway by the running plan, and that of the gateway. Null: none may. */
export const tryItAnswer = z.strictObject({
  tryIt: z.strictObject({ console: z.string(), gateway: z.string() }).nullable(),
})
export type TryItAnswer = z.infer<typeof tryItAnswer>

/** Query of `GET /v1/audit`. `after`: number of the row before the first; times are RFC 3339. */
export const auditQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0),
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(500),
})

/** Body of `POST /v1/audit/prune`. */
export const auditPruneRequest = z.strictObject({ olderThanSeconds: z.number().int().min(86_400) })

const chainPlace = z.strictObject({ seq: z.number().int(), hash: z.string() })

/** Response of `GET /v1/audit`. `entry` is canonical JSON, see `chainHash` of runtime/store/audit-log.ts. `next`: `after` of the next page. */
export const auditAnswer = z.strictObject({
  rows: z.array(z.strictObject({ seq: z.number().int(), entry: z.string(), hash: z.string() })),
  head: chainPlace,
  anchor: chainPlace,
  next: z.number().int().nullable(),
})
export type AuditAnswer = z.infer<typeof auditAnswer>

/** Body of `POST /console/session`: a token of the control API, or the code of a one-time link. */
export const consoleSessionRequest = z.union([
  z.strictObject({ token: z.string().min(1).max(16_384) }),
  z.strictObject({ code: z.string().min(1).max(200) }),
])

/** Response of `GET /v1/login`: the issuers at which people log in, with the public client for it. `discovery`: URL of the document itself. */
export const loginAnswer = z.strictObject({
  logins: z.array(
    z.strictObject({
      ...{ issuer: z.string(), discovery: z.string(), client: z.string() },
      scope: z.string().nullable(),
    }),
  ),
})
export type LoginAnswer = z.infer<typeof loginAnswer>

/** Body of `POST /console/login`: an issuer of `GET /v1/login`, and the path of the console to which the login leads. */
export const consoleLoginRequest = z.strictObject({
  issuer: z.string().min(1).max(256),
  to: z.string().startsWith("/console/").max(2_048),
})

/** Response of `POST /console/login`: the page of the issuer where the person signs in. */
export const consoleLoginAnswer = z.strictObject({ page: z.string() })
export type ConsoleLoginAnswer = z.infer<typeof consoleLoginAnswer>

/** Response of `DELETE /console/session`. `page`: where the session at the issuer ends; null: the issuer has no such page, or the session was begun by a token. */
export const consoleEndAnswer = z.strictObject({ page: z.string().nullable() })
export type ConsoleEndAnswer = z.infer<typeof consoleEndAnswer>

/** Response of `POST /v1/console-links`: path and fragment of a link that signs a browser in once, for `seconds` from now. */
export const consoleLinkAnswer = z.strictObject({ path: z.string(), seconds: z.number().int() })
export type ConsoleLinkAnswer = z.infer<typeof consoleLinkAnswer>

/**
 * Traffic of the process that answers, in the `ms` before `at` (milliseconds since the epoch). `requests`: by class of status, from 0 (the client
 * disconnected before the response) to 5. `refusals`: responses of the gateway itself by `problem: reason`. Percentiles are milliseconds, interpolated in the
 * buckets of the histogram; null without a request. `loopMs`: 99th percentile of the event-loop delay; null while it is not measured.
 */
export const trafficPoint = z.strictObject({
  at: z.number(),
  ms: z.number(),
  requests: z.array(z.number()).length(6),
  refusals: z.record(z.string(), z.number()),
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
  running: z.number().int(),
  memoryBytes: z.number().int(),
  loopMs: z.number().nullable(),
})
/** See `trafficPoint`. */
export type TrafficPoint = z.infer<typeof trafficPoint>

/** The process that answers. `id` is its name in `GET /v1/status`. */
const answeringProcess = z.strictObject({ id: z.string(), host: z.string(), pid: z.number().int() })

/** Response of `GET /v1/traffic`: the last ten minutes, oldest first. `process`: whose traffic it is. `points` null: it has no gateway. */
export const trafficAnswer = z.strictObject({
  process: answeringProcess,
  points: z.array(trafficPoint).nullable(),
})
export type TrafficAnswer = z.infer<typeof trafficAnswer>

/** What `GET /v1/events` can send. */
export const eventTopics = ["status", "traffic", "log"] as const
/** One of `eventTopics`. */
export type EventTopic = (typeof eventTopics)[number]

/**
 * Query of `GET /v1/events`. `topics`: separated by commas. The others narrow the lines of `log`: `route` is the key of a route or a part of it; `status` a number, or a
 * class such as `4xx`; `caller` a part of the user, subscription or address; `refused` only refused requests.
 */
export const eventsQuery = z.strictObject({
  topics: z
    .string()
    .default(eventTopics[0])
    .transform((text) => text.split(","))
    .pipe(z.array(z.enum(eventTopics)).min(1).max(eventTopics.length)),
  route: z.string().max(1_024).optional(),
  status: z
    .string()
    .regex(/^(?:[0-5]xx|[1-5]\d\d)$/, "must be a status such as `404`, or a class such as `4xx`")
    .optional(),
  caller: z.string().max(200).optional(),
  problem: z.string().max(200).optional(),
  refused: z.enum(["true", "false"]).default("false"),
})
/** See `eventsQuery`. */
export type EventsQuestion = z.infer<typeof eventsQuery>

/**
 * A finished request, as in the access log: `at` is RFC 3339, times are milliseconds. `status` 0: the client disconnected before the response. Fields without a value
 * are absent.
 */
export const loggedRequest = z.strictObject({
  id: text,
  at: text,
  method: text,
  path: text,
  status: z.number().int(),
  ms: z.number(),
  upstreamMs: z.number().optional(),
  protocol: text.optional(),
  route: text.optional(),
  api: text.optional(),
  version: text.optional(),
  operation: text.optional(),
  ip: text,
  user: text.optional(),
  subscription: text.optional(),
  product: text.optional(),
  backend: text.optional(),
  target: text.optional(),
  problem: text.optional(),
  reason: text.optional(),
  cause: text.optional(),
  answeredBy: z.strictObject({ kind: text, place: text }).optional(),
  decision: decision.optional(),
  traceId: text.optional(),
  bytesIn: z.number(),
  bytesOut: z.number(),
  aborted: z.boolean(),
  retried: z.boolean(),
})
/** See `loggedRequest`. */
export type LoggedRequest = z.infer<typeof loggedRequest>

/**
 * Query of `GET /v1/routes`. `text`: words that are parts of the key, API, version or operation. `in`: only routes of these APIs (`catalog`) or versions (`orders.v1`), by
 * spaces. `after`: key of the last route of the page before.
 */
export const routesQuery = z.strictObject({
  text: z.string().max(1_024).default(""),
  in: z.string().max(8_192).optional(),
  after: z.string().max(4_096).default(""),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
})

/** What a process has counted for a route since its start: requests by class of status, 0 to 5, and by bucket of duration. */
export const routeCounts = z.strictObject({
  requests: z.array(z.number()),
  durations: z.array(z.number()),
})
/** See `routeCounts`. */
export type RouteCounts = z.infer<typeof routeCounts>

/** A route of the newest plan. `place` is `file:line`, empty when it is not known. `counts` null: no request yet. */
const routeSummary = z.strictObject({
  key: text,
  api: text,
  version: text.nullable(),
  operation: text,
  method: text,
  path: text,
  hosts: z.array(text),
  place: text,
  counts: routeCounts.nullable(),
})
/** See `routeSummary`. */
export type RouteSummary = z.infer<typeof routeSummary>

/** A version of an API in the newest plan: how many of its routes fit the query, and their counts together. `version` null: the API has no versions. */
const versionSummary = z.strictObject({
  api: text,
  version: text.nullable(),
  routes: z.number().int(),
  counts: routeCounts.nullable(),
})
/** See `versionSummary`. */
export type VersionSummary = z.infer<typeof versionSummary>

/**
 * Response of `GET /v1/routes`, in the order of the plan. `total` and `versions` are of all routes that fit `text`, whatever `in` says. `bounds`: of the buckets of
 * `durations`, in seconds; the last bucket has none.
 */
export const routesAnswer = z.strictObject({
  serial: z.number().int().nullable(),
  total: z.number().int(),
  versions: z.array(versionSummary),
  bounds: z.array(z.number()).readonly(),
  routes: z.array(routeSummary),
  next: text.nullable(),
})
export type RoutesAnswer = z.infer<typeof routesAnswer>

/**
 * A use of a step in a route. `at`: its place in the route, such as `inbound.3.matched.0`. `isInherited`: it is written outside of the operation. `step`: its fields in
 * the plan; inner lists of steps are in `inside`.
 */
export interface RouteStep {
  readonly at: string
  readonly place: string
  readonly isInherited: boolean
  readonly step: Readonly<Record<string, unknown>>
  readonly inside: readonly { readonly name: string; readonly steps: readonly RouteStep[] }[]
}

/** Response of `GET /v1/routes/{key}`. `timeoutMs` null: none. */
export interface RouteAnswer extends RouteSummary {
  readonly serial: number
  readonly timeoutMs: number | null
  readonly bounds: readonly number[]
  readonly sections: readonly { readonly name: string; readonly steps: readonly RouteStep[] }[]
}

/** Query of `GET /v1/refusals`. `route`: the key of a route. */
export const refusalsQuery = z.strictObject({
  route: z.string().max(4_096).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(200),
})

/** Response of `GET /v1/refusals`: the last refused requests that the process remembers, newest first. */
export const refusalsAnswer = z.strictObject({ refusals: z.array(refusal) })
export type RefusalsAnswer = z.infer<typeof refusalsAnswer>

/** Query of `GET /v1/plans/{serial}/changes`. `from`: the serial that the plan is compared with (default: the one before). */
export const planChangesQuery = z.strictObject({ from: z.coerce.number().int().min(1).optional() })

/** Body of `POST /v1/plan/changes`: a compiled plan, which is compared with the running one. */
export const planChangesRequest = z.strictObject({ plan: z.unknown() })

/**
 * Response of `GET /v1/plans/{serial}/changes` and `POST /v1/plan/changes`. `from` null: it is the first plan. `to` null: it was not applied. `classes` is empty for a change that neither opens, closes nor breaks anything; `routes`: keys of those
 * that it concerns, at most 100. `cut`: there are more changes.
 */
export const planChangesAnswer = z.strictObject({
  from: z.number().int().nullable(),
  to: z.number().int().nullable(),
  changes: z.array(z.strictObject({ classes: allow, routes: z.array(text), text })),
  cut: z.boolean(),
})
export type PlanChangesAnswer = z.infer<typeof planChangesAnswer>
