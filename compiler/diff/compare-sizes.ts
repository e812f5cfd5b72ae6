import type { PlanBody } from "../../runtime/plan/plan.ts"
import { breaking } from "../analysis/finding.ts"
import { countWords } from "../analysis/words.ts"
import { type Told, tell } from "./told.ts"

const counted: readonly { noun: string; count(body: PlanBody): number }[] = [
  { noun: "API", count: ({ routes }) => new Set(Object.values(routes).map(({ api }) => api)).size },
  { noun: "route", count: ({ routes }) => Object.keys(routes).length },
  { noun: "subscription", count: ({ subscriptions }) => Object.keys(subscriptions).length },
  { noun: "store", count: ({ authz }) => Object.keys(authz?.stores ?? {}).length },
]

/** With fewer items than this, a share has no significance. */
const shareFrom = 4
const growthFrom = 10

/**
 * Reports a plan that is empty, or much smaller or larger than the previous one. This usually means that the text was generated
 * incompletely, or twice. Such plans have caused large outages although each single line looked right.
 */
export function compareSizes(before: PlanBody, after: PlanBody): Told[] {
  return counted.flatMap(({ noun, count }) => {
    const [old, next] = [count(before), count(after)]
    const why = suspicion(noun, old, next)
    if (why === undefined) return []
    const change = tell(
      {
        action: "changed",
        subject: { kind: "plan", name: `${noun}s` },
        scope: { kind: "plan", name: "" },
        path: "",
        before: countWords(old, noun),
        after: countWords(next, noun),
      },
      breaking(why),
    )
    return [{ ...change, danger: true }]
  })
}

function suspicion(noun: string, old: number, next: number): string | undefined {
  if (old > 0 && next === 0) return `the plan has no ${noun} any more`
  if (old >= shareFrom && next * 2 < old)
    return `the plan loses more than half of its ${noun}s: check that nothing is missing in its text`
  if (old >= growthFrom && next >= old * 2)
    return `the plan has twice as many ${noun}s or more: check that nothing is in its text twice`
  return undefined
}
