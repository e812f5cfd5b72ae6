import type { Risk } from "../../../compiler/analysis/finding.ts"
import type { StepKind } from "../../../runtime/plan/steps.ts"
import type { StepDraft } from "../../gateway/plan-builder.ts"
import type { Draw } from "./draw.ts"
import { draftOf, kinds, standsIn } from "./random-steps.ts"
import type { Trace } from "./two-sides.ts"

/** The list with one change: a field of a step, a step gone, new, another of its kind, or under a condition. */
export function otherList(list: readonly StepDraft[], draw: Draw): StepDraft[] {
  const at = draw.random(list.length)
  const step = list[at] as StepDraft
  const put = (...steps: readonly StepDraft[]) => [...list.slice(0, at), ...steps, ...list.slice(at + 1)]
  switch (draw.random(8)) {
    case 0:
      return put()
    case 1: {
      const known = kinds.filter((kind) => standsIn(kind, draw.section))
      return put(step, draftOf(draw.one(...known), draw))
    }
    case 2:
      return put({ kind: "when", test: draw.test, matched: [step] })
    case 3:
      return put(draftOf(step.kind as StepKind, draw))
    default:
      return put(withOtherField(step, draw))
  }
}

/** Fields that fit each other only as they were drawn. */
const together: readonly (readonly string[])[] = [["action", "values"]]

/** A step of the kind, drawn until it differs, gives one of its fields. */
function withOtherField(step: StepDraft, draw: Draw): StepDraft {
  for (let tries = 0; tries < 8; tries += 1) {
    const other = draftOf(step.kind as StepKind, draw) as unknown as Readonly<Record<string, unknown>>
    const own = step as unknown as Readonly<Record<string, unknown>>
    const names = [...new Set([...Object.keys(own), ...Object.keys(other)])].filter(
      (name) => JSON.stringify(own[name]) !== JSON.stringify(other[name]),
    )
    if (names.length === 0) continue
    const name = draw.one(...names) as string
    const taken = together.find((group) => group.includes(name)) ?? [name]
    const kept = Object.entries(own).filter(([each]) => !taken.includes(each))
    const got = Object.entries(other).filter(([each]) => taken.includes(each))
    return Object.fromEntries([...kept, ...got]) as unknown as StepDraft
  }
  return step
}

/**
 * Whether what a request saw may differ so where the change has this risk. Neutral: nobody is refused or let in, and backends, services and the engine get the same. `closes` and `breaking`: no
 * backend, service or engine is reached by a request that was kept from it.
 */
export function isAllowed(risk: Risk, before: Trace, after: Trace): boolean {
  if (risk === "opens") return true
  const reached = (trace: Trace) =>
    trace.events.some((event) => event.startsWith("main ") || event.startsWith("other "))
  if (risk !== "neutral") return reached(before) || !reached(after)
  const [old, next] = [shownTo(before), shownTo(after)]
  const isKept = (event: string) => next.has(event) || event.startsWith("service ")
  return (
    before.answer.status === after.answer.status &&
    [...next].every((event) => old.has(event)) &&
    [...old].every(isKept)
  )
}

/** What backends get, however often, and services, without what says nothing about rights (compiler/analysis/message-rules.ts). That a service gets less is no matter. */
function shownTo({ events }: Trace): ReadonlySet<string> {
  return new Set(
    events.map((event) =>
      event.replace(/"(?:accept[a-z-]*|cache-control|pragma|x-correlation-id): [^"]*",?/g, ""),
    ),
  )
}
