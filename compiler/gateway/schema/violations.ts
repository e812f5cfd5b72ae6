import { type StatementRow, slot } from "./row.ts"

/** The action for invalid messages. */
export const action = slot("action", "choice", { choices: ["prevent", "detect", "ignore"] })

/** In the blocks of validation statements. */
export const errors: StatementRow = {
  keyword: "errors",
  forms: [{ args: [slot("variable", "value-name")] }],
  byDefault: "no variable",
  docs: 'The variable for the list of errors; each has `["in"]`, `.pointer` and `.message`. Without errors it is not set: test it with `has(var.found)`.',
  example: "errors found",
}
