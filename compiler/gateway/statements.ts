import { lowerCountedInOrder } from "./lower/limits.ts"
import type { LowerStep } from "./lower/step.ts"
import { lowerIp } from "./steps/access.ts"
import { lowerAuthenticate } from "./steps/authenticate.ts"
import { lowerBody } from "./steps/body.ts"
import { lowerCache } from "./steps/cache.ts"
import { lowerCheckInOrder } from "./steps/check-in-order.ts"
import { lowerMetric, lowerParallel, lowerRetry, lowerSend, lowerSet, lowerTrace } from "./steps/flow.ts"
import { lowerForwardHost } from "./steps/forward-host.ts"
import { lowerConcurrencyBlock } from "./steps/limit-concurrency.ts"
import { lowerQuery } from "./steps/query.ts"
import { lowerFilter, lowerGrant, lowerRequire } from "./steps/require.ts"
import { lowerRespond } from "./steps/respond.ts"
import { lowerRewrite } from "./steps/rewrite.ts"
import { header } from "./steps/set-header.ts"
import { lowerMethod, lowerRedirect, lowerStatus, lowerUseBackend } from "./steps/use-backend.ts"
import { lowerValidateAnswer } from "./steps/validate-answer.ts"
import { whenStatement } from "./steps/when.ts"

/** Lowering of every statement of `inbound` and `outbound`, by keyword. */
export const stepLowerings: Readonly<Record<string, LowerStep>> = {
  authenticate: lowerAuthenticate,
  allow: lowerIp,
  deny: lowerIp,
  check: lowerCheckInOrder,
  concurrency: lowerConcurrencyBlock,
  limit: lowerCountedInOrder,
  quota: lowerCountedInOrder,
  require: lowerRequire,
  filter: lowerFilter,
  grant: lowerGrant,
  revoke: lowerGrant,
  header: header.lower,
  query: lowerQuery,
  rewrite: lowerRewrite,
  "forward-host": lowerForwardHost,
  body: lowerBody,
  validate: lowerValidateAnswer,
  respond: lowerRespond,
  when: whenStatement("inbound").lower,
  set: lowerSet,
  send: lowerSend,
  cache: lowerCache,
  retry: lowerRetry,
  parallel: lowerParallel,
  trace: lowerTrace,
  metric: lowerMetric,
  method: lowerMethod,
  status: lowerStatus,
  redirect: lowerRedirect,
  use: lowerUseBackend,
}
