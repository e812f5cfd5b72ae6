import type { LoadedModel } from "../loaded-model.ts"
import type { CheckAnswer, CheckRequest, Commit } from "../ports.ts"
import type { EngineWork, Progress, View } from "../work.ts"
import type { Evaluation, EvaluationOptions } from "./evaluation.ts"
import { readRequest } from "./request.ts"

/** A check that takes longer than its first slice. */
export class CheckWork implements EngineWork<CheckAnswer> {
  readonly #evaluation: Evaluation
  readonly #model: LoadedModel
  readonly #request: CheckRequest
  readonly #limits: EvaluationOptions

  constructor(evaluation: Evaluation, model: LoadedModel, request: CheckRequest, limits: EvaluationOptions) {
    this.#evaluation = evaluation
    this.#model = model
    this.#request = request
    this.#limits = limits
  }

  get steps(): number {
    return this.#evaluation.question.steps
  }

  begin(view: View): void {
    this.#evaluation.begin(readRequest(view, this.#model, this.#request), this.#limits)
  }

  run(isLate: () => boolean): Progress {
    return this.#evaluation.run(isLate)
  }

  answer(at: Commit): CheckAnswer {
    return this.#evaluation.answer(at)
  }

  release(): void {
    this.#evaluation.release()
  }
}
