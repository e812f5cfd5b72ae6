import type { ViolationAction } from "../../runtime/plan/step-values.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"

/** How much an action does about messages that do not fit. */
export const strength: Readonly<Record<ViolationAction, number>> = { ignore: 0, detect: 1, prevent: 2 }

/** The action of rules that does most. */
export function strongest(rules: readonly { readonly action: ViolationAction }[]): ViolationAction {
  return rules.reduce<ViolationAction>(
    (most, { action }) => (strength[action] > strength[most] ? action : most),
    "ignore",
  )
}

/** What it means that faults of answers are taken more, or less, seriously. */
export function otherAnswerAction(before: ViolationAction, after: ViolationAction, what: string): Finding[] {
  if (before === after) return []
  if (before === "prevent")
    return [opens(`answers with ${what} are ${after === "detect" ? "only noted" : "let through"}`)]
  if (after === "prevent") return [breaking(`answers with ${what} become 502`)]
  const less = strength[after] < strength[before]
  return [neutral(`answers with ${what} are ${less ? "no longer logged" : "noted"}`)]
}

/** What it means that something else is done about requests, or bodies, that do not fit. */
export function otherAction(before: ViolationAction, after: ViolationAction, what: string): Finding {
  if (strength[after] < strength[before])
    return opens(`${what} are ${after === "ignore" ? "let through" : "only noted"}`)
  return after === "prevent" ? closes(`${what} are refused`) : neutral(`${what} are noted`)
}

/** What is found goes somewhere else. */
export const otherErrors = (): Finding => neutral("the result goes to another variable")
