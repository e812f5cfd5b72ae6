import * as z from "zod"
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
export type ControlProblem = z.infer<typeof controlProblem>
