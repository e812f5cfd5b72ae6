import { PatternWorkError, type SearchBudget } from "../../pattern/run-program.ts"
import { CsLimitError } from "./errors.ts"
import type { PolicyContext } from "./ports.ts"

/** Steps one evaluation may take, of some 50 ns: a node of a loop's body, an element of a collection, 32 characters of a text. Nothing else is done meanwhile. */
export const stepsMax = 300_000
/** Longest text and largest collection a program may make. */
const lengthMax = 16_777_216
const itemsMax = 1_000_000
/** Steps of a pattern, of some 25 ns, in one of these. */
const patternSteps = 2
/** Calls of functions of the program inside each other. */
const depthMax = 200

// One run for the process: an evaluation is synchronous. A parameter would have to go through the whole library.
let stepsLeft = 0
let depth = 0
let host: PolicyContext | undefined

/** Takes `steps` from the running evaluation. @throws CsLimitError when none are left; nothing absorbs it. */
export function charge(steps: number): void {
  stepsLeft -= steps
  if (stepsLeft < 0) throw new CsLimitError("the expression takes too many steps")
}

/** Pays for a text of this length that is being made or read through. */
export function chargeText(length: number): void {
  if (length > 32) {
    if (length > lengthMax) throw new CsLimitError("the expression makes a text that is too long")
    charge(length >>> 5)
  }
}

/** Pays for a collection of this many elements. */
export function chargeItems(count: number): void {
  if (count > itemsMax) throw new CsLimitError("the expression makes a collection that is too large")
  charge(count)
}

/** Runs a search by a pattern on the steps that are left. @throws CsLimitError when they are not enough. */
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

/** Runs a function of the program inside others. */
export function nested<T>(run: () => T): T {
  if (depth >= depthMax) throw new CsLimitError("the functions of the expression call each other too deeply")
  depth++
  try {
    return run()
  } finally {
    depth--
  }
}

/** The request the running evaluation is about. */
export function currentHost(): PolicyContext {
  if (host === undefined) throw new CsLimitError("no evaluation is running")
  return host
}

/** Runs `evaluate` on a frame with a budget of its own; one inside another keeps its own too. */
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

/** Runs what charges steps where no program runs, with a budget of its own. */
export function budgeted<T>(run: () => T): T {
  const stepsBefore = stepsLeft
  stepsLeft = stepsMax
  try {
    return run()
  } finally {
    stepsLeft = stepsBefore
  }
}
