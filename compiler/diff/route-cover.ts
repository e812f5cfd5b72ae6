import type { Route } from "../../runtime/plan/resources.ts"
import {
  compareSegments,
  firstReading,
  pathTemplates,
  type SegmentTemplate,
  shapeOfSegment,
} from "../../runtime/plan/segment-template.ts"
import { isGuard } from "../../runtime/plan/steps.ts"
import type { StepWords } from "./step-words.ts"

/** A route's key without the names of parameters: routes with equal shape match the same requests. */
export function shapeOf({ method, path, hosts = [] }: Route): string {
  return `${method} ${hosts.join(",")}/${segmentsOf(path).map(shapeOfSegment).join("/")}`
}

/** Names of the path parameters, in order. */
export function parametersOf({ path }: Route): string[] {
  return segmentsOf(path).flatMap(({ names }) => names)
}

/** A route with its key. */
export interface Known {
  readonly key: string
  readonly route: Route
}

interface Indexed extends Known {
  readonly segments: readonly SegmentTemplate[]
}

/** Finds the routes that match all, or some, of the requests of another route. */
export class RouteCover {
  /** By first segment. Routes whose first segment has a parameter are under the empty text. */
  readonly #byFirst = new Map<string, Indexed[]>()

  /** Routes by their first segment, so that the search for a covering route does not compare all pairs. */
  constructor(routes: Readonly<Record<string, Route>>) {
    for (const [key, route] of Object.entries(routes)) {
      const segments = segmentsOf(route.path)
      const first = firstOf(segments)
      const known = this.#byFirst.get(first)
      if (known === undefined) this.#byFirst.set(first, [{ route, key, segments }])
      else known.push({ route, key, segments })
    }
  }

  /** The most specific route that matches every request `route` matches; undefined when there is none. */
  of(route: Route): Known | undefined {
    const segments = segmentsOf(route.path)
    return this.#near(segments)
      .filter(
        (each) =>
          each.route !== route &&
          servesHostsOf(each.route, route) &&
          takes(each.route.method, route.method) &&
          covers(each.segments, segments),
      )
      .sort((a, b) => comparePaths(a.segments, b.segments) || (a.key < b.key ? -1 : 1))[0]
  }

  /**
   * Routes that match some of the requests of `route` and have lower precedence. Without routes with lower precedence than the result of
   * `of`: they get none of these requests.
   */
  behind(route: Route): Known[] {
    const segments = segmentsOf(route.path)
    const cover = this.of(route)
    return this.#near(segments).filter(
      (each) =>
        each.route !== route &&
        each.route !== cover?.route &&
        hostsMeet(each.route, route) &&
        methodsMeet(each.route.method, route.method) &&
        pathsMeet(each.segments, segments) &&
        goesBefore(route, each.route) &&
        !(cover !== undefined && goesBefore(cover.route, each.route)),
    )
  }

  /** Routes that match every path of `route`, have precedence over `later`, and do not take the methods of both. */
  sharing(route: Route, later: Route): Known[] {
    const segments = segmentsOf(route.path)
    const method = later.method === "*" ? route.method : later.method
    return this.#near(segments).filter(
      (each) =>
        hostsMeet(each.route, route) &&
        !takes(each.route.method, method) &&
        covers(each.segments, segments) &&
        goesBefore(each.route, later),
    )
  }

  /** Routes whose first segment may match the same text as the first one of `segments`. */
  #near(segments: readonly SegmentTemplate[]): Indexed[] {
    const first = firstOf(segments)
    if (first === "") return [...this.#byFirst.values()].flat()
    return [...(this.#byFirst.get(first) ?? []), ...(this.#byFirst.get("") ?? [])]
  }
}

/** The conditions that a route checks before it serves a caller, in words: `auth`, `limit`, `require`. */
export function guardsOf({ sections }: Route, words: StepWords): string[] {
  return sections.inbound.flatMap((id) => {
    const step = words.body.steps[id]
    return step !== undefined && isGuard(step) ? [words.of(id)] : []
  })
}

/** Whether a route serves every host, or at least all hosts of the other. */
function servesHostsOf({ hosts }: Route, other: Route): boolean {
  return hosts === undefined || (other.hosts?.every((host) => hosts.includes(host)) ?? false)
}

/** A host pattern may include any other host. */
function hostsMeet({ hosts }: Route, other: Route): boolean {
  if (hosts === undefined || other.hosts === undefined) return true
  const all = [...hosts, ...other.hosts]
  return all.some((host) => host.startsWith("*")) || hosts.some((host) => other.hosts?.includes(host))
}

function methodsMeet(one: string, other: string): boolean {
  return takes(one, other) || takes(other, one)
}

/** Whether `first` has precedence for requests that both match: by host, then by path, then by method. */
function goesBefore(first: Route, other: Route): boolean {
  if ((first.hosts === undefined) !== (other.hosts === undefined)) return first.hosts !== undefined
  const order = comparePaths(segmentsOf(first.path), segmentsOf(other.path))
  return order === 0 ? takes(other.method, first.method) : order < 0
}

/** GET also serves HEAD if no route for HEAD exists. */
function takes(general: string, specific: string): boolean {
  return general === "*" || general === specific || (general === "GET" && specific === "HEAD")
}

function segmentsOf(path: string): SegmentTemplate[] {
  return pathTemplates(path) ?? []
}

function firstOf([first]: readonly SegmentTemplate[]): string {
  return first?.kind === "static" ? `/${first.literals[0]}` : ""
}

function covers(general: readonly SegmentTemplate[], specific: readonly SegmentTemplate[]): boolean {
  for (const [at, segment] of general.entries()) {
    if (segment.kind === "tail") return specific.length >= at
    const other = specific[at]
    if (other === undefined || other.kind === "tail" || !coversSegment(segment, other)) return false
  }
  return general.length === specific.length
}

/** Whether some path matches both. */
function pathsMeet(one: readonly SegmentTemplate[], other: readonly SegmentTemplate[]): boolean {
  for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
    const [a, b] = [one[at], other[at]]
    if (a?.kind === "tail" || b?.kind === "tail") return true
    if (a === undefined || b === undefined) return false
    if (!segmentsMeet(a, b)) return false
  }
  return true
}

/** Two segments with literals and parameters are assumed to overlap. */
function segmentsMeet(a: SegmentTemplate, b: SegmentTemplate): boolean {
  return coversSegment(a, b) || coversSegment(b, a) || (a.kind === "mixed" && b.kind === "mixed")
}

/**
 * Whether one segment matches everything that the other does. A parameter can have any text, so it suffices to test the other segment with
 * a character that no literal contains as the value of its parameters.
 */
function coversSegment({ kind, literals }: SegmentTemplate, specific: SegmentTemplate): boolean {
  if (kind === "static") return specific.kind === "static" && specific.literals[0] === literals[0]
  return firstReading(literals, specific.literals.join("\0")) !== undefined
}

/** Compares the precedence of two paths that match the same request, from left to right. */
function comparePaths(a: readonly SegmentTemplate[], b: readonly SegmentTemplate[]): number {
  for (const [at, segment] of a.entries()) {
    const other = b[at]
    const order = other === undefined ? 0 : compareSegments(segment, other)
    if (order !== 0) return order
  }
  return b.length - a.length
}
