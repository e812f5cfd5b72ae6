import { neutral } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { secondsOf } from "../lower/count.ts"
import { idsOf } from "../lower/step.ts"
import { textAt } from "../lower/text-or-expression.ts"
import { secondsText, statement, timeText } from "../print.ts"
import type { BlockName } from "../schema/block-name.ts"
import { slot, word } from "../schema/row.ts"
import { foundTime } from "../schema/times.ts"
import { always, lacking, type StatementForm, type StepText } from "../step-text.ts"
import { cachedValueRules } from "./cache-get.ts"

/** `cache value NAME "key" for 1m { … }`, with a block of the given kind. */
export const valueForm = (block: BlockName): StatementForm => ({
  form: {
    args: [
      word("value"),
      slot("variable", "value-name", { label: "NAME" }),
      slot("key", "text"),
      word("for"),
      foundTime,
    ],
    block,
    blockRequired: true,
  },
  lower: (bound, context) => {
    const key = textAt(bound, "key", context)
    if (key === undefined) return undefined
    const seconds = secondsOf(bound, context)
    if (seconds === undefined) return undefined
    const variable = bound.args.value<string>("variable") ?? ""
    const inside = context.block(bound.block, context.place)
    const step = { kind: "cache-value" as const, key, variable, seconds, steps: idsOf(inside) }
    const lowered = context.steps.add(step, headSpan(bound.statement), { steps: inside })
    return { ...lowered, declares: { [variable]: "dyn" } }
  },
})

/** Printing and comparison of a step that reads a value from the cache, or computes it on a miss. */
export const cacheValue: StepText<"cache-value"> = {
  print: ({ variable, key, seconds, refreshAfterSeconds, default: otherwise, steps }, printing) => {
    if (otherwise !== undefined || refreshAfterSeconds !== undefined)
      printing.lacks("a value that is computed again before it expires, or has a default")
    return statement(
      `cache value ${variable} ${textWords(key)} for ${timeText(seconds)}`,
      printing.inside(steps),
    )
  },
  identities: ({ variable }) => [`cache-value ${variable}`, "cache-value"],
  added: (step, effects) => effects.inside(step),
  removed: (step, effects) => effects.inside(step),
  changed: {
    ...cachedValueRules,
    seconds: (before, after) =>
      neutral(`the value is kept for ${secondsText(after)} instead of ${secondsText(before)}`),
    refreshAfterSeconds: (_, after) =>
      neutral(
        after === undefined
          ? "the value is computed again only after it has expired"
          : `after ${secondsText(after)}, the value is computed again while the old one stays in use`,
      ),
    // Reported with the inner steps.
    steps: () => [],
  },
  block: {
    place: ({ variable }) => `cache value ${variable}`,
    wrapping: (_, removed) => lacking("it now runs only on a cache miss; when it does not run", removed),
    unwrapping: (_, added) => always("it now runs on a cache hit too", added),
  },
}
