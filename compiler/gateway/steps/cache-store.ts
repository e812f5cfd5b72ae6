import type { Flag } from "../../../runtime/plan/step-values.ts"
import { neutral } from "../../analysis/finding.ts"
import { type BoundStatement, headSpan } from "../bind/bound.ts"
import { secondsOf } from "../lower/count.ts"
import type { StatementPlace } from "../lower/place.ts"
import type { Lowered, StepContext } from "../lower/step.ts"
import { countText, secondsText, statement, timeText } from "../print.ts"
import { optional, slot, word } from "../schema/row.ts"
import { foundTime } from "../schema/times.ts"
import type { StatementForm, StepText } from "../step-text.ts"

/** How long responses are kept, and which: `60s when (CEL)`. */
export const storing = [foundTime, optional(word("when"), slot("test", "condition"))] as const

/** `cache store 60s when (CEL)` */
export const storeForm: StatementForm = {
  form: { args: [word("store"), ...storing] },
  lower: (bound, context) => lowerStore(bound, context, context.place),
}

/** The step at a given place. The step of `cache response` runs later than the position of its statement. */
export function lowerStore(
  bound: BoundStatement,
  context: StepContext,
  place: StatementPlace,
): Lowered | undefined {
  const { expressions, steps } = context
  const seconds = secondsOf(bound, context, place)
  const test = bound.args.cel("test")
  const expression = test === undefined ? undefined : expressions.lower(test, place, "bool")
  if (seconds === undefined || (test !== undefined && expression === undefined)) return undefined
  const condition = expression === undefined ? {} : { storeIf: { expression } }
  return steps.add({ kind: "cache-store", seconds, ...condition }, headSpan(bound.statement))
}

/** Printing and comparison of a step that stores the response in the cache. */
export const cacheStore: StepText<"cache-store"> = {
  print: ({ seconds, storeIf }) => {
    const test = storeIf === undefined ? "" : ` when ${conditionText(storeIf)}`
    return statement(`cache store ${timeText(seconds)}${test}`)
  },
  identities: () => ["cache-store"],
  added: ({ seconds }) => neutral(`responses are cached for ${secondsText(seconds)}`),
  removed: () => neutral("responses are no longer cached"),
  changed: {
    seconds: (before, after) =>
      neutral(`responses are cached for ${countText(after)}s instead of ${countText(before)}s`),
    storeIf: () => neutral("other responses are cached"),
  },
}

function conditionText(flag: Flag): string {
  return typeof flag === "object" ? countText(flag) : `(${flag})`
}
