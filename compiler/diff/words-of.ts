import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { StepId, StepKind, StepOf } from "../../runtime/plan/steps.ts"

/** What saying a step needs: the plan it is of, and words for the steps inside of it. */
export interface Wording {
  readonly body: PlanBody
  of(id: StepId): string
  /** Steps of a block, in order. */
  list(ids: readonly StepId[]): string
}

/** A way to say each of some kinds of steps. */
export type WordsOf<Kinds extends StepKind> = {
  readonly [Kind in Kinds]: (step: StepOf<Kind>, words: Wording) => string
}
