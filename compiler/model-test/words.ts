import type { TestAnswer } from "./run.ts"
import type { TestAssertion } from "./suite.ts"

/** A question in one line: `check user:ann viewer order:1 {"now":…}`. */
export function questionText(question: TestAssertion): string {
  const { relation } = question
  const context = question.context === undefined ? "" : ` ${JSON.stringify(question.context)}`
  if (question.kind === "check") return `check ${question.user} ${relation} ${question.object}${context}`
  if (question.kind === "list_objects")
    return `list_objects ${question.user} ${relation} ${question.type}${context}`
  const { type, relation: set } = question.filter
  return `list_users ${set === undefined ? type : `${type}#${set}`} ${relation} ${question.object}${context}`
}

/** An answer in one line. */
export function answerText(answer: TestAnswer): string {
  if (!("got" in answer)) return `error: ${answer.error}`
  if (typeof answer.got === "boolean") return answer.got ? "allowed" : "denied"
  return answer.got.length === 0 ? "nothing" : [...answer.got].sort().join(", ")
}
