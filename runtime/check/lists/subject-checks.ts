import type { EvaluationOptions } from "../evaluate/evaluation.ts"
import { errorOfProblem } from "../evaluate/problem.ts"
import { isError, isMiss, isTrue, type QuestionParts } from "../evaluate/question.ts"
import type { CheckError, PageKey } from "../ports.ts"
import { CandidateVerification } from "./verification.ts"

/** Nodes to check for one subject in one context, as pairs of object and relation. */
export interface SubjectNodes {
  readonly parts: QuestionParts
  readonly nodes: readonly number[]
}

/** Checks of several subjects; those of one subject share intermediate results. Counts its work and keeps what was missing. */
export class SubjectChecks {
  readonly misses = new Map<string, PageKey>()
  readonly #limits: EvaluationOptions
  #steps = 0
  #at: CandidateVerification | undefined

  constructor(limits: EvaluationOptions) {
    this.#limits = limits
  }

  get steps(): number {
    return this.#steps + (this.#at?.question.steps ?? 0)
  }

  /** The outcome of each node; undefined where something was not in memory. */
  *decide({ parts, nodes }: SubjectNodes): Generator<void, (boolean | CheckError | undefined)[]> {
    const verification = CandidateVerification.of(parts, this.#limits)
    this.#at = verification
    const { values, problems } = yield* verification.decide(nodes)
    for (const [key, page] of verification.question.misses) this.misses.set(key, page)
    this.close()
    return Array.from(values, (value, at) => {
      if (value === isMiss) return undefined
      if (value !== isError) return value === isTrue
      return errorOfProblem(problems.get(at))
    })
  }

  close(): void {
    if (this.#at === undefined) return
    this.#steps += this.#at.question.steps
    this.#at.release()
    this.#at = undefined
  }
}
