import { type StatementRow, slot } from "./row.ts"

/** What happens to messages that do not fit. */
export const action = slot("action", "choice", { choices: ["prevent", "detect", "ignore"] })

/** In the blocks of statements that judge messages. */
export const errors: StatementRow = {
  keyword: "errors",
  forms: [{ args: [slot("variable", "value-name")] }],
  byDefault: "no variable",
  docs: 'The variable that gets the list of all that was found: of each `["in"]`, `.pointer` and `.message`; it is not there where nothing was: `has(var.found)`.',
  example: "errors found",
}
