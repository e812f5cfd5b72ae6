import type { PlanBody } from "./plan.ts"
import type { Route } from "./resources.ts"
import type { StepOf } from "./steps.ts"

/** What a route announces about its end; undefined: nothing. */
export function announcedEnd(
  { sections }: Route,
  steps: PlanBody["steps"],
): StepOf<"deprecation"> | undefined {
  for (const id of sections.inbound) {
    const step = steps[id]
    if (step?.kind === "deprecation") return step
  }
  return undefined
}
