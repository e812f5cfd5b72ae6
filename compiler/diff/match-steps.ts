import type { PlanBody } from "../../runtime/plan/plan.ts"
import { holdsBlocks, nestedSteps, type StepId } from "../../runtime/plan/steps.ts"
import { textOf } from "../gateway/step-texts.ts"
import { align } from "./align.ts"

/** A step that is in both lists, possibly changed: `before` and `after` are positions. `stays`: unchanged and in order. */
export interface StepPair {
  readonly before: number
  readonly after: number
  readonly stays: boolean
}

/**
 * The result of matching two lists of steps. Wrapped: a step is now inside of a new `when`, `retry` or similar step. Unwrapped: the
 * reverse.
 */
export interface StepMatch {
  readonly pairs: readonly StepPair[]
  readonly removed: readonly number[]
  readonly added: readonly number[]
  readonly wrapped: readonly StepPair[]
  readonly unwrapped: readonly StepPair[]
}

type Steps = PlanBody["steps"]

/** Matches the steps of two lists: first equal steps, as many as possible in order, then steps that most likely are the same statement. */
export function matchSteps(
  before: readonly StepId[],
  after: readonly StepId[],
  stepsBefore: Steps,
  stepsAfter: Steps,
): StepMatch {
  const aligned = align(before, after)
  const pairs: StepPair[] = aligned.map(([a, b]) => ({ before: a, after: b, stays: true }))
  const removed = new Set(before.keys())
  const added = new Set(after.keys())
  for (const [a, b] of aligned) {
    removed.delete(a)
    added.delete(b)
  }
  const pair = (a: number, b: number) => {
    removed.delete(a)
    added.delete(b)
    pairs.push({ before: a, after: b, stays: false })
  }
  for (const a of [...removed]) {
    const b = [...added].find((at) => after[at] === before[a])
    if (b !== undefined) pair(a, b)
  }
  const identitiesOf = (ids: readonly StepId[], steps: Steps) =>
    ids.map((id) => (steps[id] === undefined ? [] : textOf(steps[id]).identities(steps[id])))
  const [old, next] = [identitiesOf(before, stepsBefore), identitiesOf(after, stepsAfter)]
  for (let level = 0; level < levelsMax; level += 1) {
    for (const a of [...removed]) {
      const identity = old[a]?.[level]
      const b = identity === undefined ? undefined : [...added].find((at) => next[at]?.[level] === identity)
      if (b !== undefined) pair(a, b)
    }
  }
  const wrapped = takeContained(removed, before, added, after, stepsAfter)
  const unwrapped = takeContained(added, after, removed, before, stepsBefore).map((each) => ({
    ...each,
    before: each.after,
    after: each.before,
  }))
  return { pairs, removed: [...removed], added: [...added], wrapped, unwrapped }
}

/** Removes from `from` the steps that are now inside of a step of `into`, and each such outer step that contains nothing else. */
function takeContained(
  from: Set<number>,
  ids: readonly StepId[],
  into: Set<number>,
  holders: readonly StepId[],
  steps: Steps,
): StepPair[] {
  const taken: StepPair[] = []
  for (const at of [...into]) {
    const step = steps[holders[at] ?? ""]
    if (!holdsBlocks(step)) continue
    const children = nestedSteps(step).flatMap((list) => list.steps)
    const inside = [...from].filter((each) => children.includes(ids[each] ?? ""))
    for (const each of inside) {
      from.delete(each)
      taken.push({ before: each, after: at, stays: false })
    }
    if (inside.length > 0 && children.every((child) => inside.some((each) => ids[each] === child)))
      into.delete(at)
  }
  return taken
}

const levelsMax = 5
