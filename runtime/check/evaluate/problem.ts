import type { CheckErrorCode } from "../ports.ts"

/** Why a part has no truth value. */
export interface EvaluationProblem {
  readonly code: CheckErrorCode
  readonly message: string
}

/** Which of two problems to report. By what they say and not by the order they were met in, because that follows internal ids, which differ between processes. */
export function worseProblem(one: EvaluationProblem, two: EvaluationProblem): EvaluationProblem {
  // With less depth in the way, a missing context might turn out not to matter.
  if (one.code !== two.code) return two.code === "validation_error" ? one : two
  return one.message <= two.message ? one : two
}
