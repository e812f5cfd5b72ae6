import { neutral } from "../../analysis/finding.ts"
import { callersDecide } from "../../analysis/text-findings.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { textAt } from "../lower/text-or-expression.ts"
import { statement } from "../print.ts"
import { slot, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"

/** `cache remove "key"` */
export const removeForm: StatementForm = {
  form: { args: [word("remove"), slot("key", "text")] },
  lower: (bound, context) => {
    const key = textAt(bound, "key", context)
    return key === undefined
      ? undefined
      : context.steps.add({ kind: "cache-remove", key }, headSpan(bound.statement))
  },
}

/** Printing and comparison of a step that removes a value from the cache. */
export const cacheRemove: StepText<"cache-remove"> = {
  print: ({ key }) => statement(`cache remove ${textWords(key)}`),
  identities: () => ["cache-remove"],
  added: () => neutral("a value is removed from the cache"),
  removed: () => neutral("a value is no longer removed from the cache"),
  changed: {
    key: (before, after) => [neutral("the value of another key is removed"), ...callersDecide(before, after)],
  },
}
