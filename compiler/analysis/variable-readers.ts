import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step, StepKind } from "../../runtime/plan/steps.ts"
import { type Finding, neutral, opens } from "./finding.ts"

/** Steps that neither affect whether a request passes, nor send anything to a backend or service. */
const onlookers: ReadonlySet<StepKind> = new Set<StepKind>(["trace", "metric", "set-status"])

function isOnlooker(step: Step): boolean {
  return onlookers.has(step.kind) || (step.kind === "set-header" && step.message === "response")
}

/** What it means for the readers of a variable that it is now set, no longer set, or has another value. */
export function variableDiffers(words: string, name: string, steps: PlanBody["steps"]): Finding {
  return Object.values(steps).some((step) => !isOnlooker(step) && reads(step, name))
    ? opens(`${words}: the statements that use it may let through or send something different`)
    : neutral(words)
}

/** Templates and C# programs name variables as text. Text that only looks like a name counts too: a false positive is harmless. */
function reads(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false
  const word = (text: unknown, before: string) =>
    typeof text === "string" && new RegExp(`${before}(?<!\\w)${name}(?!\\w)`).test(text)
  if ("lang" in node && "text" in node)
    return node.lang === "cel" ? word(node.text, "\\bvar\\s*(?:\\.\\s*|\\[\\s*[\"'])") : word(node.text, "")
  if ("liquid" in node && word(node.liquid, "")) return true
  if ("kind" in node && node.kind === "respond" && "from" in node && node.from === name) return true
  return Object.values(node).some((inner) => reads(inner, name))
}
