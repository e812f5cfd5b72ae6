import type { Step, StepId } from "./steps.ts"

/** A list of steps inside of another step, and the name of the field that holds it: `matched`, `branches.1`. */
export interface NestedSteps {
  readonly place: string
  readonly steps: readonly StepId[]
}

/** The lists of steps inside of a step; none for most kinds. */
export function nestedSteps(step: Step): readonly NestedSteps[] {
  const found: NestedSteps[] = []
  if ("matched" in step) found.push({ place: "matched", steps: step.matched })
  if ("otherwise" in step) found.push({ place: "otherwise", steps: step.otherwise as readonly StepId[] })
  if ("steps" in step) found.push({ place: "steps", steps: step.steps })
  if ("branches" in step)
    for (const [index, steps] of (step.branches as readonly (readonly StepId[])[]).entries())
      found.push({ place: `branches.${index}`, steps })
  return found
}
