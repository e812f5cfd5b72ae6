import type { Plan } from "../../plan/plan.ts"
import type { PolicyElement } from "../../plan/resources.ts"
import { expressionsOf, nestedSteps, type StepId } from "../../plan/steps.ts"
import type { AnsweringStep, AnswerPlace } from "../../policies/exchange.ts"
import type { FailedExpression } from "../../policies/messages/answer.ts"
import type { Answerer } from "../explain/request-explanation.ts"
import { sectionNames } from "../explain/unfold.ts"
import type { LiveRoute } from "../generation/generation.ts"

/** The parts of an exchange that identify the step that responded. */
interface Answered {
  readonly route: LiveRoute | undefined
  readonly answeredBy: AnsweringStep | undefined
  readonly answerTrail: readonly AnswerPlace[]
}

/** The step that responded, and its place in the source text. */
export function answererOf(plan: Plan, answered: Answered): Answerer | undefined {
  const { answeredBy } = answered
  if (answeredBy === undefined) return undefined
  const path = pathOf(plan, answered)
  return { kind: answeredBy.kind, place: path === undefined ? "" : (originOf(plan, answered, path) ?? "") }
}

/** The element of a policy document from which the responding step was compiled. */
export function elementOf(plan: Plan, answered: Answered): PolicyElement | undefined {
  const path = pathOf(plan, answered)
  const outline = answered.route?.plan.outline
  if (path === undefined || outline === undefined) return undefined
  return plan.plan.outlines?.[outline]?.[path]
}

/** The source place of a failure: of the expression, otherwise of the step, otherwise of the route. */
export function placeOf(
  plan: Plan,
  answered: Answered,
  failed: FailedExpression | undefined,
): string | undefined {
  const { route, answeredBy } = answered
  if (route === undefined) return undefined
  const path = pathOf(plan, answered)
  const step = path === undefined ? undefined : originOf(plan, answered, path)
  const expression =
    failed === undefined || answeredBy === undefined
      ? undefined
      : placeOfExpression(plan, answeredBy.id, failed, step)
  return expression ?? step ?? plan.origins[`routes.${route.key}`]
}

function originOf(plan: Plan, { route }: Answered, path: string): string | undefined {
  return route === undefined ? undefined : plan.origins[`routes.${route.key}.${path}`]
}

/** The index path of the step that responded: `inbound.3.matched.0`. Equal steps can occur at several places; the trail shows which one ran. */
function pathOf(plan: Plan, { route, answerTrail }: Answered): string | undefined {
  if (route === undefined) return undefined
  let inner: AnswerPlace | undefined
  let path = ""
  for (const outer of answerTrail) {
    const nested = inner === undefined ? "" : placeInside(plan, outer, inner.steps)
    if (nested === undefined) continue
    path = nested === "" ? String(outer.at) : `${outer.at}.${nested}.${path}`
    const section = sectionNames.find((name) => route[name] === outer.steps)
    if (section !== undefined) return `${section}.${path}`
    inner = outer
  }
  return alone(route, inner)
}

/** A preflight runs only its `cors` step. */
function alone(route: LiveRoute, place: AnswerPlace | undefined): string | undefined {
  const step = place?.steps[place.at]
  for (const name of sectionNames) {
    const at = step === undefined ? -1 : route[name].findIndex(({ id }) => id === step.id)
    if (at >= 0) return `${name}.${at}`
  }
  return undefined
}

/** The name of a list inside a step: `matched`; undefined when the step has no such list. */
function placeInside(
  plan: Plan,
  { steps, at }: AnswerPlace,
  inner: readonly AnsweringStep[],
): string | undefined {
  const step = plan.plan.steps[steps[at]?.id ?? ""]
  if (step === undefined) return undefined
  const same = (ids: readonly StepId[]): boolean =>
    ids.length === inner.length && ids.every((id, index) => id === inner[index]?.id)
  return nestedSteps(step).find((list) => same(list.steps))?.place
}

/** `gateway.conf:41:12`. When equal expressions occur at several places, the first one at or after the step. */
function placeOfExpression(
  plan: Plan,
  id: StepId,
  { expression, at }: FailedExpression,
  step: string | undefined,
): string | undefined {
  const plans = plan.plan.steps[id]
  const own = plans === undefined ? [] : expressionsOf(plans)
  const exact = own.indexOf(expression)
  const number =
    exact >= 0
      ? exact
      : own.findIndex(({ lang, text }) => lang === expression.lang && text === expression.text)
  const written = plan.origins[`steps.${id}.expressions.${number}`]?.split(" or ") ?? []
  const [file, line] = /^(.*):(\d+)$/.exec(step ?? "")?.slice(1) ?? []
  const places = written.flatMap((each) => {
    const [, path = "", row, column] = /^(.*):(\d+):(\d+)$/.exec(each) ?? []
    return row === undefined ? [] : [{ path, line: Number(row), column: Number(column) }]
  })
  const behind = places
    .filter((each) => each.path === file && each.line >= Number(line))
    .sort((a, b) => a.line - b.line || a.column - b.column)
  const place = behind[0] ?? places[0]
  return place === undefined ? undefined : shifted(place, expression.text.slice(0, at ?? 0))
}

/** The place after `text`, which begins at the given place. */
function shifted(
  { path, line, column }: { readonly path: string; readonly line: number; readonly column: number },
  text: string,
): string {
  const lines = text.split("\n")
  const last = (lines.at(-1) ?? "").length
  return `${path}:${line + lines.length - 1}:${lines.length === 1 ? column + last : last + 1}`
}
