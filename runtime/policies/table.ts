import type { StepKind } from "../plan/steps.ts"
import { anyOf } from "./any-of.ts"
import { authenticate } from "./authenticate.ts"
import { basicAuth } from "./basic-auth.ts"
import { cacheLookup, cacheStore } from "./cache-response.ts"
import { cacheGet, cacheRemove, cacheSet, cacheValue } from "./cache-values.ts"
import { checkHeader } from "./check-header.ts"
import { contentSafety } from "./content-safety.ts"
import { cors } from "./cors.ts"
import { deprecation } from "./deprecation.ts"
import { filter } from "./filter.ts"
import { findReplace } from "./find-replace.ts"
import { forward } from "./forward.ts"
import { grant } from "./grant.ts"
import { introspect } from "./introspect.ts"
import { ipFilter } from "./ip-filter.ts"
import { jsonToXml } from "./json-to-xml.ts"
import { jsonp } from "./jsonp.ts"
import { limitConcurrency } from "./limit-concurrency.ts"
import { maskUrls } from "./mask-urls.ts"
import { metric } from "./metric.ts"
import { parallel } from "./parallel.ts"
import type { Policy } from "./policy.ts"
import { quota } from "./quota.ts"
import { rateLimit } from "./rate-limit.ts"
import { renameHeader } from "./rename-header.ts"
import { require_ } from "./require.ts"
import { requireAll } from "./require-all.ts"
import { requireAny } from "./require-any.ts"
import { respond } from "./respond.ts"
import { retry } from "./retry.ts"
import { rewrite } from "./rewrite.ts"
import { sendRequest } from "./send-request.ts"
import { setBackend } from "./set-backend.ts"
import { setBody } from "./set-body.ts"
import { setHeader } from "./set-header.ts"
import { setHost } from "./set-host.ts"
import { setMethod } from "./set-method.ts"
import { setQuery } from "./set-query.ts"
import { setStatus } from "./set-status.ts"
import { setVariable } from "./set-variable.ts"
import { trace } from "./trace.ts"
import { validateContent } from "./validate-content.ts"
import { validateHeaders } from "./validate-headers.ts"
import { validateJwt } from "./validate-jwt.ts"
import { validateKey } from "./validate-key.ts"
import { validateParameters } from "./validate-parameters.ts"
import { validateStatus } from "./validate-status.ts"
import { when } from "./when.ts"
import { xmlToJson } from "./xml-to-json.ts"

/** Every kind of step of the plan has its policy: a kind without one does not compile. */
export const policies: { readonly [Kind in StepKind]: Policy<Kind> } = {
  "validate-jwt": validateJwt,
  introspect,
  "basic-auth": basicAuth,
  "validate-key": validateKey,
  "validate-content": validateContent,
  "validate-parameters": validateParameters,
  "any-of": anyOf,
  cors,
  "check-header": checkHeader,
  "ip-filter": ipFilter,
  "rate-limit": rateLimit,
  quota,
  "limit-concurrency": limitConcurrency,
  require: require_,
  "require-any": requireAny,
  "require-all": requireAll,
  filter,
  grant,
  "set-header": setHeader,
  "rename-header": renameHeader,
  "set-query": setQuery,
  "set-method": setMethod,
  "set-status": setStatus,
  rewrite,
  "set-host": setHost,
  "set-body": setBody,
  "find-replace": findReplace,
  "mask-urls": maskUrls,
  jsonp,
  "xml-to-json": xmlToJson,
  "json-to-xml": jsonToXml,
  respond,
  "set-variable": setVariable,
  "validate-headers": validateHeaders,
  "validate-status": validateStatus,
  trace,
  metric,
  "cache-lookup": cacheLookup,
  "cache-store": cacheStore,
  "cache-get": cacheGet,
  "cache-set": cacheSet,
  "cache-remove": cacheRemove,
  "cache-value": cacheValue,
  "set-backend": setBackend,
  "send-request": sendRequest,
  authenticate,
  "content-safety": contentSafety,
  retry,
  parallel,
  when,
  deprecation,
  forward,
}
