import { headerOf } from "../../../runtime/plan/places.ts"
import {
  factsOf,
  isCredential,
  nestedSteps,
  type Step,
  type StepId,
  shownTo,
} from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { RouteSource } from "../routes.ts"
import { idsOf, type Lowered, type PlanSteps } from "./step.ts"

/** Reports a route whose answers are scripts for callers whose browsers say by themselves who they are: any page could read them in the caller's name. */
export function checkScripts(
  sections: readonly (readonly Lowered[])[],
  source: RouteSource,
  steps: PlanSteps,
  report: Report,
): void {
  if (source.method !== "GET" && source.method !== "*") return
  const all = sections.flatMap((list) => within(idsOf(list), steps))
  if (!all.some(({ kind }) => kind === "jsonp") || !all.some((step) => isAmbient(step, all))) return
  report.add("SP3040", source.span, "`jsonp` lets every site read with the credentials of the caller", {
    help: "Take the token from a header, or cut `jsonp` here; `cors` names the sites that may read.",
  })
}

/** Browsers send cookies, and passwords they were told once, with whatever a page asks for. A token may come out of a cookie by way of an expression, a variable, or a header that is set before. */
function isAmbient(step: Step, all: readonly Step[]): boolean {
  if (!isCredential(step)) return false
  const shown = shownTo(step)
  if (shown.is !== "token") return shown.is === "password"
  const { from } = shown
  if ("cookie" in from) return true
  if ("text" in from) return all.some(readsCookies)
  if (!("header" in from)) return false
  const { header } = from
  const field = headerOf("request", header)
  const isMade = all.some((each) => !removes(each) && factsOf(each).writes?.includes(field) === true)
  return header === "cookie" || (isMade && all.some(readsCookies))
}

/** Whether it names a cookie, or the header they are in, in whichever language. */
function readsCookies(step: Step): boolean {
  return !removes(step) && /cookie/i.test(JSON.stringify(step))
}

function removes(step: Step): boolean {
  return "action" in step && step.action === "remove"
}

function within(ids: readonly StepId[], steps: PlanSteps): Step[] {
  return ids.flatMap((id) => {
    const step = steps.get(id)
    if (step === undefined) return []
    return [step, ...nestedSteps(step).flatMap((nested) => within(nested.steps, steps))]
  })
}
