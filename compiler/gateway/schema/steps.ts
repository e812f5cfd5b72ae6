import { authenticateStatement } from "../steps/authenticate.ts"
import { checkInOrder } from "../steps/check-header.ts"
import { filterStatement } from "../steps/filter.ts"
import { grantStatement, revokeStatement } from "../steps/grant.ts"
import { allow, deny } from "../steps/ip-filter.ts"
import { concurrencyBlock } from "../steps/limit-concurrency.ts"
import { quota } from "../steps/quota.ts"
import { limit } from "../steps/rate-limit.ts"
import { requireStatement } from "../steps/require.ts"
import { bodyRow, headerRow, redirect, respondStatement } from "../steps/respond.ts"
import { rewriteStatement } from "../steps/rewrite.ts"
import { use } from "../steps/set-backend.ts"
import { body } from "../steps/set-body.ts"
import { header } from "../steps/set-header.ts"
import { forwardHost } from "../steps/set-host.ts"
import { method } from "../steps/set-method.ts"
import { query } from "../steps/set-query.ts"
import { status } from "../steps/set-status.ts"
import { whenStatement } from "../steps/when.ts"
import { flowRows } from "./flow.ts"
import type { StatementRow } from "./row.ts"
import { validateAnswer, validateContentInOrder } from "./validation.ts"

export const inboundRows: readonly StatementRow[] = [
  allow.row,
  deny.row,
  checkInOrder.row,
  limit,
  quota,
  concurrencyBlock,
  requireStatement.row,
  validateContentInOrder,
  header.row,
  query.row,
  rewriteStatement.row,
  forwardHost.row,
  authenticateStatement.row,
  body("inbound").row,
  method.row,
  use.row,
  respondStatement.row,
  redirect.row,
  whenStatement("inbound").row,
  ...flowRows("inbound"),
]

export const outboundRows: readonly StatementRow[] = [
  filterStatement.row,
  grantStatement.row,
  revokeStatement.row,
  validateAnswer.row,
  header.row,
  status.row,
  body("outbound").row,
  respondStatement.row,
  redirect.row,
  whenStatement("outbound").row,
  ...flowRows("outbound"),
]

export const onErrorRows: readonly StatementRow[] = [
  validateAnswer.row,
  header.row,
  status.row,
  body("on-error").row,
  respondStatement.row,
  redirect.row,
  whenStatement("on-error").row,
  ...flowRows("on-error"),
]

export const respondRows: readonly StatementRow[] = [bodyRow, headerRow]

/** `respond` in an operation is short for `inbound { respond … }`. */
export const operationRespond: StatementRow = { ...respondStatement.row, several: false }
