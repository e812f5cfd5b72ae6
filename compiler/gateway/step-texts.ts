import type { BlockStep, CredentialStep, Step, StepKind } from "../../runtime/plan/steps.ts"
import { oneLine, type Printed, type Printing } from "./print.ts"
import type { BlockText, CredentialText, StepText } from "./step-text.ts"
import { anyOf } from "./steps/any-of.ts"
import { authenticate } from "./steps/authenticate.ts"
import { basicAuth } from "./steps/basic-auth.ts"
import { cacheGet } from "./steps/cache-get.ts"
import { cacheLookup } from "./steps/cache-lookup.ts"
import { cacheRemove } from "./steps/cache-remove.ts"
import { cacheSet } from "./steps/cache-set.ts"
import { cacheStore } from "./steps/cache-store.ts"
import { cacheValue } from "./steps/cache-value.ts"
import { checkHeader } from "./steps/check-header.ts"
import { compress } from "./steps/compress.ts"
import { contentSafety } from "./steps/content-safety.ts"
import { cors } from "./steps/cors.ts"
import { decompress } from "./steps/decompress.ts"
import { deprecation } from "./steps/deprecation.ts"
import { filter } from "./steps/filter.ts"
import { findReplace } from "./steps/find-replace.ts"
import { forward } from "./steps/forward.ts"
import { grant } from "./steps/grant.ts"
import { introspect } from "./steps/introspect.ts"
import { ipFilter } from "./steps/ip-filter.ts"
import { jsonToXml } from "./steps/json-to-xml.ts"
import { jsonp } from "./steps/jsonp.ts"
import { limitConcurrency } from "./steps/limit-concurrency.ts"
import { maskUrls } from "./steps/mask-urls.ts"
import { metric } from "./steps/metric.ts"
import { mirror } from "./steps/mirror.ts"
import { oidcSession } from "./steps/oidc-session.ts"
import { parallel } from "./steps/parallel.ts"
import { quotaText } from "./steps/quota.ts"
import { rateLimit } from "./steps/rate-limit.ts"
import { renameHeader } from "./steps/rename-header.ts"
import { requireText } from "./steps/require.ts"
import { requireAllText } from "./steps/require-all.ts"
import { requireAnyText } from "./steps/require-any.ts"
import { respond } from "./steps/respond.ts"
import { retry } from "./steps/retry.ts"
import { rewrite } from "./steps/rewrite.ts"
import { sendRequest } from "./steps/send-request.ts"
import { setBackend } from "./steps/set-backend.ts"
import { setBody } from "./steps/set-body.ts"
import { setHeader } from "./steps/set-header.ts"
import { setHost } from "./steps/set-host.ts"
import { setMethod } from "./steps/set-method.ts"
import { setQuery } from "./steps/set-query.ts"
import { setStatus } from "./steps/set-status.ts"
import { setVariable } from "./steps/set-variable.ts"
import { trace } from "./steps/trace.ts"
import { validateCertificate } from "./steps/validate-certificate.ts"
import { validateContent } from "./steps/validate-content.ts"
import { validateGraphql } from "./steps/validate-graphql.ts"
import { validateHeaders } from "./steps/validate-headers.ts"
import { validateHmac } from "./steps/validate-hmac.ts"
import { validateJwt } from "./steps/validate-jwt.ts"
import { validateKey } from "./steps/validate-key.ts"
import { validateParameters } from "./steps/validate-parameters.ts"
import { validateStatus } from "./steps/validate-status.ts"
import { when } from "./steps/when.ts"
import { xmlToJson } from "./steps/xml-to-json.ts"

/** Printing and comparison of every kind of step. The type makes a missing kind a compile error. */
const texts = {
  "validate-jwt": validateJwt,
  introspect,
  "basic-auth": basicAuth,
  "validate-certificate": validateCertificate,
  "validate-key": validateKey,
  "validate-hmac": validateHmac,
  "oidc-session": oidcSession,
  "any-of": anyOf,
  cors,
  compress,
  "check-header": checkHeader,
  "ip-filter": ipFilter,
  "rate-limit": rateLimit,
  quota: quotaText,
  "limit-concurrency": limitConcurrency,
  "find-replace": findReplace,
  "json-to-xml": jsonToXml,
  jsonp,
  decompress,
  "mask-urls": maskUrls,
  respond,
  require: requireText,
  "require-all": requireAllText,
  "require-any": requireAnyText,
  filter,
  grant,
  rewrite,
  "set-body": setBody,
  "set-header": setHeader,
  "rename-header": renameHeader,
  "set-host": setHost,
  "set-method": setMethod,
  "set-query": setQuery,
  "set-status": setStatus,
  "set-variable": setVariable,
  retry,
  parallel,
  when,
  "xml-to-json": xmlToJson,
  "cache-lookup": cacheLookup,
  "cache-store": cacheStore,
  "cache-get": cacheGet,
  "cache-set": cacheSet,
  "cache-remove": cacheRemove,
  "cache-value": cacheValue,
  "validate-content": validateContent,
  "validate-parameters": validateParameters,
  "validate-graphql": validateGraphql,
  "validate-headers": validateHeaders,
  "validate-status": validateStatus,
  "content-safety": contentSafety,
  "set-backend": setBackend,
  "send-request": sendRequest,
  mirror,
  trace,
  metric,
  authenticate,
  deprecation,
  forward,
} satisfies { readonly [Kind in StepKind]: StepText<Kind> }

/** Printing and comparison of the kind of a step. */
export function textOf(step: Step): StepText<StepKind> {
  // The type cannot follow from the value of `kind`; the table's own type guarantees that they fit.
  return texts[step.kind] as unknown as StepText<StepKind>
}

/** Comparison of a step with blocks of statements. */
export function blockTextOf(step: BlockStep): BlockText<StepKind> {
  // Only kinds with blocks have a `block`, which `BlockStep` guarantees.
  return (textOf(step) as unknown as { readonly block: BlockText<StepKind> }).block
}

/** Comparison of a step that authenticates callers. */
export function credentialTextOf(step: CredentialStep): CredentialText<CredentialStep["kind"]> {
  // Only credentials have a `way`, which `CredentialStep` guarantees.
  return (textOf(step) as unknown as { readonly way: CredentialText<CredentialStep["kind"]> }).way
}

/** The statement that produces a step. */
export function printStep(step: Step, printing: Printing): Printed {
  return textOf(step).print(step as never, printing)
}

/** The statement on one line. */
export function stepLine(step: Step, printing: Printing): string {
  return oneLine(printStep(step, printing))
}
