import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { count, flag } from "../step-values.ts"
import { expression, stepId } from "../text.ts"

/**
 * Runs `steps`, and again while `test` holds, at most `times` more times. Waits `intervalSeconds` between, growing by `deltaSeconds` (linear), or doubling with jitter
 * up to `maxSeconds` when that is there too. Without steps it only waits. With `fastFirst` the first repetition does not wait. A request body is kept for the repetitions.
 */
export const retry = defineStep(
  "retry",
  { role: "change", rehearsed: "assume", holds: "blocks" },
  {
    test: expression,
    times: count,
    intervalSeconds: count,
    maxSeconds: count.optional(),
    deltaSeconds: count.optional(),
    fastFirst: flag,
    steps: z.array(stepId).max(1000),
  },
  () => ({ waits: true, repeats: "again" }),
)
