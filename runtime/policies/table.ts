import type { StepKind } from "../plan/steps.ts"
import { checkHeader } from "./access/check-header.ts"
import { cors } from "./access/cors.ts"
import { filter } from "./access/filter.ts"
import { grant } from "./access/grant.ts"
import { ipFilter } from "./access/ip-filter.ts"
import { require_ } from "./access/require.ts"
import { requireAll } from "./access/require-all.ts"
import { requireAny } from "./access/require-any.ts"
import { compress } from "./bodies/compress.ts"
import { decompress } from "./bodies/decompress.ts"
import { findReplace } from "./bodies/find-replace.ts"
import { jsonToXml } from "./bodies/json-to-xml.ts"
import { jsonp } from "./bodies/jsonp.ts"
import { maskUrls } from "./bodies/mask-urls.ts"
import { setBody } from "./bodies/set-body.ts"
import { xmlToJson } from "./bodies/xml-to-json.ts"
import { cacheGet } from "./cache/cache-get.ts"
import { cacheRemove } from "./cache/cache-remove.ts"
import { cacheLookup, cacheStore } from "./cache/cache-response.ts"
import { cacheSet } from "./cache/cache-set.ts"
import { cacheValue } from "./cache/cache-value.ts"
import { anyOf } from "./credentials/any-of.ts"
import { basicAuth } from "./credentials/basic-auth.ts"
import { introspect } from "./credentials/introspect.ts"
import { oidcSession } from "./credentials/oidc-session.ts"
import { validateCertificate } from "./credentials/validate-certificate.ts"
import { validateHmac } from "./credentials/validate-hmac.ts"
import { validateJwt } from "./credentials/validate-jwt.ts"
import { validateKey } from "./credentials/validate-key.ts"
import { metric } from "./flow/metric.ts"
import { parallel } from "./flow/parallel.ts"
import { retry } from "./flow/retry.ts"
import { setVariable } from "./flow/set-variable.ts"
import { trace } from "./flow/trace.ts"
import { when } from "./flow/when.ts"
import { limitConcurrency } from "./limits/limit-concurrency.ts"
import { quota } from "./limits/quota.ts"
import { rateLimit } from "./limits/rate-limit.ts"
import { deprecation } from "./messages/deprecation.ts"
import { renameHeader } from "./messages/rename-header.ts"
import { respond } from "./messages/respond.ts"
import { rewrite } from "./messages/rewrite.ts"
import { setHeader } from "./messages/set-header.ts"
import { setHost } from "./messages/set-host.ts"
import { setMethod } from "./messages/set-method.ts"
import { setQuery } from "./messages/set-query.ts"
import { setStatus } from "./messages/set-status.ts"
import type { Policy } from "./policy.ts"
import { authenticate } from "./services/authenticate.ts"
import { contentSafety } from "./services/content-safety.ts"
import { forward } from "./services/forward.ts"
import { mirror } from "./services/mirror.ts"
import { sendRequest } from "./services/send-request.ts"
import { setBackend } from "./services/set-backend.ts"
import { validateContent } from "./validation/validate-content.ts"
import { validateGraphql } from "./validation/validate-graphql.ts"
import { validateHeaders } from "./validation/validate-headers.ts"
import { validateParameters } from "./validation/validate-parameters.ts"
import { validateStatus } from "./validation/validate-status.ts"

/** The policy of every kind of step. */
export type PolicyTable = { readonly [Kind in StepKind]: Policy<Kind> }

/** The type requires a policy for every kind of step. */
export const policies: PolicyTable = {
  "validate-jwt": validateJwt,
  introspect,
  "basic-auth": basicAuth,
  "validate-certificate": validateCertificate,
  "validate-hmac": validateHmac,
  "oidc-session": oidcSession,
  "validate-key": validateKey,
  "validate-content": validateContent,
  "validate-graphql": validateGraphql,
  "validate-parameters": validateParameters,
  "any-of": anyOf,
  cors,
  compress,
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
  decompress,
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
  mirror,
  authenticate,
  "content-safety": contentSafety,
  retry,
  parallel,
  when,
  deprecation,
  forward,
}
