import type { Step } from "../../../runtime/plan/steps.ts"
import type { Element } from "../ast.ts"
import type { Unit } from "./units.ts"

/** Limits that count in a counter which another one before them has: in a document those of one key and period count together wherever they stand, and statements count by the block they are in. */
export function sharingCounters(units: readonly Unit[]): Element[] {
  const seen = new Set<string>()
  return limitsIn(units).flatMap(({ counter, element }) => {
    if (seen.has(counter)) return [element]
    seen.add(counter)
    return []
  })
}

interface Limit {
  readonly counter: string
  readonly element: Element
}

function limitsIn(units: readonly Unit[]): Limit[] {
  return units.flatMap((unit): Limit[] => {
    if (unit.kind === "comment") return []
    if (unit.kind === "loss") return limitsIn(unit.branch === undefined ? [] : [unit.branch.rest])
    const { element, steps, blocks } = unit
    return [
      ...steps.flatMap((step) => counterOf(step).map((counter) => ({ counter, element }))),
      ...blocks.flatMap((block) => limitsIn(block.units)),
    ]
  })
}

function counterOf(step: Step): string[] {
  switch (step.kind) {
    case "rate-limit":
    case "quota":
      return [JSON.stringify([step.counter, step.periodSeconds, step.keys])]
    case "limit-concurrency":
      return [JSON.stringify([step.counter, step.key])]
    default:
      return []
  }
}
