import { z } from "zod"
import { headerName } from "./header-name.ts"
import type { stepId } from "./step-id.ts"
import { checkHeader, cors, ipFilter, rateLimit, validateJwt } from "./steps-access.ts"
import { anyOf, forward, limitConcurrency, when } from "./steps-flow.ts"
import { name, text } from "./text.ts"

const status = z.number().int().min(200).max(599)
const failureStatus = z.number().int().min(400).max(599)
const message = z.enum(["request", "response"])

/** Verifies a subscription key that covers `api`; sets the caller's subscription. The key is never forwarded unless `forward`. */
export const validateKey = z.strictObject({
  kind: z.literal("validate-key"),
  api: name,
  header: headerName.nullable(),
  query: z.string().min(1).max(128).nullable(),
  status: failureStatus,
  forward: z.boolean(),
})

/** Asks the engine: may `user` have `relation` on `object` in `store`? No: 403. No answer: 503. Dynamic parts must be ids (no `#`, `:`, `*`, blanks), else 400. */
export const require_ = z.strictObject({
  kind: z.literal("require"),
  store: name,
  relation: z.string(),
  object: text,
  user: text,
})

/** `append` adds a line, `default` sets only where absent, `remove` deletes all lines. */
export const setHeader = z.strictObject({
  kind: z.literal("set-header"),
  message,
  action: z.enum(["set", "append", "default", "remove"]),
  name: headerName,
  value: text.optional(),
})

/** Query parameter of the request to the backend. */
export const setQuery = z.strictObject({
  kind: z.literal("set-query"),
  action: z.enum(["set", "remove"]),
  name: z.string().min(1).max(128),
  value: text.optional(),
})

/** Path of the request to the backend (without the target's own base path); dynamic parts are percent-encoded as one segment each. */
export const rewrite = z.strictObject({ kind: z.literal("rewrite"), path: text })

/** Host header for the backend: the client's own (`preserve`) or a text. Without this step it is the target's. */
export const setHost = z.strictObject({
  kind: z.literal("set-host"),
  host: z.union([z.strictObject({ preserve: z.literal(true) }), text]),
})

/** Replaces the whole body; sets Content-Type and Content-Length. */
export const setBody = z.strictObject({
  kind: z.literal("set-body"),
  message,
  media: z.enum(["json", "text"]),
  body: text,
})

/** Ends the section and answers. */
export const respond = z.strictObject({
  kind: z.literal("respond"),
  status,
  body: z.strictObject({ media: z.enum(["json", "text"]), text }).optional(),
  headers: z.array(z.strictObject({ name: headerName, value: text })).max(50),
})

/** Deprecation (RFC 9745) and Sunset (RFC 8594) headers on every answer; `closed`: 410 from the sunset date on. Dates are ISO days, UTC. */
export const deprecation = z.strictObject({
  kind: z.literal("deprecation"),
  deprecated: z.boolean(),
  sunset: z.iso.date().optional(),
  closed: z.boolean(),
})

/** One step of a section. A new policy is a row here, a file in runtime/policies and a row in the binder. */
export const step = z.discriminatedUnion("kind", [
  validateJwt,
  validateKey,
  anyOf,
  cors,
  checkHeader,
  ipFilter,
  rateLimit,
  limitConcurrency,
  require_,
  setHeader,
  setQuery,
  rewrite,
  setHost,
  setBody,
  respond,
  when,
  deprecation,
  forward,
])
export type Step = z.infer<typeof step>
export type StepId = z.infer<typeof stepId>
/** What tells the steps apart. */
export type StepKind = Step["kind"]
/** The step of one kind, e.g. `StepOf<"rate-limit">`. */
export type StepOf<Kind extends StepKind> = Extract<Step, { kind: Kind }>
