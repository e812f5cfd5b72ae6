import { expressionReads } from "../../runtime/expression/reads.ts"
import type { End, StepFacts } from "../../runtime/plan/facts.ts"
import type { Place } from "../../runtime/plan/places.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import { expressionsOf, factsOf, nestedSteps, type Step } from "../../runtime/plan/steps.ts"
import type { Expression } from "../../runtime/plan/text.ts"
import { csharpReads } from "./csharp-reads.ts"

type Steps = PlanBody["steps"]

/**
 * How a step can end its section. Its facts give some ends, its expressions the others: `no-value` and `no-fit` are the same failure (400)
 * if there is no response yet, `csharp` is also one failure (500).
 */
export type Ending = End | "no-value" | "no-fit" | "csharp"

/** All effects of a step, including those of its expressions and of the steps inside it. */
export interface Touch {
  readonly reads: ReadonlySet<Place>
  readonly writes: ReadonlySet<Place>
  readonly leaves: ReadonlySet<Place>
  readonly ends: ReadonlySet<Ending>
  /** Read when the exchange is over. */
  readonly late: ReadonlySet<Place>
  readonly waits: boolean
  readonly fence: boolean
}

const known = new WeakMap<Steps, Map<Step, Touch>>()

/** The effects of a step, computed once for each step of a plan. */
export function touchOf(step: Step, steps: Steps): Touch {
  let touches = known.get(steps)
  if (touches === undefined) {
    touches = new Map()
    known.set(steps, touches)
  }
  let touch = touches.get(step)
  if (touch === undefined) {
    touch = joinedTouch([ownTouch(step), ...inside(step, steps).map((each) => touchOf(each, steps))])
    touches.set(step, touch)
  }
  return touch
}

/** The steps directly inside a step. */
export function inside(step: Step, steps: Steps): Step[] {
  return nestedSteps(step).flatMap((list) => list.steps.flatMap((id) => steps[id] ?? []))
}

/** The combined effects of several steps. */
export function joinedTouch(touches: readonly Touch[]): Touch {
  const all = <Key extends "reads" | "writes" | "leaves" | "ends" | "late">(key: Key) =>
    new Set(touches.flatMap((touch) => [...touch[key]])) as unknown as Touch[Key]
  return {
    reads: all("reads"),
    writes: all("writes"),
    leaves: all("leaves"),
    ends: all("ends"),
    late: all("late"),
    waits: touches.some(({ waits }) => waits),
    fence: touches.some(({ fence }) => fence),
  }
}

/** What a step itself reads and writes: its facts, and what its expressions use. */
function ownTouch(step: Step): Touch {
  const facts = factsOf(step)
  const reads = new Set(facts.reads)
  const writes = new Set(facts.writes)
  const leaves = new Set(facts.leaves)
  const ends = new Set<Ending>(facts.ends)
  const late = new Set(facts.late)
  for (const expression of expressionsOf(step)) {
    const used = useOf(expression, facts.fits)
    for (const place of used.reads) {
      reads.add(place)
      if (facts.late !== undefined) late.add(place)
    }
    for (const place of used.writes) writes.add(place)
    for (const place of used.leaves) leaves.add(place)
    for (const end of used.ends) ends.add(end)
  }
  const { waits = false, fence = false } = facts
  return { reads, writes, leaves, ends, late, waits, fence }
}

interface Use {
  readonly reads: readonly Place[]
  readonly writes: readonly Place[]
  readonly leaves: readonly Place[]
  readonly ends: readonly Ending[]
}

/** What an expression reads, and how it may fail. `fits`: the value must fit its place, e.g. a header, where it may fail too. */
function useOf(expression: Expression, fits: StepFacts["fits"]): Use {
  if (expression.lang === "cs")
    return {
      ...csharpReads(expression.program),
      ends: fits === undefined ? ["csharp"] : ["csharp", "no-fit"],
    }
  const { places, fails, isWord } = expressionReads(expression.text)
  const ends: Ending[] = fails === "never" ? [] : fails === "plainly" ? ["no-value"] : ["no-value", "fail"]
  if (fits === "narrow" || (fits === "header" && !isWord)) ends.push("no-fit")
  return { reads: places, writes: [], leaves: [], ends }
}
