import { CheckError, type CheckErrorCode, UndecidedCheck } from "../ports.ts"

/** Why a part has no truth value. */
export interface EvaluationProblem {
  readonly code: CheckErrorCode
  readonly message: string
}

/**
 * The problem to report. It compares messages and not the order of discovery, because that depends on internal ids, which differ between
 * processes.
 */
export function worseProblem(one: EvaluationProblem, two: EvaluationProblem): EvaluationProblem {
  // Without the depth limit, a missing context value might turn out not to matter.
  if (one.code !== two.code) return two.code === "validation_error" ? one : two
  return one.message <= two.message ? one : two
}

/** The error of a question, or of one item, that has no truth value for this reason. */
export function errorOfProblem(problem: EvaluationProblem | undefined): CheckError {
  const { code, message } = problem ?? { code: "validation_error", message: "the check has no answer" }
  return code === "validation_error" ? new UndecidedCheck(code, message) : new CheckError(code, message)
}
