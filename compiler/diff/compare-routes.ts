import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { Route } from "../../runtime/plan/resources.ts"
import { type Finding, joined } from "../analysis/finding.ts"
import { listChanges } from "../analysis/same.ts"
import { countWords, listWords, routeWords } from "../analysis/words.ts"
import { ListComparison, sections, sectionWords } from "./compare-lists.ts"
import { gather, type Population, populationOf, type RouteDraft } from "./gather.ts"
import { pairRoutes, type RoutePair } from "./pair-routes.ts"
import { parametersOf, shapeOf } from "./route-cover.ts"
import { compareRouteFields, type FieldChange } from "./route-fields.ts"
import { RouteTurnover } from "./route-turnover.ts"
import { StepWords } from "./step-words.ts"
import type { UnplacedChange } from "./unplaced-change.ts"

const fieldNames: { readonly [Field in FieldChange["field"]]?: string } = {
  stripPrefix: "path of the backend",
  passes: "forms of paths",
  timeoutMs: "timeout",
}

/** Added and removed routes, and the differences of the others. */
export function compareRoutes(
  before: PlanBody,
  after: PlanBody,
  origins: Readonly<Record<string, string>>,
): UnplacedChange[] {
  const words = { before: new StepWords(before), after: new StepWords(after) }
  const { pairs, removed, added } = pairRoutes(before.routes, after.routes)
  const lists = new ListComparison(words.before, words.after, origins)
  const turnover = new RouteTurnover(words.before, words.after, lists)
  const drafts = pairs.flatMap((pair) => [
    ...fieldDrafts(pair, before, after, turnover),
    ...stepDrafts(pair, lists),
  ])
  const population: Population[] = pairs.map(({ key, after: { api, version } }) => ({
    api,
    version,
    route: key,
  }))
  return [
    ...gather(drafts, population),
    ...gather(turnover.removed(removed), populationOf(before.routes)).map(withRoutes),
    ...gather(turnover.added(added), populationOf(after.routes)).map(withRoutes),
  ]
}

/** Adds the route to the words of a change about single routes. */
function withRoutes(changes: UnplacedChange): UnplacedChange {
  if (changes.subject.kind !== "route") return changes
  const words = listWords(changes.routes.map(routeWords), 6)
  return {
    ...changes,
    subject: {
      kind: "route",
      name: changes.routes.length === 1 ? words : countWords(changes.routes.length, "route"),
    },
    where: "",
    ...(changes.action === "added" ? { after: words } : { before: words }),
  }
}

/** The changes of a route's steps. Those in sections that several routes share are reported once. */
function stepDrafts({ key, before, after }: RoutePair, lists: ListComparison): RouteDraft[] {
  const renamed = renamedParameters(before, after)
  return sections.flatMap((section) =>
    lists
      .compare(sectionWords[section], before.sections[section], after.sections[section], {
        renamed,
        routes: { before, after },
      })
      .filter((draft) => section === "inbound" || !lists.isSharing(draft, before, after))
      .map(({ kind, within, verdict, path, action, before: old, after: next }) =>
        draftOf(key, after, {
          action,
          subject: { kind, name: within },
          path: `routes.${key}.${path}`,
          before: old,
          after: next,
          ...verdict,
        }),
      ),
  )
}

/** Maps old names of path parameters to new ones, for a path that matches the same requests. */
function renamedParameters(before: Route, after: Route): Map<string, string> {
  if (before.path === after.path || shapeOf(before) !== shapeOf(after)) return new Map()
  const names = parametersOf(after)
  const pairs = parametersOf(before).map((name, at) => [name, names[at] ?? name] as const)
  return new Map(pairs.filter(([old, next]) => old !== next))
}

/** The changes of a route's own fields. A timeout that only follows the gateway's is reported there. */
function fieldDrafts(
  pair: RoutePair,
  before: PlanBody,
  after: PlanBody,
  turnover: RouteTurnover,
): RouteDraft[] {
  return compareRouteFields(pair.before, pair.after)
    .filter((change) => !isGatewayTimeout(change, pair, before, after))
    .map(({ field, before: old, after: next, findings, from }) => {
      return draftOf(pair.key, pair.after, {
        action: "changed",
        subject:
          field === "path"
            ? { kind: "api", name: pair.after.api }
            : { kind: "route", name: fieldNames[field] ?? field },
        path: from === undefined ? `routes.${pair.key}` : `routes.${pair.key}.${from}`,
        before: old,
        after: next,
        ...joined([...findings, ...turnoverOf(field, pair, turnover)]),
      })
    })
}

/**
 * For a route with another path or other hosts: which routes take the requests it no longer serves, and from which routes it takes new
 * ones.
 */
function turnoverOf(
  field: FieldChange["field"],
  { before, after }: RoutePair,
  turnover: RouteTurnover,
): Finding[] {
  if (field === "path" && shapeOf(before) !== shapeOf(after))
    return [...turnover.heirsOf(before), ...turnover.takenFrom(after)]
  if (field !== "hosts") return []
  const { removed, added } = listChanges(before.hosts ?? [], after.hosts ?? [])
  const old = after.hosts === undefined ? undefined : hostsWhere(before, removed)
  const next = hostsWhere(after, added)
  return [
    ...(old === undefined ? [] : turnover.heirsOf(old)),
    ...(next === undefined ? [] : turnover.takenFrom(next)),
  ]
}

/** The route restricted to these hosts; undefined if the list is empty. A route that serves every host stays unrestricted. */
function hostsWhere(route: Route, hosts: readonly string[]): Route | undefined {
  if (route.hosts === undefined) return { ...route }
  return hosts.length === 0 ? undefined : { ...route, hosts: [...hosts] }
}

/** The gateway's default timeout is reported once, for the gateway. */
function isGatewayTimeout(
  { field }: FieldChange,
  pair: RoutePair,
  before: PlanBody,
  after: PlanBody,
): boolean {
  const [old, next] = [before.gateway?.limits.timeoutMs, after.gateway?.limits.timeoutMs]
  return (
    field === "timeoutMs" && old !== next && pair.before.timeoutMs === old && pair.after.timeoutMs === next
  )
}

function draftOf(route: string, { api, version }: Route, change: RouteDraft["change"]): RouteDraft {
  return { route, api, version, change }
}
