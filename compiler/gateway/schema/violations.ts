import { type StatementRow, slot } from "./row.ts"

/** The action for invalid messages. */
export const action = slot("action", "choice", { choices: ["prevent", "detect", "ignore"] })

/** In the blocks of validation statements. */
export const errors: StatementRow = {
  keyword: "errors",
  forms: [{ args: [slot("variable", "value-name")] }],
  byDefault: "no variable",
  docs: 'The variable that gets the list of all that was found: of each `["in"]`, `.pointer` and `.message`; it is not there where nothing was: `has(var.found)`.',
  example: "errors found",
}
