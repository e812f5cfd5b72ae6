import type { Element, PolicyNode } from "../ast.ts"
import { lowered, orLoss, type Site, stepOf, translated } from "./lowering.ts"
import { printStep } from "./print-step.ts"
import { unitsOf } from "./section.ts"
import { refuse } from "./translation.ts"
import type { Unit } from "./units.ts"

/** `inbound`, and what gateway.conf says outside of it: the first `cors`, which runs before everything in both. */
export function scopedOf(element: Element, site: Site): { scope: Unit[]; inbound: Unit[] } {
  const scope: Unit[] = []
  const inbound: Unit[] = []
  let comments: PolicyNode[] = []
  for (const node of element.children) {
    if (node.kind === "comment") {
      comments.push(node)
      continue
    }
    const isShared =
      node.kind === "element" && node.name === "cors" && !scope.some(({ kind }) => kind !== "comment")
    if (isShared) scope.push(...unitsOf(comments, site), ...orLoss(node, site, () => corsOf(node, site)))
    else inbound.push(...unitsOf([...comments, node], site))
    comments = []
  }
  return { scope, inbound: [...inbound, ...unitsOf(comments, site)] }
}

function corsOf(element: Element, site: Site): Unit[] {
  const steps = lowered(element, site).map((each) => translated(stepOf(each, site), element, site))
  if (steps.length === 0) return refuse("it has no effect here")
  return [{ kind: "statement", element, steps, lines: steps.flatMap(printStep), blocks: [] }]
}
