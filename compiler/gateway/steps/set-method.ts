import { opens } from "../../analysis/finding.ts"
import { otherResource } from "../../analysis/message-rules.ts"
import { callersDecide, fromCaller } from "../../analysis/text-findings.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { statement } from "../print.ts"
import { slot } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

/** `method "PUT"` */
export const method: StatementDefinition = {
  row: {
    keyword: "method",
    several: true,
    forms: [{ args: [slot("method", "text", { label: '"METHOD"' })] }],
    docs: "The method of the request to the backend.",
    example: 'method "PUT"',
  },
  lower: (bound, { texts, place, steps, report }) => {
    const argument = bound.args.text("method")
    const method = argument === undefined ? undefined : texts.lower(argument, place)
    if (argument === undefined || method === undefined) return undefined
    if (typeof method === "string" && !/^(?!CONNECT$|TRACE$)[A-Z][A-Z0-9_-]{0,31}$/.test(method)) {
      report.add(
        "SP2030",
        argument.span,
        `\`${method.slice(0, 40)}\` is not a method that can be sent to a backend`,
        {
          help: "Write a method in capital letters, e.g. `PUT`.",
        },
      )
      return undefined
    }
    return steps.add({ kind: "set-method", method }, headSpan(bound.statement))
  },
}

/** Printing and comparison of a step that changes the method of the request to the backend. */
export const setMethod: StepText<"set-method"> = {
  print: ({ method }) => statement(`method ${textWords(method)}`),
  identities: () => ["set-method"],
  added: ({ method }) => [
    otherResource("requests reach the backend with another method"),
    ...(fromCaller(method) ? [opens("callers choose the method of the request to the backend")] : []),
  ],
  removed: () => otherResource("requests reach the backend with their own method"),
  changed: {
    method: (before, after) => [
      otherResource("requests reach the backend with another method"),
      ...callersDecide(before, after),
    ],
  },
}
