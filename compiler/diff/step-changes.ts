import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step, StepId, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { compareFields, type FieldRules, type Finding } from "../analysis/finding.ts"
import type { SchemaComparison } from "../analysis/schema-comparison.ts"
import type { ComparedPlans } from "../gateway/step-text.ts"
import { hasText, type TextKind, textOf } from "../gateway/step-texts.ts"
import { answerRules, headersRules } from "./answer-rules.ts"
import { compareAuth, isAuth } from "./auth-changes.ts"
import { flowRules } from "./flow-rules.ts"
import { effectsOfAdding, effectsOfRemoving } from "./step-effects.ts"
import { validationRules } from "./validation-changes.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** What it means that one step stands where another stood; steps of different kinds are one gone and one added. */
export function compareSteps(
  before: Step,
  after: Step,
  bodyBefore: PlanBody,
  bodyAfter: PlanBody,
  schemas: SchemaComparison,
): readonly Finding[] {
  if (isAuth(before) && isAuth(after)) return compareAuth(before, after, bodyBefore.steps, bodyAfter.steps)
  if (hasText(before) && before.kind === after.kind)
    return changedText(before, after, { before: bodyBefore, after: bodyAfter, schemas })
  if (before.kind === "validate-content" && after.kind === "validate-content")
    return compareFields(validationRules["validate-content"](schemas), before, after)
  if (before.kind === "validate-parameters" && after.kind === "validate-parameters")
    return compareFields(validationRules["validate-parameters"](schemas), before, after)
  if (before.kind === "validate-headers" && after.kind === "validate-headers")
    return compareFields(headersRules(schemas), before, after)
  const rules = before.kind === after.kind ? rulesOf[before.kind as keyof typeof rulesOf] : undefined
  if (rules !== undefined) return compareFields(rules as unknown as FieldRules<Step>, before, after)
  return [...effectsOfRemoving(before, bodyBefore.steps), ...effectsOfAdding(after, bodyAfter.steps)]
}

/** Kinds that are compared as a whole, by functions of their own. */
type Whole = "validate-content" | "validate-parameters" | "validate-headers"

const rulesOf: { readonly [Kind in Exclude<StepKind, Whole | TextKind>]: FieldRules<Fields<Kind>> } = {
  ...answerRules,
  ...flowRules,
}

function changedText(before: Step, after: Step, plans: Omit<ComparedPlans, "effectsOf">): readonly Finding[] {
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
