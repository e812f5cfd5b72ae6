import { nestedSteps } from "../../runtime/plan/nested-steps.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { closes, type Finding, neutral, opens } from "../analysis/finding.ts"
import { hasText, type TextKind, textOf } from "../gateway/step-texts.ts"
import { contentAdded, contentRemoved } from "./content-effects.ts"
import { validationAdded, validationRemoved } from "./validation-changes.ts"

type Steps = PlanBody["steps"]
type Effect<Kind extends StepKind> = (step: StepOf<Kind>, steps: Steps) => readonly Finding[] | Finding

/** What it means that a step is there now, by kind. */
const whenAdded: Effects = {
  ...contentAdded,
  ...validationAdded,
  "content-safety": ({ backend }) =>
    closes(
      `what \`${backend}\` finds harmful is refused with 403; without its judgement everybody is, with 503`,
    ),
  "cache-value": (step, steps) => effectsInside(whenAdded, step, steps),
}

/** What it means that a step is gone, by kind. */
const whenRemoved: Effects = {
  ...contentRemoved,
  ...validationRemoved,
  "content-safety": ({ backend }) => opens(`\`${backend}\` does not judge what is asked any more`),
  "cache-value": (step, steps) => effectsInside(whenRemoved, step, steps),
}

/** What it means that a step is there now. */
export function effectsOfAdding(step: Step, steps: Steps): Finding[] {
  return effectOf(whenAdded, step, steps)
}

/** What it means that a step is gone. */
export function effectsOfRemoving(step: Step, steps: Steps, takesOptions = false): Finding[] {
  return effectOf(whenRemoved, step, steps, takesOptions)
}

type Effects = { readonly [Kind in Exclude<StepKind, TextKind>]: Effect<Kind> }

function effectOf(effects: Effects, step: Step, steps: Steps, takesOptions = false): Finding[] {
  if (hasText(step)) {
    const text = textOf(step)
    const of = { steps, takesOptions, inside: (holder: Step) => effectsInside(effects, holder, steps) }
    return [(effects === whenAdded ? text.added : text.removed)(step, of)].flat()
  }
  return [(effects[step.kind] as Effect<StepKind>)(step, steps)].flat()
}

/** What the steps inside of a step mean. */
function effectsInside(effects: Effects, of: Step, steps: Steps): Finding[] {
  const ids = nestedSteps(of).flatMap((list) => list.steps)
  const found = ids.flatMap((id) => {
    const step = steps[id]
    return step === undefined ? [] : effectOf(effects, step, steps)
  })
  return found.length > 0 ? found : [neutral("it does nothing")]
}
