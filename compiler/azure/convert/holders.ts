import { type Element, elementsOf } from "../ast.ts"

/** Elements whose children are policies. */
const holders: ReadonlySet<string> = new Set([
  "choose",
  "when",
  "otherwise",
  "retry",
  "wait",
  "limit-concurrency",
  "cache-value",
])

/** The elements among the children that are policies, or hold some; none of what only takes settings. */
export function heldBy(element: Element): Element[] {
  const isValue = element.name === "value" && elementsOf(element).length > 0
  return holders.has(element.name) || isValue ? elementsOf(element) : []
}

/** An element and all policies in it. */
export function policiesIn(element: Element): Element[] {
  return [element, ...heldBy(element).flatMap(policiesIn)]
}
