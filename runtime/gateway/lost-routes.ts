import type { Plan } from "../plan/plan.ts"
import type { Route } from "../plan/resources.ts"
import { HostRoutes } from "./host-routes.ts"
import type { Loss, LostRoute } from "./request-explanation.ts"
import { foldedSegment, type Match, type Matchable, Routes } from "./routes.ts"

/** What was asked for: `path` is canonical. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly authority: string
}

const lostMax = 20

/** How near a route is: those a person means most likely come first. */
const nearness: readonly Loss[] = ["protection", "host", "less-specific", "method", "look-alike"]

/** The routes that could be meant by a request and do not answer it, the nearest first, with the reason of each. `chosen` is the key of the one that does. */
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
export function whyMatched(match: Match<Matchable>, lost: readonly LostRoute[]): string {
  if (match.kind === "found") {
    const less = lost.some(({ loss }) => loss === "less-specific")
    return less ? "it is the most specific route that fits" : "it is the only route that fits"
  }
  if (match.kind === "method") return `the path is there for other methods only (${match.allow})`
  if (match.alike)
    return "the path differs only by case from one that is protected otherwise: nothing less specific may answer it"
  return lost.some(({ loss }) => loss === "host") ? "no route fits on this host" : "no route has this path"
}

function lossOf(route: Route, asked: Asked, winner: Route | undefined): [Loss, string] | undefined {
  const { method, path, authority } = asked
  const matchable = { method: route.method, path: route.path, protection: "", hosts: route.hosts }
  const onPath = alone(matchable).find(method, path)
  if (onPath.kind === "none")
    return looksAlike(route.path, path)
      ? ["look-alike", `its path \`${route.path}\` differs by upper and lower case`]
      : undefined
  const hosts = new HostRoutes<typeof matchable>()
  hosts.add(matchable)
  if (hosts.find(method, path, authority).kind === "none")
    return ["host", `it is served on ${route.hosts?.join(", ")}, not on \`${authority}\``]
  if (onPath.kind === "method") return ["method", `it answers ${route.method}, not ${method}`]
  if (winner === undefined)
    return [
      "protection",
      "a more specific path, or host, has other methods and is protected otherwise: going past it would be a way around that",
    ]
  return ["less-specific", lessSpecific(route, winner, method)]
}

function alone(route: Matchable): Routes<Matchable> {
  const routes = new Routes<Matchable>()
  routes.add(route)
  return routes
}

function lessSpecific(route: Route, winner: Route, method: string): string {
  if (winner.hosts !== undefined && route.hosts?.join() !== winner.hosts.join())
    return route.hosts === undefined
      ? "it is served on every host; routes of the host itself go first"
      : "its host pattern is less specific"
  const own = segmentsOf(route.path)
  const others = segmentsOf(winner.path)
  for (let at = 0; at < Math.max(own.length, others.length); at += 1) {
    const [mine, theirs] = [kindOf(own[at]), kindOf(others[at])]
    if (mine !== theirs) return `its \`${own[at] ?? ""}\` is ${mine}; ${theirs} goes first`
  }
  if (route.method !== winner.method)
    return `its method is ${route.method}; ${winner.method} goes first for ${method}`
  return "another route is more specific"
}

function kindOf(segment: string | undefined): string {
  if (segment === undefined) return "the end of the path"
  if (!segment.startsWith("{")) return "literal text"
  return segment.endsWith("*}") ? "the rest of a path" : "a parameter"
}

function looksAlike(pattern: string, path: string): boolean {
  const own = segmentsOf(pattern)
  const asked = segmentsOf(path)
  const tail = own.at(-1)?.endsWith("*}") === true
  if (tail ? asked.length < own.length - 1 : asked.length !== own.length) return false
  return own.every(
    (segment, at) => segment.startsWith("{") || foldedSegment(segment) === foldedSegment(asked[at] ?? ""),
  )
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "")
}
