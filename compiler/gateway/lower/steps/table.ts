import type { LowerStep } from "../step.ts"
import { lowerConcurrencyBlock, lowerIp } from "./access.ts"
import { lowerAuthenticate } from "./authenticate.ts"
import { lowerBody } from "./body.ts"
import { lowerCache } from "./cache.ts"
import { lowerCheckInOrder } from "./check-in-order.ts"
import { lowerMetric, lowerParallel, lowerRetry, lowerSend, lowerSet, lowerTrace } from "./flow.ts"
import { lowerForwardHost } from "./forward-host.ts"
import { lowerHeader } from "./header.ts"
import { lowerQuery } from "./query.ts"
import { lowerCountedInOrder } from "./quota.ts"
import { lowerFilter, lowerGrant, lowerRequire } from "./require.ts"
import { lowerRespond } from "./respond.ts"
import { lowerRewrite } from "./rewrite.ts"
import { lowerMethod, lowerRedirect, lowerStatus, lowerUseBackend } from "./use-backend.ts"
import { lowerValidateAnswer } from "./validate-answer.ts"
import { lowerWhen } from "./when.ts"

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
  header: lowerHeader,
  query: lowerQuery,
  rewrite: lowerRewrite,
  "forward-host": lowerForwardHost,
  body: lowerBody,
  validate: lowerValidateAnswer,
  respond: lowerRespond,
  when: lowerWhen,
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
