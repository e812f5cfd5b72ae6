import { explanationText } from "../../../runtime/check/explain-text.ts"
import type { Explanation } from "../../../runtime/check/ports.ts"

/** The answer in one sentence, with the explanation if requested. */
export function checkText(
  question: { readonly user: string; readonly relation: string; readonly object: string },
  answer: { readonly allowed: boolean; readonly explanation?: Explanation | undefined },
): string {
  if (answer.explanation !== undefined) return explanationText(answer.explanation)
  const verdict = answer.allowed ? "allowed" : "denied"
  return `${verdict}: ${question.user} ${answer.allowed ? "has" : "does not have"} ${question.relation} on ${question.object}\n`
}
