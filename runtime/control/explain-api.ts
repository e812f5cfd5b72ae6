import * as z from "zod"
import type { RequestExplanation } from "../gateway/explain/request-explanation.ts"

const short = z.string().max(1_024)

/**
 * Body of `POST /v1/explain-request`: a request that need not have been made. `target` is path and query; `body` is base64. `key` and `token` are put where the route
 * wants them; with `claims` authentication passes with these, or as the subscription that `sub` names.
 */
export const explainRequestQuestion = z.strictObject({
  method: z
    .string()
    .max(64)
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "is no method"),
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
export const refusal = z.strictObject({
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
export const refusalAnswer = z.strictObject({
  refusal,
  proof: z
    .strictObject({ atRefusal: z.boolean(), allowed: z.boolean(), revision: z.number(), text })
    .optional(),
})
export type RefusalAnswer = z.infer<typeof refusalAnswer>
