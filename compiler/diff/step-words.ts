import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step, StepId, StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { textWords } from "../analysis/words.ts"
import type { Printed, Printing } from "../gateway/print.ts"
import { hasText, stepLine, type TextKind } from "../gateway/step-texts.ts"
import { blockWords, countWordsOf } from "./access-words.ts"
import { contentWords } from "./content-words.ts"
import { flowWords } from "./flow-words.ts"
import { validationWords } from "./validation-changes.ts"
import type { Wording, WordsOf } from "./words-of.ts"

/** Steps of one plan in words of gateway.conf. What a statement leaves to its default is left out. */
export class StepWords implements Wording, Printing {
  readonly body: PlanBody
  readonly inSection = false
  readonly #known = new Map<StepId, string>()

  constructor(body: PlanBody) {
    this.body = body
  }

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
    if (hasText(step)) return stepLine(step, this)
    return (wordsOf[step.kind] as (step: Step, words: StepWords) => string)(step, this)
  }

  inside(ids: readonly StepId[]): Printed[] {
    return ids.map((id) => ({ head: this.of(id), block: [] }))
  }

  header(name: string): string {
    return name
  }

  // What the language has no words for is said as far as it has some.
  lacks(): void {}
  refuses(): void {}

  /** Steps of a block, in order. */
  list(ids: readonly StepId[]): string {
    return ids.map((id) => this.of(id)).join("; ")
  }
}

const wordsOf: WordsOf<Exclude<StepKind, TextKind>> = {
  ...contentWords,
  ...flowWords,
  ...validationWords,
  "content-safety": (step) => `content-safety ${step.backend}${blockWords(safetyStatements(step))}`,
}

function safetyStatements(step: StepOf<"content-safety">): string[] {
  return [
    ...step.categories.map(({ name, threshold }) => `category ${name} ${countWordsOf(threshold)}`),
    ...(step.levels === "eight" ? ["levels eight"] : []),
    ...step.blocklists.map((each) => `blocklist ${textWords(each)}`),
    ...(step.shieldPrompt === false ? [] : ["shield-prompt"]),
    ...(step.completions === false ? [] : ["completions"]),
  ]
}
