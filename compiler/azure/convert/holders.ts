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

/** The child elements that are policies or contain some, without those that only hold settings. */
export function heldBy(element: Element): Element[] {
  const isValue = element.name === "value" && elementsOf(element).length > 0
  return holders.has(element.name) || isValue ? elementsOf(element) : []
}

/** An element and all policies inside it. */
export function policiesIn(element: Element): Element[] {
  return [element, ...heldBy(element).flatMap(policiesIn)]
}
