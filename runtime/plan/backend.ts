import * as z from "zod"
import { backendAuthentication } from "./credentials.ts"
import { loadText, name } from "./text.ts"

const milliseconds = z.number().int().min(1).max(86_400_000)
const status = z.number().int().min(100).max(599)

/**
 * Keeps requests from a target that fails: no answer in time, or one of `statuses`. Opens after `calls` failures in `windowMs`; with `percent`, when such a share
 * of at least `calls` calls failed. While more than `ejectedMaxPercent` of a backend's targets are open, breakers do not count: some answer is better than none.
 */
export const breaker = z.strictObject({
  calls: z.number().int().min(1).max(1_000_000),
  percent: z.number().int().min(1).max(100).optional(),
  windowMs: milliseconds,
  openMs: milliseconds,
  statuses: z.array(status).max(500),
  ejectedMaxPercent: z.number().int().min(0).max(100),
})
/** A breaker as the plan has it. */
export type BreakerPlan = z.infer<typeof breaker>

/** Asks every target by itself whether it is well. A target is down after `downAfter` bad answers in a row, and up after `upAfter` good ones; it begins up. */
export const health = z.strictObject({
  method: z.enum(["GET", "HEAD"]),
  path: z.string().regex(/^\//).max(2048),
  everyMs: z.number().int().min(100).max(3_600_000),
  timeoutMs: milliseconds,
  statuses: z.array(status).min(1).max(500),
  downAfter: z.number().int().min(1).max(100),
  upAfter: z.number().int().min(1).max(100),
})
/** Health checks as the plan has them. */
export type HealthPlan = z.infer<typeof health>

/** What a request is sent again for. `connect-error`: nothing of it was sent. `reset`: no answer before the connection broke. `timeout`: no head in time. */
export const retryCause = z.union([z.enum(["connect-error", "reset", "timeout"]), status])
export type RetryCause = z.infer<typeof retryCause>

/**
 * Sends a request again, to another target where there is one: at most `times`, never after a byte of an answer went to the client, and only methods that may be repeated
 * (RFC 9110 §9.2.2) or are in `methods` (but for `connect-error`). Repetitions are at most `budgetPercent` of the requests. What could not be brought to one target goes
 * to the others in any case, and is none.
 */
export const backendRetry = z.strictObject({
  times: z.number().int().min(1).max(10),
  on: z.array(retryCause).min(1).max(50),
  methods: z.array(z.string()).max(20),
  budgetPercent: z.number().int().min(1).max(100),
})
export type BackendRetry = z.infer<typeof backendRetry>

/**
 * Where requests go. URLs are `http:` or `https:` with an optional base path. `totalMs` null: the operation's own deadline only. Without `balance` targets take turns by weight;
 * `hash` sends equal keys (of the forward step) to the same target.
 */
export const backend = z.strictObject({
  targets: z
    .array(z.strictObject({ url: loadText, weight: z.number().int().min(1).max(1000) }))
    .min(1)
    .max(256),
  connectMs: milliseconds,
  totalMs: milliseconds.nullable(),
  /** Until the head of the answer; absent: no limit of its own. */
  firstByteMs: milliseconds.optional(),
  /** Between two pieces of the answer; absent: no limit of its own. */
  idleMs: milliseconds.optional(),
  tls: z.strictObject({
    ca: z.strictObject({ file: z.string().min(1) }).optional(),
    insecure: z.boolean(),
    /** Which of the plan's certificates we show. */
    certificate: name.optional(),
  }),
  /** Offers HTTP/2 where there is TLS (ALPN). */
  http2: z.boolean().optional(),
  balance: z.enum(["least-outstanding", "hash"]).optional(),
  health: health.optional(),
  breaker: breaker.optional(),
  retry: backendRetry.optional(),
  /** Goes to these targets alone, and in place of any Authorization the request has. */
  authentication: backendAuthentication.optional(),
})
export type Backend = z.infer<typeof backend>
