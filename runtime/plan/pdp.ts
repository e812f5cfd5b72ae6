import * as z from "zod"
import { breaker } from "./backend.ts"
import { backendAuthentication } from "./credentials.ts"
import { loadText, name } from "./text.ts"

/** How the gateway shows a decision point who it is: as to a backend, or by a token that does not change (RFC 6750). */
export const pdpAuthentication = z.union([
  ...backendAuthentication.options,
  z.strictObject({ scheme: z.literal("bearer"), token: name }),
])
/** Credentials for a decision point. */
export type PdpAuthentication = z.infer<typeof pdpAuthentication>

/**
 * A policy decision point that is asked by AuthZEN's Authorization API 1.0. With `discover` its metadata names the endpoints, else they stand below `url`.
 * `cacheMs` 0: no decision is kept.
 */
export const pdp = z.strictObject({
  url: loadText,
  discover: z.boolean(),
  /** For one question, all its requests together. */
  timeoutMs: z.number().int().min(1).max(60_000),
  cacheMs: z.number().int().min(0).max(3_600_000),
  /** Evaluations in one request. */
  batchMax: z.number().int().min(1).max(10_000),
  tls: z.strictObject({
    ca: z.strictObject({ file: z.string().min(1) }).optional(),
    insecure: z.boolean(),
    /** Which of the plan's certificates we show. */
    certificate: name.optional(),
  }),
  authentication: pdpAuthentication.optional(),
  breaker: breaker.optional(),
})
/** A decision point of the plan. */
export type PdpPlan = z.infer<typeof pdp>
