import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { neutral } from "../../analysis/finding.ts"
import { same } from "../../analysis/same.ts"
import { callersDecide } from "../../analysis/text-findings.ts"
import { variableDiffers } from "../../analysis/variable-readers.ts"
import { headSpan } from "../bind/bound.ts"
import { textOrExpression as lowerValue } from "../lower/text-or-expression.ts"
import { statement, textOrExpressionText } from "../print.ts"
import { textOrExpression } from "../schema/content.ts"
import { slot } from "../schema/row.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

type Value = StepOf<"set-variable">["value"]

/** `set NAME (CEL)` or `set NAME "text"` */
export const set: StatementDefinition = {
  row: {
    keyword: "set",
    several: true,
    forms: [{ args: [slot("variable", "value-name", { label: "NAME" }), textOrExpression] }],
    docs: "Sets a variable for the statements after it: `var.NAME`.",
    example: "set tenant (request.body.tenant)",
  },
  lower: (bound, context) => {
    const name = bound.args.value<string>("variable")
    const value = lowerValue(bound, context)
    if (name === undefined || value === undefined) return undefined
    const type = typeof value === "object" && "expression" in value ? value.expression.type : "string"
    const lowered = context.steps.add({ kind: "set-variable", name, value }, headSpan(bound.statement))
    return { ...lowered, declares: { [name]: type } }
  },
}

/** Printing and comparison of a step that sets a variable. */
export const setVariable: StepText<"set-variable"> = {
  print: ({ name, value }) => statement(`set ${name} ${textOrExpressionText(value)}`),
  identities: ({ name }) => [`set ${name}`],
  added: ({ name }, { steps }) =>
    variableDiffers(`the statements after it can read \`${name}\``, name, steps),
  removed: ({ name }, { steps }) =>
    variableDiffers(`the statements after it no longer get \`${name}\` from here`, name, steps),
  changed: (before, after, plans) => {
    const [old, { name, value }] = [before, after]
    const callers = callersDecide(asText(old.value), asText(value))
    if (old.name === name)
      return [variableDiffers(`\`${name}\` has another value`, name, plans.after.steps), ...callers]
    return [
      neutral(`the statements after it can read \`${name}\` instead of \`${old.name}\``),
      ...(same(old.value, value) ? [] : [neutral(`\`${name}\` has another value`), ...callers]),
    ]
  },
}

function asText(value: Value): Text {
  return typeof value === "object" && "expression" in value ? { text: [value] } : value
}
