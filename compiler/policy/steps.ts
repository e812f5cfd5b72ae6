import type { z } from "zod"
import type {
  checkHeader,
  cors,
  ipFilter,
  quota,
  rateLimit,
  validateJwt,
} from "../../runtime/plan/steps-access.ts"
import type {
  cacheGet,
  cacheLookup,
  cacheRemove,
  cacheSet,
  cacheStore,
  cacheValue,
  findReplace,
  jsonToXml,
  metric,
  respond,
  rewrite,
  setBody,
  setHeader,
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
} from "../../runtime/plan/steps-content.ts"
import type {
  anyOf,
  authenticate,
  authentication,
  forward,
  limitConcurrency,
  parallel,
  retry,
  sendRequest,
  setBackend,
  when,
} from "../../runtime/plan/steps-flow.ts"

type Schema =
  | typeof anyOf
  | typeof authenticate
  | typeof cacheGet
  | typeof cacheLookup
  | typeof cacheRemove
  | typeof cacheSet
  | typeof cacheStore
  | typeof cacheValue
  | typeof checkHeader
  | typeof cors
  | typeof findReplace
  | typeof forward
  | typeof ipFilter
  | typeof jsonToXml
  | typeof limitConcurrency
  | typeof metric
  | typeof parallel
  | typeof quota
  | typeof rateLimit
  | typeof respond
  | typeof retry
  | typeof rewrite
  | typeof sendRequest
  | typeof setBackend
  | typeof setBody
  | typeof setHeader
  | typeof setMethod
  | typeof setQuery
  | typeof setStatus
  | typeof setVariable
  | typeof trace
  | typeof validateContent
  | typeof validateHeaders
  | typeof validateJwt
  | typeof validateParameters
  | typeof validateStatus
  | typeof when
  | typeof xmlToJson

/** Steps that elements of a document become. */
export type DocumentStep = z.infer<Schema>
/** How a request of our own, or to the backend, says who we are. */
export type Authentication = z.infer<typeof authentication>
