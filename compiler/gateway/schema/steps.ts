import { lowerCountedInOrder } from "../lower/limits.ts"
import type { LowerStep } from "../lower/step.ts"
import type { StatementDefinition } from "../step-text.ts"
import { authenticateStatement } from "../steps/authenticate.ts"
import { checkInOrder } from "../steps/check-header.ts"
import { filterStatement } from "../steps/filter.ts"
import { grantStatement, revokeStatement } from "../steps/grant.ts"
import { allow, deny } from "../steps/ip-filter.ts"
import { concurrencyBlock } from "../steps/limit-concurrency.ts"
import { mirrorStatement } from "../steps/mirror.ts"
import { quota } from "../steps/quota.ts"
import { limit } from "../steps/rate-limit.ts"
import { requireStatement } from "../steps/require.ts"
import { bodyRow, headerRow, redirect, respondStatement } from "../steps/respond.ts"
import { rewriteStatement } from "../steps/rewrite.ts"
import { chooseBackend } from "../steps/set-backend.ts"
import { body } from "../steps/set-body.ts"
import { header } from "../steps/set-header.ts"
import { forwardHost } from "../steps/set-host.ts"
import { method } from "../steps/set-method.ts"
import { query } from "../steps/set-query.ts"
import { status } from "../steps/set-status.ts"
import { whenStatement } from "../steps/when.ts"
import { flowStatements } from "./flow.ts"
import type { StatementRow } from "./row.ts"
import { validateAnswer, validateContentInOrder } from "./validation.ts"

/** Statements of `inbound`. */
const inbound: readonly StatementDefinition[] = [
  allow,
  deny,
  checkInOrder,
  { row: limit, lower: lowerCountedInOrder },
  { row: quota, lower: lowerCountedInOrder },
  concurrencyBlock,
  requireStatement,
  validateContentInOrder,
  header,
  query,
  rewriteStatement,
  forwardHost,
  authenticateStatement,
  body("inbound"),
  method,
  chooseBackend,
  mirrorStatement,
  respondStatement,
  redirect,
  whenStatement("inbound"),
  ...flowStatements("inbound"),
]

/** Statements of `outbound`. */
const outbound: readonly StatementDefinition[] = [
  filterStatement,
  grantStatement,
  revokeStatement,
  validateAnswer,
  header,
  status,
  body("outbound"),
  respondStatement,
  redirect,
  whenStatement("outbound"),
  ...flowStatements("outbound"),
]

/** Statements of `on-error`. */
const onError: readonly StatementDefinition[] = [
  validateAnswer,
  header,
  status,
  body("on-error"),
  respondStatement,
  redirect,
  whenStatement("on-error"),
  ...flowStatements("on-error"),
]

export const inboundRows: readonly StatementRow[] = inbound.map(({ row }) => row)

export const outboundRows: readonly StatementRow[] = outbound.map(({ row }) => row)

export const onErrorRows: readonly StatementRow[] = onError.map(({ row }) => row)

/** Lowering of every statement of the three sections, by keyword. A keyword is lowered in the same way everywhere. */
export const stepLowerings: Readonly<Record<string, LowerStep>> = Object.fromEntries(
  [...onError, ...outbound, ...inbound].map(({ row, lower }) => [row.keyword, lower]),
)

export const respondRows: readonly StatementRow[] = [bodyRow, headerRow]

/** `respond` in an operation is short for `inbound { respond … }`. */
export const operationRespond: StatementRow = { ...respondStatement.row, several: false }
