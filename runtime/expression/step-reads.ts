import type { Place } from "../plan/places.ts"
import { expressionsOf, factsOf, type Step } from "../plan/steps.ts"
import { expressionReads } from "./reads.ts"

/** What a step reads, by its kind and its expressions in CEL. What C# reads is not known here. */
export function stepReads(step: Step): Place[] {
  const expressions = expressionsOf(step).flatMap((expression) =>
    expression.lang === "cel" ? expressionReads(expression.text).places : [],
  )
  return [...(factsOf(step).reads ?? []), ...expressions]
}
