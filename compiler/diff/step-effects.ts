import type { PlanBody } from "../../runtime/plan/plan.ts"
import { isAuth, nestedSteps, type Step, type StepId } from "../../runtime/plan/steps.ts"
import { compareFields, type FieldRules, type Finding, neutral } from "../analysis/finding.ts"
import type { SchemaComparison } from "../analysis/schema-comparison.ts"
import type { ComparedPlans } from "../gateway/step-text.ts"
import { textOf } from "../gateway/step-texts.ts"
import { compareAuth } from "./auth-changes.ts"

type Steps = PlanBody["steps"]
type When = "added" | "removed"

/** What the addition of a step means. */
export function effectsOfAdding(step: Step, steps: Steps): Finding[] {
  return effectOf("added", step, steps)
}

/** What the removal of a step means. */
export function effectsOfRemoving(step: Step, steps: Steps, takesOptions = false): Finding[] {
  return effectOf("removed", step, steps, takesOptions)
}

function effectOf(when: When, step: Step, steps: Steps, takesOptions = false): Finding[] {
  const inside = (holder: Step) => effectsInside(when, holder, steps)
  return [textOf(step)[when](step, { steps, takesOptions, inside })].flat()
}

/** What the addition or removal of the steps inside a step means. */
function effectsInside(when: When, of: Step, steps: Steps): Finding[] {
  const ids = nestedSteps(of).flatMap((list) => list.steps)
  const found = ids.flatMap((id) => {
    const step = steps[id]
    return step === undefined ? [] : effectOf(when, step, steps)
  })
  return found.length > 0 ? found : [neutral("it has no effect")]
}

/** What the replacement of one step by another means. Steps of different kinds count as one removed and one added step. */
export function compareSteps(
  before: Step,
  after: Step,
  bodyBefore: PlanBody,
  bodyAfter: PlanBody,
  schemas: SchemaComparison,
): readonly Finding[] {
  if (isAuth(before) && isAuth(after)) return compareAuth(before, after, bodyBefore.steps, bodyAfter.steps)
  if (before.kind === after.kind)
    return changesOf(before, after, { before: bodyBefore, after: bodyAfter, schemas })
  return [...effectsOfRemoving(before, bodyBefore.steps), ...effectsOfAdding(after, bodyAfter.steps)]
}

/** A kind of step either has rules for its fields or compares as a whole. */
function changesOf(before: Step, after: Step, plans: Omit<ComparedPlans, "effectsOf">): readonly Finding[] {
  const { changed } = textOf(before)
  if (typeof changed !== "function") return compareFields(changed as FieldRules<Step>, before, after)
  const { steps } = plans.after
  const inside = (ids: readonly StepId[]) => ids.flatMap((id) => steps[id] ?? [])
  const effectsOf: ComparedPlans["effectsOf"] = (gone, come) => [
    ...inside(gone).flatMap((step) => effectsOfRemoving(step, steps)),
    ...inside(come).flatMap((step) => effectsOfAdding(step, steps)),
  ]
  return changed(before, after, { ...plans, effectsOf })
}
