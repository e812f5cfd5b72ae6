import { neutral } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { secondsOf } from "../lower/count.ts"
import { textAt, textOrExpression as valueAt } from "../lower/text-or-expression.ts"
import { countText, statement, textOrExpressionText, timeText } from "../print.ts"
import { textOrExpression } from "../schema/content.ts"
import { slot, word } from "../schema/row.ts"
import { foundTime } from "../schema/times.ts"
import type { StatementForm, StepText } from "../step-text.ts"

/** `cache set "key" (CEL) for 1m` */
export const setForm: StatementForm = {
  form: { args: [word("set"), slot("key", "text"), textOrExpression, word("for"), foundTime] },
  lower: (bound, context) => {
    const key = textAt(bound, "key", context)
    if (key === undefined) return undefined
    const seconds = secondsOf(bound, context)
    const value = valueAt(bound, context)
    return value === undefined || seconds === undefined
      ? undefined
      : context.steps.add({ kind: "cache-set", key, value, seconds }, headSpan(bound.statement))
  },
}

/** Printing and comparison of a step that stores a value in the cache. */
export const cacheSet: StepText<"cache-set"> = {
  print: ({ key, value, seconds }) =>
    statement(`cache set ${textWords(key)} ${textOrExpressionText(value)} for ${timeText(seconds)}`),
  identities: () => ["cache-set"],
  added: () => neutral("a value is stored in the cache"),
  removed: () => neutral("a value is no longer stored in the cache"),
  changed: {
    key: () => neutral("the value is stored under another key"),
    value: () => neutral("another value is stored in the cache"),
    seconds: (before, after) =>
      neutral(`the value is kept for ${countText(after)}s instead of ${countText(before)}s`),
  },
}
