import { compareTests } from "../../../runtime/expression/same-outcome.ts"
import type { Count } from "../../../runtime/plan/step-values.ts"
import { neutral } from "../../analysis/finding.ts"
import { headSpan } from "../bind/bound.ts"
import { idsOf } from "../lower/step.ts"
import { countText, fixedText, fixedTime, flagText, statement, timeText } from "../print.ts"
import type { StepBlock } from "../schema/block-name.ts"
import { optional, slot, word } from "../schema/row.ts"
import { stepTime } from "../schema/times.ts"
import type { StatementDefinition, StepText } from "../step-text.ts"

/**
 * `retry N while (CEL) every 1s plus 1s at-most 10s { … }`, with a block of the given kind. The condition can read variables that the block
 * sets.
 */
export const retryStatement = (block: StepBlock): StatementDefinition => ({
  row: {
    keyword: "retry",
    several: true,
    forms: [
      {
        args: [
          slot("times", "count", { min: 1, max: 50 }),
          word("while"),
          slot("test", "condition"),
          optional(word("every"), slot("interval", "duration", { ...stepTime, min: 0 })),
          optional(word("plus"), slot("growth", "duration", stepTime)),
          optional(word("at-most"), slot("longest", "duration", stepTime)),
        ],
        block,
        blockRequired: true,
      },
    ],
    docs: "Runs its statements, and repeats them at most N times while the condition is true. `plus` makes each wait longer. With `at-most` each wait doubles up to that maximum, with random jitter.",
    example: 'retry 3 while (var.reply.status >= 500) every 1s { send reply { url "https://x.internal/" } }',
  },
  lower: (bound, context) => {
    const { args } = bound
    const times = args.value<number>("times")
    const condition = args.cel("test")
    const inside = context.block(bound.block, context.place)
    // An empty block would repeat nothing, and only wait.
    if (times === undefined || condition === undefined || inside.length === 0) return undefined
    // `behind`: the condition runs after the block, so it may read variables that the block sets.
    const test = context.expressions.lower(condition, context.behind(inside), "bool")
    if (test === undefined) return undefined
    const inSeconds = (slot: string) => {
      const ms = args.value<number>(slot)
      return ms === undefined ? undefined : ms / 1000
    }
    const [growth, longest] = [inSeconds("growth"), inSeconds("longest")]
    const step = {
      kind: "retry" as const,
      test,
      times,
      intervalSeconds: inSeconds("interval") ?? 0,
      ...(longest === undefined ? {} : { maxSeconds: longest }),
      ...(growth === undefined ? {} : { deltaSeconds: growth }),
      // Only policy documents can repeat without a first wait.
      fastFirst: false,
      steps: idsOf(inside),
    }
    return context.steps.add(step, headSpan(bound.statement), { steps: inside })
  },
})

/** Printing and comparison of a step that runs its block again. */
export const retry: StepText<"retry"> = {
  print: ({ test, times, intervalSeconds, deltaSeconds, maxSeconds, fastFirst, steps }, printing) => {
    // The language has no such keyword. It only shows that the step has this setting.
    const fast = flagText(fastFirst, "first-fast-retry", printing)
    if (fastFirst === true) printing.lacks("a first repetition without a wait")
    const time = (word: string, seconds: Count | undefined) =>
      seconds === undefined ? [] : [`${word} ${fixedTime(seconds, "a time", printing)}`]
    const head = [
      `retry ${fixedText(times, "a number", printing)} while (${test.text})`,
      ...time("every", intervalSeconds === 0 ? undefined : intervalSeconds),
      ...time("plus", deltaSeconds),
      ...time("at-most", maxSeconds),
      ...(fast === false ? [] : [fast]),
    ]
    return statement(head.join(" "), printing.inside(steps))
  },
  identities: ({ steps }) => [`retry ${steps.join()}`, "retry"],
  added: (step, effects) => effects.inside(step),
  removed: (step, effects) => effects.inside(step),
  changed: {
    test: (before, after) =>
      // Neutral whatever the condition: the statements inside decide who gets in, and they are compared on their own.
      neutral(
        compareTests(before.text, after.text) === "same"
          ? "the condition for repetition is written differently but means the same"
          : "the statements inside are repeated under another condition",
      ),
    times: (before, after) => {
      const words = `the statements inside run at most ${countText(after)} times instead of ${countText(before)}`
      const isMore = typeof before === "number" && typeof after === "number" && after > before
      return neutral(isMore ? `${words}: a backend that fails gets more calls` : words)
    },
    intervalSeconds: (before, after) =>
      neutral(`the wait before a repetition is ${timeText(after)} instead of ${timeText(before)}`),
    maxSeconds: (_, after) =>
      neutral(
        after === undefined ? "the wait has no maximum any more" : `the wait is at most ${timeText(after)}`,
      ),
    deltaSeconds: (_, after) =>
      neutral(
        after === undefined
          ? "the wait no longer grows by a fixed time"
          : `the wait grows by ${timeText(after)} each time`,
      ),
    fastFirst: (_, after) =>
      neutral(after === false ? "the first repetition waits too" : "the first repetition does not wait"),
    // Reported with the inner steps.
    steps: () => [],
  },
  block: {
    place: ({ test }) => `retry while (${test.text})`,
    wrapping: () => [neutral("it is now repeated while the condition is true")],
    unwrapping: () => [neutral("it is no longer repeated")],
  },
}
