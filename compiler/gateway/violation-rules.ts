import type { ViolationAction } from "../../runtime/plan/step-values.ts"
import { breaking, closes, type Finding, neutral, opens } from "../analysis/finding.ts"

/** How strict an action is. */
export const strength: Readonly<Record<ViolationAction, number>> = { ignore: 0, detect: 1, prevent: 2 }

/** The strictest action of the rules. */
export function strongest(rules: readonly { readonly action: ViolationAction }[]): ViolationAction {
  return rules.reduce<ViolationAction>(
    (most, { action }) => (strength[action] > strength[most] ? action : most),
    "ignore",
  )
}

/** What a stricter or weaker action for invalid responses means. */
export function otherAnswerAction(before: ViolationAction, after: ViolationAction, what: string): Finding[] {
  if (before === after) return []
  if (before === "prevent")
    return [opens(`responses with ${what} are ${after === "detect" ? "only logged" : "let through"}`)]
  if (after === "prevent") return [breaking(`responses with ${what} become 502`)]
  const less = strength[after] < strength[before]
  return [neutral(`responses with ${what} are ${less ? "no longer logged" : "logged"}`)]
}

/** What new rules for responses mean: a finding for each action, with all responses that it concerns. */
export function newAnswerActions(
  rules: readonly (readonly [action: ViolationAction, what: string])[],
  nothing: string,
): Finding[] {
  const found = (["prevent", "detect"] as const).flatMap((action) => {
    const what = rules.flatMap(([each, what]) => (each === action ? [what] : []))
    return what.length === 0 ? [] : otherAnswerAction("ignore", action, [...new Set(what)].join(" or "))
  })
  return found.length > 0 ? found : [neutral(nothing)]
}

/** What another action for invalid requests or bodies means. */
export function otherAction(before: ViolationAction, after: ViolationAction, what: string): Finding {
  if (strength[after] < strength[before])
    return opens(`${what} are ${after === "ignore" ? "let through" : "only logged"}`)
  return after === "prevent" ? closes(`${what} are refused`) : neutral(`${what} are logged`)
}

/** The violations are stored in another variable. */
export const otherErrors = (): Finding => neutral("the result is stored in another variable")
