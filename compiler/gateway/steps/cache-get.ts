import type { StepOf } from "../../../runtime/plan/steps.ts"
import { type FieldRules, neutral, opens } from "../../analysis/finding.ts"
import { callersDecide } from "../../analysis/text-findings.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { textAt, textOrExpression as valueAt } from "../lower/text-or-expression.ts"
import { statement, textOrExpressionText } from "../print.ts"
import { textOrExpression } from "../schema/content.ts"
import { optional, slot, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"

/** `cache get NAME "key" default (CEL)` */
export const getForm: StatementForm = {
  form: {
    args: [
      word("get"),
      slot("variable", "value-name", { label: "NAME" }),
      slot("key", "text"),
      optional(word("default"), textOrExpression),
    ],
  },
  lower: (bound, context) => {
    const { args, statement } = bound
    const key = textAt(bound, "key", context)
    if (key === undefined) return undefined
    const hasDefault = args.cel("expression") !== undefined || args.text("value") !== undefined
    const value = valueAt(bound, context)
    if (hasDefault && value === undefined) return undefined
    const variable = args.value<string>("variable") ?? ""
    const otherwise = value === undefined ? {} : { default: value }
    const step = { kind: "cache-get" as const, key, variable, ...otherwise }
    return { ...context.steps.add(step, headSpan(statement)), declares: { [variable]: "dyn" } }
  },
}

/** What differences mean in the fields of steps that read a value from the cache. */
export const cachedValueRules: FieldRules<Omit<StepOf<"cache-get">, "kind">> = {
  // Callers with the same key share the cached value.
  key: (before, after) => {
    const shared = typeof before !== "string" && typeof after === "string"
    return [
      shared
        ? opens("requests with different keys now share one value")
        : neutral("the value is read with another key"),
      ...callersDecide(before, after),
    ]
  },
  variable: (before, after) => neutral(`the value is stored in \`${after}\` instead of \`${before}\``),
  default: (_, after) =>
    neutral(
      after === undefined
        ? "on a cache miss, the variable is null"
        : "on a cache miss, the variable gets another value",
    ),
}

/** Printing and comparison of a step that reads a value from the cache. */
export const cacheGet: StepText<"cache-get"> = {
  print: ({ variable, key, default: otherwise }) =>
    statement(
      `cache get ${variable} ${textWords(key)}${otherwise === undefined ? "" : ` default ${textOrExpressionText(otherwise)}`}`,
    ),
  identities: ({ variable }) => [`cache-get ${variable}`, "cache-get"],
  added: () => neutral("a value is read from the cache"),
  removed: () => neutral("a value is no longer read from the cache"),
  changed: cachedValueRules,
}
