import { canonicalJson } from "../../runtime/plan/canonical.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import { byText } from "../analysis/same.ts"
import { countWords, listWords, routeWords } from "../analysis/words.ts"
import type { Change, ChangeScope } from "./change.ts"
import type { UnplacedChange } from "./unplaced-change.ts"

/** A change found on one route. */
export interface RouteDraft {
  readonly api: string
  readonly version: string | null
  /** Key of the route in the new plan; for a removed route, in the old plan. */
  readonly route: string
  readonly change: Pick<
    Change,
    "risk" | "action" | "subject" | "path" | "before" | "after" | "why" | "reasons"
  >
}

/** All routes of an API, so that a change can say "all". */
export interface Population {
  readonly api: string
  readonly version: string | null
  readonly route: string
}

/** Combines equal changes of several routes to one change: of the API, or of the gateway if it affects several APIs. */
export function gather(drafts: readonly RouteDraft[], population: readonly Population[]): UnplacedChange[] {
  const groups = new Map<string, RouteDraft[]>()
  for (const draft of drafts) {
    const { path: _, ...content } = draft.change
    const key = canonicalJson(content)
    const known = groups.get(key)
    if (known === undefined) groups.set(key, [draft])
    else known.push(draft)
  }
  return [...groups.values()].map((group) => {
    const ordered = [...group].sort((a, b) => byText(a.route, b.route))
    const [first] = ordered as [RouteDraft]
    const routes = [...new Set(ordered.map(({ route }) => route))]
    const apis = [...new Set(group.map(({ api }) => api))].sort()
    return {
      ...first.change,
      danger: false,
      scope: scopeOf(apis),
      routes,
      where: extentOf(group, routes, population),
    }
  })
}

function scopeOf(apis: readonly string[]): ChangeScope {
  const [only] = apis
  return apis.length === 1 && only !== undefined ? { kind: "api", name: only } : { kind: "gateway", name: "" }
}

/** `all 10 routes of orders`, `all 5 routes of orders v1`, `2 of 10 routes of orders: GET /a and GET /b`, `GET /v1/orders`. */
function extentOf(
  group: readonly RouteDraft[],
  routes: readonly string[],
  population: readonly Population[],
): string {
  const apis = [...new Set(group.map(({ api }) => api))].sort()
  const known = population.filter(({ api }) => apis.includes(api))
  const [only] = routes
  if (routes.length === 1 && only !== undefined) return routeWords(only)
  const names = listWords(apis)
  if (routes.length === population.length && apis.length > 1)
    return `all ${countWords(routes.length, "route")}`
  if (routes.length === known.length) return `all ${routes.length} routes of ${names}`
  const versions = [...new Set(group.map(({ version }) => version))]
  const inVersions = known.filter(({ version }) => versions.includes(version))
  if (apis.length === 1 && routes.length === inVersions.length)
    return `all ${routes.length} routes of ${names} ${listWords(versions.map((version) => version ?? "without version"))}`
  return `${routes.length} of ${countWords(known.length, "route")} of ${names}: ${listWords(routes.map(routeWords), 3)}`
}

/** The routes of a plan by API. */
export function populationOf(routes: Readonly<Record<string, Route>>): Population[] {
  return Object.entries(routes).map(([key, { api, version }]) => ({ api, version, route: key }))
}
