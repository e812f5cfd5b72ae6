import { type StatementRow, slot } from "./row.ts"

const failureStatus = { min: 400, max: 599 }

/** The status of a refusal, if its block can set another one. */
export function refusalStatus(byDefault: string, docs: string, keyword = "status"): StatementRow {
  return {
    keyword,
    forms: [{ args: [slot("status", "status", failureStatus)] }],
    byDefault,
    docs,
    example: `${keyword} ${byDefault}`,
  }
}

/** The message of a refusal. */
export const refusalMessage: StatementRow = {
  keyword: "message",
  forms: [{ args: [slot("message", "text")] }],
  byDefault: "the standard text of the problem",
  docs: "The `detail` of the response to a refused request.",
  example: 'message "This API needs a token of Acme."',
}
