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

/** Statements of every block that runs. */
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
  docs: "What happens to the answer when something broke, in this order: `error` says what, `response` is the answer as it would go out. Requests that no route serves are answered without it.",
  example: 'on-error { header set "X-Reason" "${error.reason}" }',
}
