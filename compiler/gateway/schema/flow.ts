import type { StatementDefinition } from "../step-text.ts"
import { metricStatement } from "../steps/metric.ts"
import { parallelStatement } from "../steps/parallel.ts"
import { retryStatement } from "../steps/retry.ts"
import { send } from "../steps/send-request.ts"
import { set } from "../steps/set-variable.ts"
import { traceStatement } from "../steps/trace.ts"
import type { StepBlock } from "./block-name.ts"
import { cache } from "./cache.ts"
import type { StatementRow } from "./row.ts"

/** Statements of all blocks whose statements become steps. */
export function flowStatements(block: StepBlock): readonly StatementDefinition[] {
  return [
    set,
    send,
    cache(block),
    retryStatement(block),
    parallelStatement(block),
    traceStatement,
    metricStatement,
  ]
}

export const onError: StatementRow = {
  keyword: "on-error",
  several: true,
  forms: [{ args: [], block: "on-error", blockRequired: true }],
  docs: "Statements for the error response when a step or the backend failed. `error` says what failed, `response` is the response as it would be sent. They do not run for requests that match no route.",
  example: 'on-error { header set "X-Reason" "${error.reason}" }',
}
