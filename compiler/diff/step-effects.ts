import { nestedSteps } from "../../runtime/plan/nested-steps.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import { type Finding, neutral } from "../analysis/finding.ts"
import { textOf } from "../gateway/step-texts.ts"

type Steps = PlanBody["steps"]
type When = "added" | "removed"

/** What it means that a step is there now. */
export function effectsOfAdding(step: Step, steps: Steps): Finding[] {
  return effectOf("added", step, steps)
}

/** What it means that a step is gone. */
export function effectsOfRemoving(step: Step, steps: Steps, takesOptions = false): Finding[] {
  return effectOf("removed", step, steps, takesOptions)
}

function effectOf(when: When, step: Step, steps: Steps, takesOptions = false): Finding[] {
  const inside = (holder: Step) => effectsInside(when, holder, steps)
  return [textOf(step)[when](step, { steps, takesOptions, inside })].flat()
}

/** What the steps inside of a step mean. */
function effectsInside(when: When, of: Step, steps: Steps): Finding[] {
  const ids = nestedSteps(of).flatMap((list) => list.steps)
  const found = ids.flatMap((id) => {
    const step = steps[id]
    return step === undefined ? [] : effectOf(when, step, steps)
  })
  return found.length > 0 ? found : [neutral("it does nothing")]
}
