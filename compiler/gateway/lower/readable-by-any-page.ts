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

/**
 * Reports a route that responds with scripts and authenticates callers by credentials that browsers send automatically: any page could read
 * the response in the caller's name.
 */
export function checkScripts(
  sections: readonly (readonly Lowered[])[],
  source: RouteSource,
  steps: PlanSteps,
  report: Report,
): void {
  if (!steps.kinds.has("jsonp") || (source.method !== "GET" && source.method !== "*")) return
  const all = sections.flatMap((list) => within(idsOf(list), steps))
  if (!all.some(({ kind }) => kind === "jsonp") || !all.some((step) => isAmbient(step, all))) return
  report.add(
    "SP3040",
    source.span,
    "`jsonp` lets every site read responses with the credentials of the caller",
    {
      help: "Take the token from a header, or remove `jsonp` and list the sites that may read in `cors`.",
    },
  )
}

/**
 * Browsers send cookies and stored passwords with every request of a page. A token may also come from a cookie, through an expression, a
 * variable, or a header that an earlier step sets.
 */
function isAmbient(step: Step, all: readonly Step[]): boolean {
  if (!isCredential(step)) return false
  const shown = shownTo(step)
  if (shown.is !== "token") return shown.is === "password" || shown.is === "session"
  const { from } = shown
  if ("cookie" in from) return true
  if ("text" in from) return all.some(readsCookies)
  if (!("header" in from)) return false
  const { header } = from
  const field = headerOf("request", header)
  const isMade = all.some((each) => !removes(each) && factsOf(each).writes?.includes(field) === true)
  return header === "cookie" || (isMade && all.some(readsCookies))
}

/** Whether a step names a cookie or the `Cookie` header, in any expression language. */
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
