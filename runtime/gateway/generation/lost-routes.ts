import type { Plan } from "../../plan/plan.ts"
import type { Route } from "../../plan/resources.ts"
import { compareSegments, pathTemplates, type SegmentTemplate } from "../../plan/segment-template.ts"
import type { Loss, LostRoute } from "../explain/request-explanation.ts"
import { foldedSegment } from "../routes/folded-segment.ts"
import { HostRoutes } from "../routes/host-routes.ts"
import { MixedSegment } from "../routes/mixed-segment.ts"
import type { Matchable } from "../routes/route-tree.ts"
import { type HostMatch, Routes } from "../routes/routes.ts"

/** The request to match; `path` is canonical. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly authority: string
}

const lostMax = 20

/** Order of the similar routes: most likely the intended one first. */
const nearness: readonly Loss[] = ["protection", "host", "less-specific", "method", "look-alike"]

/**
 * The similar routes that do not match a request, most similar first, each with the reason. `chosen` is the key of the matching route, or of the one
 * that would match if its path had only one reading.
 */
export function lostRoutes(plan: Plan, asked: Asked, chosen: string | undefined): LostRoute[] {
  const lost: LostRoute[] = []
  const winner = chosen === undefined ? undefined : plan.plan.routes[chosen]
  for (const [key, route] of Object.entries(plan.plan.routes)) {
    if (key === chosen) continue
    const found = lossOf(route, asked, winner)
    if (found === undefined) continue
    const [loss, why] = found
    lost.push({ route: key, place: plan.origins[`routes.${key}`] ?? "", loss, why })
  }
  lost.sort((a, b) => nearness.indexOf(a.loss) - nearness.indexOf(b.loss))
  return lost.slice(0, lostMax)
}

/** Why the matcher decided as it did. */
export function whyMatched(match: HostMatch<Matchable>, lost: readonly LostRoute[]): string {
  if (match.kind === "found") {
    const less = lost.some(({ loss }) => loss === "less-specific")
    return less ? "it is the most specific route that matches" : "it is the only route that matches"
  }
  if (match.kind === "unclear")
    return `the parameters of \`${match.route.path}\` are ambiguous: the text between them occurs more than once`
  if (match.kind === "unread") return `no route may serve the path: ${match.cause}`
  if (match.kind === "method") return `the path exists only for other methods (${match.allow})`
  if (match.alike)
    return "the path differs only by case, or by an empty parameter, from one with other protection: no less specific route may serve it"
  return lost.some(({ loss }) => loss === "host") ? "no route matches on this host" : "no route has this path"
}

/** Why a route does not serve the request; undefined if it is not near enough to be interesting. */
function lossOf(route: Route, asked: Asked, winner: Route | undefined): [Loss, string] | undefined {
  const { method, path, authority } = asked
  const matchable = { method: route.method, path: route.path, protection: "", hosts: route.hosts }
  const onPath = alone(matchable).find(method, path)
  if (onPath.kind === "none")
    return looksAlike(route.path, path)
      ? ["look-alike", `its path \`${route.path}\` differs by upper and lower case${orEmpty(route.path)}`]
      : undefined
  const hosts = new HostRoutes<typeof matchable>()
  hosts.add(matchable)
  if (hosts.find(method, path, authority).kind === "none")
    return ["host", `it is served on ${route.hosts?.join(", ")}, not on \`${authority}\``]
  if (onPath.kind === "method") return ["method", `it serves ${route.method}, not ${method}`]
  if (winner === undefined)
    return [
      "protection",
      "a more specific path or host has other methods and other protection: this route would bypass that protection",
    ]
  return ["less-specific", lessSpecific(route, winner, method)]
}

function alone(route: Matchable): Routes<Matchable> {
  const routes = new Routes<Matchable>()
  routes.add(route)
  return routes
}

/** Why another route comes first. */
function lessSpecific(route: Route, winner: Route, method: string): string {
  if (winner.hosts !== undefined && route.hosts?.join() !== winner.hosts.join())
    return route.hosts === undefined
      ? "it is served on every host; routes of the exact host take precedence"
      : "its host pattern is less specific"
  const own = pathTemplates(route.path) ?? []
  const others = pathTemplates(winner.path) ?? []
  for (let at = 0; at < Math.max(own.length, others.length); at += 1) {
    const [mine, theirs] = [own[at], others[at]]
    const words = [kindOf(mine), kindOf(theirs)] as const
    const segment = segmentsOf(route.path)[at] ?? ""
    if (words[0] !== words[1]) return `its \`${segment}\` is ${words[0]}; ${words[1]} takes precedence`
    if (mine !== undefined && theirs !== undefined && compareSegments(mine, theirs) > 0)
      return `its \`${segment}\` has less literal text than \`${segmentsOf(winner.path)[at]}\``
  }
  if (route.method !== winner.method)
    return `its method is ${route.method}; ${winner.method} takes precedence for ${method}`
  return "another route is more specific"
}

const kindWords: Readonly<Record<SegmentTemplate["kind"], string>> = {
  static: "literal text",
  mixed: "literal text with parameters",
  parameter: "a parameter",
  tail: "the rest of a path",
}

function kindOf(segment: SegmentTemplate | undefined): string {
  return segment === undefined ? "the end of the path" : kindWords[segment.kind]
}

function orEmpty(path: string): string {
  const some = pathTemplates(path)?.some(({ kind }) => kind === "mixed") === true
  return some ? ", or by an empty parameter" : ""
}

/** Whether the path would match without regard to letter case and escapes. */
function looksAlike(pattern: string, path: string): boolean {
  const own = pathTemplates(pattern) ?? []
  const asked = segmentsOf(path)
  const tail = own.at(-1)?.kind === "tail"
  if (tail ? asked.length < own.length - 1 : asked.length !== own.length) return false
  return own.every((template, at) => {
    const folded = foldedSegment(asked[at] ?? "")
    if (template.kind === "mixed") return new MixedSegment(template).resembles(folded)
    return template.kind !== "static" || foldedSegment(template.literals[0] as string) === folded
  })
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "")
}
