import { nestedSteps } from "../../runtime/plan/nested-steps.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Step } from "../../runtime/plan/steps.ts"
import { isAuth, isGuardKind } from "./auth-changes.ts"
import { breaking, closes, type Finding, neutral, opens } from "./finding.ts"

type Steps = PlanBody["steps"]

/** What it means that `first` ran before `second`, and now `second` runs before `first`. */
export function orderChange(
  first: Step,
  second: Step,
  words: { readonly first: string; readonly second: string },
  steps: Steps,
): Finding {
  const [guardFirst, guardSecond] = [isGuard(first, steps), isGuard(second, steps)]
  const [answerFirst, answerSecond] = [answers(first, steps), answers(second, steps)]
  if (guardFirst && answerSecond)
    return opens(`\`${words.second}\` can answer before \`${words.first}\` is asked`)
  if (answerFirst && guardSecond)
    return closes(`\`${words.second}\` is asked before \`${words.first}\` can answer`)
  if (guardFirst && guardSecond) return guardOrder(first, second)
  if (answerFirst && answerSecond)
    return breaking(`where both could answer, \`${words.second}\` does now, not \`${words.first}\``)
  const [one, other] = [touchOf(first, steps), touchOf(second, steps)]
  if (meets(one.writes, other.writes)) return breaking("both write the same, and the later one decides")
  if (meets(one.writes, other.reads) || meets(other.writes, one.reads)) {
    const decides = guardFirst || guardSecond || answerFirst || answerSecond
    const why = "one of them reads what the other writes, so its result is another"
    return decides ? opens(why) : breaking(why)
  }
  return neutral("their order makes no difference")
}

/** A step that may answer without those behind it: the guards there are not asked then. */
export function answersBefore(
  step: Step,
  behind: readonly Step[],
  wordsOf: (step: Step) => string,
  steps: Steps,
): Finding[] {
  const guards = answers(step, steps) ? behind.filter((each) => isGuard(each, steps)) : []
  return guards.map((guard) => opens(`it can answer before \`${wordsOf(guard)}\` is asked`))
}

/** A limit before `auth` also counts those whom `auth` refuses. */
function guardOrder(first: Step, second: Step): Finding {
  if (first.kind === "rate-limit" && isAuth(second))
    return opens("calls that `auth` refuses are not counted any more")
  if (isAuth(first) && second.kind === "rate-limit")
    return closes("calls that `auth` refuses are counted too")
  return neutral("both are asked still; who would fail both gets the other refusal")
}

function isGuard(step: Step, steps: Steps): boolean {
  return (
    isGuardKind(step) ||
    (step.kind === "deprecation" && step.closed) ||
    inside(step, steps).some((each) => isGuard(each, steps))
  )
}

function answers(step: Step, steps: Steps): boolean {
  return step.kind === "respond" || inside(step, steps).some((each) => answers(each, steps))
}

function inside(step: Step, steps: Steps): Step[] {
  return nestedSteps(step).flatMap((list) => list.steps.flatMap((id) => steps[id] ?? []))
}

interface Touch {
  readonly writes: ReadonlySet<string>
  readonly reads: ReadonlySet<string>
}

/** What of the messages a step writes and reads. Expressions are searched for the objects they name, which errs on the side of too much. */
function touchOf(step: Step, steps: Steps): Touch {
  const writes = new Set<string>()
  const reads = new Set<string>()
  const expressions = JSON.stringify(step)
  for (const message of ["request", "response"]) {
    const names = [
      ...expressions.matchAll(new RegExp(`\\b${message}\\.header\\(\\\\"([^"\\\\]+)\\\\"\\)`, "g")),
    ]
    for (const [, name] of names) reads.add(`${message} header ${name?.toLowerCase()}`)
    const others = [...expressions.matchAll(new RegExp(`\\b${message}\\.(\\w+)`, "g"))]
    for (const [, member] of others) if (member !== "header") reads.add(`${message} ${member}`)
  }
  if (step.kind === "set-header") writes.add(`${step.message} header ${step.name}`)
  if (step.kind === "set-query") writes.add(`query ${step.name}`)
  if (step.kind === "rewrite") writes.add("path")
  if (step.kind === "set-host") writes.add("host")
  if (step.kind === "set-body")
    for (const part of ["body", "json", "header content-type"]) writes.add(`${step.message} ${part}`)
  for (const each of inside(step, steps)) {
    const touched = touchOf(each, steps)
    for (const name of touched.writes) writes.add(name)
    for (const name of touched.reads) reads.add(name)
  }
  return { writes, reads }
}

/** Who reads all headers reads each. */
function meets(written: ReadonlySet<string>, used: ReadonlySet<string>): boolean {
  return [...written].some((each) => used.has(each) || used.has(each.replace(/ header .*/, " headers")))
}
