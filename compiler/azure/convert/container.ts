import { holdsBlocks, type Step } from "../../../runtime/plan/steps.ts"
import { type Element, elementsOf, type PolicyNode } from "../ast.ts"
import { headersOf, type Site, translated } from "./lowering.ts"
import { headOf } from "./print-step.ts"
import { none, refuse } from "./translation.ts"
import type { ConvertedBlock, ConvertedStatement, Unit } from "./units.ts"

/** Converts the content of a container. */
export type Inner = (nodes: readonly PolicyNode[], site: Site) => Unit[]

/** Converts `retry`, `wait`, `limit-concurrency` and `cache-value`. @throws NoCounterpart */
export function containerOf(element: Element, site: Site, unitsOf: Inner): ConvertedStatement {
  const [header] = headersOf(element, site)
  if (header === undefined) return refuse("it has no effect here")
  if (element.name === "retry" && elementsOf(element).length === 0) return none("a `retry` that only waits")
  const step = translated(header, element, site)
  const inner =
    (element.name === "cache-value" ? elementsOf(element).find(({ name }) => name === "value") : undefined) ??
    element
  if (step.kind !== "parallel") {
    const units = unitsOf(inner.children, site)
    return { kind: "statement", element, steps: [step], lines: [], blocks: [{ open: openOf(step), units }] }
  }
  const branches = inner.children.flatMap((child): ConvertedBlock[] => {
    const units = unitsOf([child], site)
    return units.length === 0 ? [] : [{ open: "branch {", units }]
  })
  return {
    kind: "statement",
    element,
    steps: [step],
    lines: [openOf(step)],
    blocks: merged(branches),
  }
}

/** A comment between branches belongs to the next branch. */
function merged(branches: readonly ConvertedBlock[]): ConvertedBlock[] {
  const made: ConvertedBlock[] = []
  let comments: Unit[] = []
  for (const branch of branches) {
    if (branch.units.every(({ kind }) => kind === "comment")) comments.push(...branch.units)
    else {
      made.push({ ...branch, units: [...comments, ...branch.units] })
      comments = []
    }
  }
  return made
}

function openOf(step: Step): string {
  return `${holdsBlocks(step) ? headOf(step) : none(`\`${step.kind}\``)} {`
}
