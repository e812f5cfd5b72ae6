import { ExpressionError } from "./expression-error.ts"

/** Steps one evaluation may take. A step is about 20 ns, so that the default ends a hostile evaluation in milliseconds. */
export const costMaxDefault = 100_000

// One meter for the process: an evaluation is synchronous, and a nested one (a host method that evaluates) keeps its own budget
// by saving this one. A field of the frame would have to be handed through every function of the library of functions.
let stepsLeft = 0

/** Takes `steps` from the running evaluation. @throws ExpressionError `cost` when none are left; nothing absorbs it. */
export function charge(steps: number): void {
  stepsLeft -= steps
  if (stepsLeft < 0) throw new ExpressionError("cost", "the evaluation takes too many steps")
}

/** The price of handling a text or a list of this length. */
export function chargeLength(length: number): void {
  if (length > 64) charge(length >>> 6)
}

/** Begins an evaluation with a budget of its own. Gives what `endMeter` needs when it is over. */
export function startMeter(costMax: number): number {
  const before = stepsLeft
  stepsLeft = costMax
  return before
}

/** Ends an evaluation: the one around it, if there is one, goes on with what it had left. */
export function endMeter(before: number): void {
  stepsLeft = before
}

/** Runs `evaluate` with a budget of its own. */
export function metered<In, Out>(costMax: number, evaluate: (input: In) => Out, input: In): Out {
  const before = startMeter(costMax)
  try {
    return evaluate(input)
  } finally {
    endMeter(before)
  }
}
