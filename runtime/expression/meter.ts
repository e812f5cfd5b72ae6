import { ExpressionError } from "./expression-error.ts"

/** Default step limit of one evaluation. A step is about 20 ns, so a hostile evaluation ends within milliseconds. */
export const costMaxDefault = 100_000

// One meter for the process: an evaluation is synchronous, and a nested one (a host method that evaluates) saves the outer budget. A field of the frame
// would have to be passed through every library function.
let stepsLeft = 0

/** Takes `steps` from the budget of the running evaluation. @throws ExpressionError `cost` if the budget is exceeded; no operator absorbs this error. */
export function charge(steps: number): void {
  stepsLeft -= steps
  if (stepsLeft < 0) throw new ExpressionError("cost", "the evaluation takes too many steps")
}

/** Charges the cost of processing a text or a list of this length. */
export function chargeLength(length: number): void {
  if (length > 64) charge(length >>> 6)
}

/** Starts an evaluation with its own budget. Returns the argument for `endMeter`. */
export function startMeter(costMax: number): number {
  const before = stepsLeft
  stepsLeft = costMax
  return before
}

/** Ends an evaluation: an enclosing one continues with its remaining budget. */
export function endMeter(before: number): void {
  stepsLeft = before
}

/** Runs `evaluate` with its own budget. */
export function metered<In, Out>(costMax: number, evaluate: (input: In) => Out, input: In): Out {
  const before = startMeter(costMax)
  try {
    return evaluate(input)
  } finally {
    endMeter(before)
  }
}
