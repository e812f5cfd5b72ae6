import { PatternWorkError, type SearchBudget } from "../../pattern/run-program.ts"
import { CsLimitError } from "./errors.ts"
import type { PolicyContext } from "./ports.ts"

/**
 * Step limit of one evaluation, about 50 ns each: a node of a loop's body, an element of a collection, or 32 characters of a text. An evaluation blocks
 * the process.
 */
export const stepsMax = 300_000
/** Limits on a text and on a collection that a program creates. */
const lengthMax = 16_777_216
const itemsMax = 1_000_000
/** Pattern steps, of about 25 ns, per step. */
const patternSteps = 2
/** Limit on nested calls of the program's functions. */
const depthMax = 200

// One run for the process: an evaluation is synchronous. A parameter would have to be passed through the whole library.
let stepsLeft = 0
let depth = 0
let host: PolicyContext | undefined

/** Takes `steps` from the budget of the running evaluation. @throws CsLimitError if the budget is exceeded; nothing absorbs it. */
export function charge(steps: number): void {
  stepsLeft -= steps
  if (stepsLeft < 0) throw new CsLimitError("the expression takes too many steps")
}

/** Charges for creating or reading a text of this length. */
export function chargeText(length: number): void {
  if (length > 32) {
    if (length > lengthMax) throw new CsLimitError("the expression makes a text that is too long")
    charge(length >>> 5)
  }
}

/** Charges for a collection of this many elements. */
export function chargeItems(count: number): void {
  if (count > itemsMax) throw new CsLimitError("the expression makes a collection that is too large")
  charge(count)
}

/** Runs a pattern search with the remaining steps. @throws CsLimitError if they do not suffice. */
export function searching<T>(search: (work: SearchBudget) => T): T {
  const before = stepsLeft * patternSteps
  const work = { stepsLeft: before }
  try {
    const found = search(work)
    charge(Math.ceil((before - work.stepsLeft) / patternSteps))
    return found
  } catch (error) {
    if (error instanceof PatternWorkError) charge(stepsMax)
    throw error
  }
}

/** Runs a function of the program and counts the nesting. */
export function nested<T>(run: () => T): T {
  if (depth >= depthMax) throw new CsLimitError("the functions of the expression call each other too deeply")
  depth++
  try {
    return run()
  } finally {
    depth--
  }
}

/** The context of the running evaluation. */
export function currentHost(): PolicyContext {
  if (host === undefined) throw new CsLimitError("no evaluation is running")
  return host
}

/** Runs `evaluate` on a frame with its own budget; a nested evaluation has its own, too. */
export function withRun(
  context: PolicyContext,
  evaluate: (frame: unknown[]) => unknown,
  frame: unknown[],
): unknown {
  const stepsBefore = stepsLeft
  const depthBefore = depth
  const hostBefore = host
  stepsLeft = stepsMax
  depth = 0
  host = context
  try {
    return evaluate(frame)
  } finally {
    stepsLeft = stepsBefore
    depth = depthBefore
    host = hostBefore
  }
}

/** Runs code that charges steps outside of a program, with its own budget. */
export function budgeted<T>(run: () => T): T {
  const stepsBefore = stepsLeft
  stepsLeft = stepsMax
  try {
    return run()
  } finally {
    stepsLeft = stepsBefore
  }
}
