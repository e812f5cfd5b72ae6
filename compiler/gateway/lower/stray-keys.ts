import type { ShownCredential } from "../../../runtime/plan/step-values.ts"
import { isAuth, isCredential, shownTo } from "../../../runtime/plan/steps.ts"
import type { RouteSource } from "../routes.ts"
import type { LoweredRoute } from "./route.ts"
import { idsOf, type Lowered, type PlanSteps } from "./step.ts"

/** The places of an API where clients send keys that the backend must not see. */
interface KeyPlaces {
  /** By header or query name; the value is the `file:line` of the `auth` that declares it. */
  readonly header: Map<string, string>
  readonly query: Map<string, string>
}

/**
 * A client sends its subscription key with every call to an API, also to an operation that does not demand it (`auth none`, or a token). In
 * such operations a first step removes the key, so that it is not forwarded. This covers all places where the API accepts keys. With
 * `forward`, the key is forwarded.
 */
export function dropStrayKeys(
  routes: ReadonlyMap<RouteSource, LoweredRoute>,
  steps: PlanSteps,
): Map<RouteSource, LoweredRoute> {
  const places = new Map<string, KeyPlaces>()
  for (const { route, inbound } of routes.values()) {
    for (const [{ header, query, forward }, { origin }] of shownKeys(inbound, steps)) {
      if (forward) continue
      const known = places.get(route.api) ?? { header: new Map(), query: new Map() }
      places.set(route.api, known)
      if (header !== null) known.header.set(header, known.header.get(header) ?? origin)
      if (query !== null) known.query.set(query, known.query.get(query) ?? origin)
    }
  }
  return new Map(
    [...routes].map(([source, lowered]) => [
      source,
      withDrops(lowered, places.get(lowered.route.api), steps),
    ]),
  )
}

/** Adds steps that remove keys from the request. Routes without a backend send nothing, so they need none. */
function withDrops(lowered: LoweredRoute, places: KeyPlaces | undefined, steps: PlanSteps): LoweredRoute {
  if (places === undefined || lowered.backend.length === 0) return lowered
  const own = shownKeys(lowered.inbound, steps).map(([shown]) => shown)
  const drops: Lowered[] = []
  for (const [name, origin] of places.header) {
    if (own.some(({ header }) => header === name)) continue
    drops.push(
      steps.addFrom({ kind: "set-header", message: "request", action: "remove", name, values: [] }, origin),
    )
  }
  for (const [name, origin] of places.query) {
    if (own.some(({ query }) => query === name)) continue
    drops.push(steps.addFrom({ kind: "set-query", action: "remove", name, values: [] }, origin))
  }
  if (drops.length === 0) return lowered
  drops.sort((a, b) => (a.id < b.id ? -1 : 1))
  const inbound = [...drops, ...lowered.inbound]
  const { route } = lowered
  return {
    ...lowered,
    inbound,
    route: { ...route, sections: { ...route.sections, inbound: idsOf(inbound) } },
  }
}

type ShownKey = Extract<ShownCredential, { readonly is: "key" }>

/** The keys that a list of steps reads, each with its step. Includes keys that are one of several ways to authenticate. */
function shownKeys(list: readonly Lowered[], steps: PlanSteps): [ShownKey, Lowered][] {
  return list.flatMap((use): [ShownKey, Lowered][] => {
    const step = steps.get(use.id)
    if (step === undefined || !isAuth(step)) return []
    if (!isCredential(step)) return shownKeys(use.inside["steps"] ?? [], steps)
    const shown = shownTo(step)
    return shown.is === "key" ? [[shown, use]] : []
  })
}
