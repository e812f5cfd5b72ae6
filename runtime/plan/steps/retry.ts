import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { count, flag } from "../step-values.ts"
import { expression, stepId } from "../text.ts"

/**
 * Runs `steps`, and again while `test` is true, at most `times` more times. Waits `intervalSeconds` in between, growing by `deltaSeconds` (linear), or
 * doubling with jitter up to `maxSeconds` if that is set as well. Without steps it only waits. With `fastFirst` the first retry does not wait. The
 * request body is buffered for the retries.
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
