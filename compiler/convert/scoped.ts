import type { Element, Node } from "../policy/ast.ts"
import { lossOf, lowered, type Site, translated } from "./lowering.ts"
import { printStep } from "./print-step.ts"
import { unitsOf } from "./section.ts"
import { NoCounterpart, refuse } from "./translation.ts"
import type { Unit } from "./units.ts"

/** `inbound`, and what gateway.conf says outside of it: the first `cors`, which runs before everything in both. */
export function scopedOf(element: Element, site: Site): { scope: Unit[]; inbound: Unit[] } {
  const scope: Unit[] = []
  const inbound: Unit[] = []
  let comments: Node[] = []
  for (const node of element.children) {
    if (node.kind === "comment") {
      comments.push(node)
      continue
    }
    const isShared =
      node.kind === "element" && node.name === "cors" && !scope.some(({ kind }) => kind !== "comment")
    if (isShared) scope.push(...unitsOf(comments, site), corsOf(node, site))
    else inbound.push(...unitsOf([...comments, node], site))
    comments = []
  }
  return { scope, inbound: [...inbound, ...unitsOf(comments, site)] }
}

function corsOf(element: Element, site: Site): Unit {
  try {
    const refusal = site.refused.get(element)
    if (refusal !== undefined) return lossOf(element, refusal, site)
    const steps = lowered(element, site).flatMap(({ id }) => {
      const step = site.surroundings.stepOf(id)
      return step === undefined ? [] : [translated(step, element, site)]
    })
    if (steps.length === 0) return refuse("it has no effect here")
    return { kind: "statement", element, steps, lines: steps.flatMap(printStep), blocks: [] }
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error
    return lossOf(element, error.message, site)
  }
}
