import { lowerCountedInOrder } from "./lower/limits.ts"
import type { LowerStep } from "./lower/step.ts"
import { lowerAuthenticate } from "./steps/authenticate.ts"
import { lowerCache } from "./steps/cache.ts"
import { checkInOrder } from "./steps/check-header.ts"
import { filterStatement } from "./steps/filter.ts"
import { lowerMetric, lowerSend, lowerTrace } from "./steps/flow.ts"
import { grantStatement, revokeStatement } from "./steps/grant.ts"
import { allow, deny } from "./steps/ip-filter.ts"
import { lowerConcurrencyBlock } from "./steps/limit-concurrency.ts"
import { parallelStatement } from "./steps/parallel.ts"
import { requireStatement } from "./steps/require.ts"
import { redirect, respondStatement } from "./steps/respond.ts"
import { retryStatement } from "./steps/retry.ts"
import { rewriteStatement } from "./steps/rewrite.ts"
import { body } from "./steps/set-body.ts"
import { header } from "./steps/set-header.ts"
import { forwardHost } from "./steps/set-host.ts"
import { method } from "./steps/set-method.ts"
import { query } from "./steps/set-query.ts"
import { status } from "./steps/set-status.ts"
import { set } from "./steps/set-variable.ts"
import { lowerUseBackend } from "./steps/use-backend.ts"
import { lowerValidateAnswer } from "./steps/validate-answer.ts"
import { whenStatement } from "./steps/when.ts"

/** Lowering of every statement of `inbound` and `outbound`, by keyword. */
export const stepLowerings: Readonly<Record<string, LowerStep>> = {
  authenticate: lowerAuthenticate,
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
  validate: lowerValidateAnswer,
  respond: respondStatement.lower,
  when: whenStatement("inbound").lower,
  set: set.lower,
  send: lowerSend,
  cache: lowerCache,
  retry: retryStatement("inbound").lower,
  parallel: parallelStatement("inbound").lower,
  trace: lowerTrace,
  metric: lowerMetric,
  method: method.lower,
  status: status.lower,
  redirect: redirect.lower,
  use: lowerUseBackend,
}
