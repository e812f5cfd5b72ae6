import { z } from "zod"
import { headerName } from "./header-name.ts"
import type { stepId } from "./step-id.ts"
import {
  basicAuth,
  checkHeader,
  cors,
  filter,
  grant,
  introspect,
  ipFilter,
  quota,
  rateLimit,
  require_,
  requireAll,
  requireAny,
  validateJwt,
} from "./steps-access.ts"
import { cacheGet, cacheLookup, cacheRemove, cacheSet, cacheStore, cacheValue } from "./steps-cache.ts"
import {
  deprecation,
  findReplace,
  jsonp,
  jsonToXml,
  maskUrls,
  metric,
  respond,
  rewrite,
  setBody,
  setHeader,
  setHost,
  setMethod,
  setQuery,
  setStatus,
  setVariable,
  trace,
  validateContent,
  validateHeaders,
  validateParameters,
  validateStatus,
  xmlToJson,
} from "./steps-content.ts"
import {
  anyOf,
  authenticate,
  contentSafety,
  forward,
  limitConcurrency,
  parallel,
  retry,
  sendRequest,
  setBackend,
  when,
} from "./steps-flow.ts"
import { name } from "./text.ts"

const failureStatus = z.number().int().min(400).max(599)

/** Verifies a subscription key that covers `api`; sets the caller's subscription. The key is never forwarded unless `forward`. */
export const validateKey = z.strictObject({
  kind: z.literal("validate-key"),
  api: name,
  header: headerName.nullable(),
  query: z.string().min(1).max(128).nullable(),
  status: failureStatus,
  forward: z.boolean(),
})

/** One step of a section. A new policy is a row here, a file in runtime/policies and a row in the binder. */
export const step = z.discriminatedUnion("kind", [
  validateJwt,
  introspect,
  basicAuth,
  validateKey,
  validateContent,
  validateParameters,
  anyOf,
  cors,
  checkHeader,
  ipFilter,
  rateLimit,
  quota,
  limitConcurrency,
  require_,
  requireAll,
  requireAny,
  filter,
  grant,
  setHeader,
  setQuery,
  setMethod,
  setStatus,
  rewrite,
  setHost,
  setBody,
  findReplace,
  maskUrls,
  jsonp,
  xmlToJson,
  jsonToXml,
  respond,
  setVariable,
  validateHeaders,
  validateStatus,
  trace,
  metric,
  cacheLookup,
  cacheStore,
  cacheGet,
  cacheSet,
  cacheRemove,
  cacheValue,
  setBackend,
  sendRequest,
  contentSafety,
  authenticate,
  retry,
  parallel,
  when,
  deprecation,
  forward,
])
export type Step = z.infer<typeof step>
/** Key of a step in the plan. */
export type StepId = z.infer<typeof stepId>
/** What tells the steps apart. */
export type StepKind = Step["kind"]
/** The step of one kind, e.g. `StepOf<"rate-limit">`. */
export type StepOf<Kind extends StepKind> = Extract<Step, { kind: Kind }>
