import type { PlanBody } from "../../runtime/plan/plan.ts"
import { breaking } from "../analysis/finding.ts"
import { countWords } from "../analysis/words.ts"
import { changeOf, type UnplacedChange } from "./unplaced-change.ts"

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
export function compareSizes(before: PlanBody, after: PlanBody): UnplacedChange[] {
  return counted.flatMap(({ noun, count }) => {
    const [old, next] = [count(before), count(after)]
    const why = suspicion(noun, old, next)
    if (why === undefined) return []
    const change = changeOf(
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
  if (old > 0 && next === 0) return `the plan no longer has any ${noun}`
  if (old >= shareFrom && next * 2 < old)
    return `the plan loses more than half of its ${noun}s: check that no file or include is missing`
  if (old >= growthFrom && next >= old * 2)
    return `the plan has at least twice as many ${noun}s: check that nothing is declared twice`
  return undefined
}
