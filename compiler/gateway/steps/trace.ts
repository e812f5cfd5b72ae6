import type { StepOf } from "../../../runtime/plan/steps.ts"
import { neutral } from "../../analysis/finding.ts"
import { secretsIn } from "../../analysis/text-findings.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { messageAt } from "../lower/header.ts"
import { textAt } from "../lower/text-or-expression.ts"
import { statement } from "../print.ts"
import { optional, slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

/** `trace "message" as error` */
export const traceStatement: StatementDefinition = {
  row: {
    keyword: "trace",
    several: true,
    forms: [
      {
        args: [
          slot("message", "text"),
          optional(word("as"), slot("severity", "choice", { choices: ["verbose", "information", "error"] })),
        ],
      },
    ],
    docs: "Writes a line to the log.",
    example: 'trace "no stock for ${path.id}" as error',
  },
  lower: (bound, context) => {
    const message = textAt(bound, "message", context)
    if (message === undefined) return undefined
    const { place, steps } = context
    const severity = bound.args.value<StepOf<"trace">["severity"]>("severity") ?? "information"
    const source = messageAt(place)
    return steps.add({ kind: "trace", source, severity, message, metadata: [] }, headSpan(bound.statement))
  },
}

/** Printing and comparison of a step that writes a line to the log. */
export const trace: StepText<"trace"> = {
  print: ({ message, severity, metadata }, printing) => {
    if (metadata.length > 0) printing.lacks("a line of the log with further data")
    return statement(`trace ${textWords(message)}${severity === "information" ? "" : ` as ${severity}`}`)
  },
  identities: () => ["trace"],
  added: ({ message, metadata }) => [
    neutral("a line is written to the log"),
    ...secretsIn([message, metadata]),
  ],
  removed: () => neutral("a line is no longer written to the log"),
  changed: {
    source: () => neutral("another line is written to the log"),
    severity: (_, after) => neutral(`the line now has the severity \`${after}\``),
    message: (before, after) => [neutral("another line is written to the log"), ...secretsIn(after, before)],
    metadata: (before, after) => [neutral("another line is written to the log"), ...secretsIn(after, before)],
  },
}
