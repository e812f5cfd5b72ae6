import { type NestedSteps, nestedSteps } from "../../runtime/plan/nested-steps.ts"
import type { BlockStep, StepId } from "../../runtime/plan/steps.ts"
import { same } from "../analysis/same.ts"
import { blockTextOf } from "../gateway/step-texts.ts"
import { align } from "./align.ts"

/** A list inside of a step, before and after; `place` is the field that holds it: `matched`, `branches.1`. */
export interface InsidePair {
  readonly place: string
  /** Where it stands, for people: `else of when (…)`. */
  readonly words: string
  readonly before: readonly StepId[]
  readonly after: readonly StepId[]
}

/** The lists of two steps of one kind. Branches of `parallel` have no names: equal ones belong together, then the others in their order. */
export function insidePairs(old: BlockStep, next: BlockStep): InsidePair[] {
  const [before, after] = [nestedSteps(old), nestedSteps(next)]
  if (next.kind !== "parallel")
    return after.map(({ place, steps }, at) => ({
      place,
      words: blockTextOf(next).place(next, place),
      before: before[at]?.steps ?? [],
      after: steps,
    }))
  const keys = (lists: readonly NestedSteps[]) => lists.map(({ steps }) => steps.join())
  const equal = align(keys(before), keys(after))
  const rest = (lists: readonly NestedSteps[], side: 0 | 1) =>
    lists.filter((_, at) => !equal.some((pair) => pair[side] === at))
  const [gone, come] = [rest(before, 0), rest(after, 1)]
  return Array.from({ length: Math.max(gone.length, come.length) }, (_, at) => {
    const place = (come[at] ?? gone[at])?.place ?? ""
    return {
      place,
      words: blockTextOf(next).place(next, place),
      before: gone[at]?.steps ?? [],
      after: come[at]?.steps ?? [],
    }
  })
}

/** Whether two steps say the same, but for what stands inside of them. */
export function sameButInside(old: BlockStep, next: BlockStep): boolean {
  return same(withoutLists(old), withoutLists(next))
}

function withoutLists(step: BlockStep): object {
  const lists = new Set(nestedSteps(step).map(({ place }) => place.split(".")[0]))
  return Object.fromEntries(Object.entries(step).filter(([name]) => !lists.has(name)))
}
