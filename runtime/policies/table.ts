import type { StepKind } from "../plan/steps.ts"
import { anyOf } from "./any-of.ts"
import { checkHeader } from "./check-header.ts"
import { cors } from "./cors.ts"
import { deprecation } from "./deprecation.ts"
import { forward } from "./forward.ts"
import { ipFilter } from "./ip-filter.ts"
import { limitConcurrency } from "./limit-concurrency.ts"
import type { Policy } from "./policy.ts"
import { rateLimit } from "./rate-limit.ts"
import { require_ } from "./require.ts"
import { respond } from "./respond.ts"
import { rewrite } from "./rewrite.ts"
import { setBody } from "./set-body.ts"
import { setHeader } from "./set-header.ts"
import { setHost } from "./set-host.ts"
import { setQuery } from "./set-query.ts"
import { validateJwt } from "./validate-jwt.ts"
import { validateKey } from "./validate-key.ts"
import { when } from "./when.ts"

/** Every kind of step of the plan has its policy: a kind without one does not compile. */
export const policies: { readonly [Kind in StepKind]: Policy<Kind> } = {
  "validate-jwt": validateJwt,
  "validate-key": validateKey,
  "any-of": anyOf,
  cors,
  "check-header": checkHeader,
  "ip-filter": ipFilter,
  "rate-limit": rateLimit,
  "limit-concurrency": limitConcurrency,
  require: require_,
  "set-header": setHeader,
  "set-query": setQuery,
  rewrite,
  "set-host": setHost,
  "set-body": setBody,
  respond,
  when,
  deprecation,
  forward,
}
