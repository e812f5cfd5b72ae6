import type { PlanBody } from "../../runtime/plan/plan.ts"
import { isAuth, isCredential, type Step, type StepId } from "../../runtime/plan/steps.ts"
import type { Printed, Printing } from "../gateway/print.ts"
import { stepLine } from "../gateway/step-texts.ts"

/** Steps of one plan as statements of gateway.conf, without settings that have their default. */
export class StepWords implements Printing {
  readonly body: PlanBody
  readonly inSection = false
  readonly #known = new Map<StepId, string>()

  constructor(body: PlanBody) {
    this.body = body
  }

  /** The text of a step, kept because one step is part of many routes. */
  of(id: StepId): string {
    let words = this.#known.get(id)
    if (words === undefined) {
      const step = this.body.steps[id]
      words = step === undefined ? id : this.ofStep(step)
      this.#known.set(id, words)
    }
    return words
  }

  ofStep(step: Step): string {
    return stepLine(step, this)
  }

  inside(ids: readonly StepId[]): Printed[] {
    return ids.map((id) => ({ head: this.of(id), block: [] }))
  }

  header(name: string): string {
    return name
  }

  // Parts that the language cannot express are left out.
  lacks(): void {}
  refuses(): void {}
}

// Names of other parts stand for themselves.
const noPlan = { steps: {}, backends: {}, authz: null } as unknown as PlanBody

/** The statement of a step without those inside of it: its inner lists are empty. Needs no plan. */
export function statementOf(step: Step): string {
  // `auth` with alternatives has no statement of its own: they are its inner steps.
  if (isAuth(step) && !isCredential(step)) return "any of"
  const text = new StepWords(noPlan)
    .ofStep(step)
    .replace(/\s+/g, " ")
    .replace(/ ?\{ *\}$/, "")
  return text === "" ? step.kind : text
}
