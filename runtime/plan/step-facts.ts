import type { FactsOf, StepFacts } from "./facts.ts"
import { accessFacts } from "./facts-access.ts"
import { contentFacts } from "./facts-content.ts"
import { flowFacts } from "./facts-flow.ts"
import type { Step, StepKind } from "./steps.ts"

/** Every kind of step has its facts: a kind without them does not compile. */
const table: { readonly [Kind in StepKind]: FactsOf<Kind> } = {
  ...accessFacts,
  ...contentFacts,
  ...flowFacts,
}

/** What a step does to an exchange; see `StepFacts`. */
export function factsOf(step: Step): StepFacts {
  return (table[step.kind] as FactsOf<StepKind>)(step)
}
