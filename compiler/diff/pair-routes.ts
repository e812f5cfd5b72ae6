import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import { shapeOf } from "./route-cover.ts"

/** The same operation before and after, possibly under another key. */
export interface RoutePair {
  readonly keyBefore: string
  readonly key: string
  readonly before: Route
  readonly after: Route
}

/** The routes of two plans that are the same operation. */
export interface RoutePairs {
  readonly pairs: readonly RoutePair[]
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

type Routes = PlanBody["routes"]

/** Pairs routes by key, then by the requests they match, then by name in their API and version. */
export function pairRoutes(before: Routes, after: Routes): RoutePairs {
  const pairs: RoutePair[] = []
  const removed = new Map(Object.entries(before))
  const added = new Map(Object.entries(after))
  const pair = (keyBefore: string, key: string) => {
    const [old, next] = [removed.get(keyBefore), added.get(key)]
    if (old === undefined || next === undefined) return
    removed.delete(keyBefore)
    added.delete(key)
    pairs.push({ keyBefore, key, before: old, after: next })
  }
  // First exact keys, so that a later, weaker criterion cannot take a route away from its equal.
  for (const key of [...removed.keys()]) if (added.has(key)) pair(key, key)
  for (const nameOf of [shapeOf, operationOf]) {
    const named = namesOf(added, nameOf)
    for (const [name, keyBefore] of namesOf(removed, nameOf)) {
      const key = named.get(name)
      // A name that several routes have identifies none of them; pairing by chance could hide a change.
      if (key !== undefined && keyBefore !== undefined) pair(keyBefore, key)
    }
  }
  return { pairs, removed: [...removed.keys()].sort(), added: [...added.keys()].sort() }
}

/** Keys by name; undefined for a name that several routes have. */
function namesOf(
  routes: ReadonlyMap<string, Route>,
  nameOf: (route: Route) => string,
): Map<string, string | undefined> {
  const names = new Map<string, string | undefined>()
  for (const [key, route] of routes) {
    const name = nameOf(route)
    names.set(name, names.has(name) ? undefined : key)
  }
  return names
}

/** An operation keeps its name when its path or method changes. */
function operationOf({ api, version, operation }: Route): string {
  return JSON.stringify([api, version, operation])
}
