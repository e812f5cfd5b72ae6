import { lowerCountedInOrder } from "./lower/limits.ts"
import type { LowerStep } from "./lower/step.ts"
import { cache } from "./schema/cache.ts"
import { validateAnswer } from "./schema/validation.ts"
import { authenticateStatement } from "./steps/authenticate.ts"
import { checkInOrder } from "./steps/check-header.ts"
import { filterStatement } from "./steps/filter.ts"
import { grantStatement, revokeStatement } from "./steps/grant.ts"
import { allow, deny } from "./steps/ip-filter.ts"
import { lowerConcurrencyBlock } from "./steps/limit-concurrency.ts"
import { metricStatement } from "./steps/metric.ts"
import { parallelStatement } from "./steps/parallel.ts"
import { requireStatement } from "./steps/require.ts"
import { redirect, respondStatement } from "./steps/respond.ts"
import { retryStatement } from "./steps/retry.ts"
import { rewriteStatement } from "./steps/rewrite.ts"
import { send } from "./steps/send-request.ts"
import { use } from "./steps/set-backend.ts"
import { body } from "./steps/set-body.ts"
import { header } from "./steps/set-header.ts"
import { forwardHost } from "./steps/set-host.ts"
import { method } from "./steps/set-method.ts"
import { query } from "./steps/set-query.ts"
import { status } from "./steps/set-status.ts"
import { set } from "./steps/set-variable.ts"
import { traceStatement } from "./steps/trace.ts"
import { whenStatement } from "./steps/when.ts"

/** Lowering of every statement of `inbound` and `outbound`, by keyword. */
export const stepLowerings: Readonly<Record<string, LowerStep>> = {
  authenticate: authenticateStatement.lower,
  allow: allow.lower,
  deny: deny.lower,
  check: checkInOrder.lower,
  concurrency: lowerConcurrencyBlock,
  limit: lowerCountedInOrder,
  quota: lowerCountedInOrder,
  require: requireStatement.lower,
  filter: filterStatement.lower,
  grant: grantStatement.lower,
  revoke: revokeStatement.lower,
  header: header.lower,
  query: query.lower,
  rewrite: rewriteStatement.lower,
  "forward-host": forwardHost.lower,
  body: body("outbound").lower,
  validate: validateAnswer.lower,
  respond: respondStatement.lower,
  when: whenStatement("inbound").lower,
  set: set.lower,
  send: send.lower,
  cache: cache("inbound").lower,
  retry: retryStatement("inbound").lower,
  parallel: parallelStatement("inbound").lower,
  trace: traceStatement.lower,
  metric: metricStatement.lower,
  method: method.lower,
  status: status.lower,
  redirect: redirect.lower,
  use: use.lower,
}
