import { stepIdOf } from "../../../runtime/plan/canonical.ts"
import type { PlanBody } from "../../../runtime/plan/plan.ts"
import type { Outline, Route } from "../../../runtime/plan/resources.ts"
import type { RouteSource } from "../routes.ts"
import { requiredQuery } from "./described-place.ts"
import type { LoweredRoute } from "./route.ts"
import type { Lowered } from "./step.ts"

const sections = ["inbound", "backend", "outbound", "onError"] as const

/** The routes of a plan, with the elements of policy documents that their steps were made from. */
export function routeTables(
  lowered: ReadonlyMap<RouteSource, LoweredRoute>,
): Pick<PlanBody, "routes" | "outlines"> {
  const outlines = new Outlines()
  const routes = [...lowered].map(
    ([source, each]) => [source.key, { ...each.route, ...outlines.of(source, each) }] as const,
  )
  return { routes: Object.fromEntries(routes), ...outlines.table() }
}

/**
 * Which elements of policy documents the steps of routes were made from. Operations of one API usually share them, so each outline is in
 * the plan once.
 */
class Outlines {
  readonly #table = new Map<string, Outline>()
  /** Cached by the lowered steps: steps shared by many routes are described once. */
  readonly #known = new Map<string, string | undefined>()
  readonly #numbers = new WeakMap<Lowered, number>()
  #count = 0

  /**
   * The outline fields of a route; empty if no step comes from a document. Documents see required query parameters as part of the
   * operation's template.
   */
  of({ described }: RouteSource, lowered: LoweredRoute): Pick<Route, "outline" | "queryParameters"> {
    const key = sections.map((section) => this.#keyOf(lowered[section])).join("|")
    if (!this.#known.has(key)) this.#known.set(key, this.#make(lowered))
    const id = this.#known.get(key)
    if (id === undefined) return {}
    const query = described === undefined ? [] : requiredQuery(described)
    return { outline: id, ...(query.length === 0 ? {} : { queryParameters: query }) }
  }

  #keyOf(steps: readonly Lowered[]): string {
    let key = ""
    for (const step of steps) {
      const bare = step.element === undefined && Object.keys(step.inside).length === 0
      key += `${bare ? 0 : this.#numberOf(step)} `
    }
    return key
  }

  #numberOf(step: Lowered): number {
    const known = this.#numbers.get(step)
    if (known !== undefined) return known
    this.#numbers.set(step, ++this.#count)
    return this.#count
  }

  #make(lowered: LoweredRoute): string | undefined {
    const outline: Outline = {}
    for (const section of sections) collect(lowered[section], section, outline)
    if (Object.keys(outline).length === 0) return undefined
    const id = stepIdOf(outline)
    if (!this.#table.has(id)) this.#table.set(id, outline)
    return id
  }

  table(): Pick<PlanBody, "outlines"> {
    return this.#table.size === 0
      ? {}
      : { outlines: Object.fromEntries([...this.#table].sort(([a], [b]) => (a < b ? -1 : 1))) }
  }
}

function collect(steps: readonly Lowered[], at: string, found: Outline): void {
  for (const [index, { element, inside }] of steps.entries()) {
    if (element !== undefined) found[`${at}.${index}`] = element
    for (const [name, list] of Object.entries(inside)) collect(list, `${at}.${index}.${name}`, found)
  }
}
