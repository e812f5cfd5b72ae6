import type { TokenKind } from "../../../runtime/plan/step-values.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { neutral } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan, statementsOf } from "../bind/bound.ts"
import { statement } from "../print.ts"
import { optional, type StatementRow, slot, word } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

const variable = slot("variable", "value-name", { label: "NAME" })

/** `metric NAME (CEL) { label NAME "text" }`, `metric NAME tokens total { … }` */
export const metricStatement: StatementDefinition = {
  row: {
    keyword: "metric",
    several: true,
    forms: [
      {
        args: [
          variable,
          word("tokens"),
          slot("tokens", "choice", { choices: ["prompt", "completion", "total"] }),
        ],
        block: "metric",
      },
      { args: [variable, optional(slot("amount", "expression"))], block: "metric" },
    ],
    docs: "Adds to the counter `author_NAME_total` on /metrics, by 1 or by the value of an expression, or by the tokens that a language model reports for the call.",
    example: 'metric orders_placed { label tenant "${request.header("X-Tenant")}" }',
  },
  lower: (bound, { texts, expressions, place, steps }) => {
    const name = bound.args.value<string>("variable")
    const cel = bound.args.cel("amount")
    const expression = cel === undefined ? undefined : expressions.lower(cel, place)
    if (name === undefined || (cel !== undefined && expression === undefined)) return undefined
    const labels: { name: string; value: Text }[] = []
    for (const each of statementsOf(bound.block, "label")) {
      const label = each.args.value<string>("variable")
      const argument = each.args.text("value")
      const value = argument === undefined ? undefined : texts.lower(argument, place)
      if (label === undefined || value === undefined) return undefined
      labels.push({ name: label, value })
    }
    const tokens = bound.args.value<TokenKind>("tokens")
    const value = tokens !== undefined ? { tokens } : expression === undefined ? 1 : { expression }
    return steps.add({ kind: "metric", name, value, labels }, headSpan(bound.statement))
  },
}

/** Statements in its block. */
export const metricRows: readonly StatementRow[] = [
  {
    keyword: "label",
    several: 20,
    forms: [{ args: [variable, slot("value", "text")] }],
    docs: "A label of the counter; after 2,000 combinations the rest counts as `other`.",
    example: 'label tenant "${request.header("X-Tenant")}"',
  },
]

/** Printing and comparison of a step that increments a metric. */
export const metric: StepText<"metric"> = {
  print: ({ name, value, labels }, printing) => {
    if (labels.some((label) => label.value === undefined)) printing.lacks("a label without a value")
    return statement(
      `metric ${name}${amountText(value)}`,
      labels.map((label) => `label ${label.name} ${textWords(label.value ?? "")}`),
    )
  },
  identities: ({ name }) => [`metric ${name}`],
  added: ({ name }) => neutral(`the counter \`${name}\` counts these requests`),
  removed: ({ name }) => neutral(`the counter \`${name}\` no longer counts these requests`),
  changed: {
    name: (_, after) => neutral(`it is counted as \`${after}\``),
    value: () => neutral("each request adds another amount to the counter"),
    labels: () => neutral("the metric has other labels"),
  },
}

function amountText(value: StepOf<"metric">["value"]): string {
  if (typeof value === "number") return value === 1 ? "" : ` (${value})`
  return "tokens" in value ? ` tokens ${value.tokens}` : ` (${value.expression.text})`
}
