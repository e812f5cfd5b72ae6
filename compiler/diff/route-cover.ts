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

/** A route's key with the names of parameters left out: routes of equal shape match the same requests. */
export function shapeOf({ method, path, hosts = [] }: Route): string {
  return `${method} ${hosts.join(",")}/${segmentsOf(path).map(shapeOfSegment).join("/")}`
}

/** Names of the path's parameters, in order. */
export function parametersOf({ path }: Route): string[] {
  return segmentsOf(path).flatMap(({ names }) => names)
}

/** Finds the route that matches all requests another one matches. */
export class RouteCover {
  /** By first segment; routes whose first segment is not text alone are under the empty text. */
  readonly #byFirst = new Map<string, { route: Route; key: string; segments: readonly SegmentTemplate[] }[]>()

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
  of(route: Route): { readonly key: string; readonly route: Route } | undefined {
    const segments = segmentsOf(route.path)
    const candidates = [...new Set([firstOf(segments), ""])].flatMap(
      (first) => this.#byFirst.get(first) ?? [],
    )
    return candidates
      .filter(
        (each) =>
          each.route !== route &&
          servesHostsOf(each.route, route) &&
          takes(each.route.method, route.method) &&
          covers(each.segments, segments),
      )
      .sort((a, b) => comparePaths(a.segments, b.segments) || (a.key < b.key ? -1 : 1))[0]
  }
}

/** What a route asks of callers before it serves them, in words: `auth`, `limit`, `require`. */
export function guardsOf({ sections }: Route, words: StepWords): string[] {
  return sections.inbound.flatMap((id) => {
    const step = words.body.steps[id]
    return step !== undefined && isGuard(step) ? [words.of(id)] : []
  })
}

/** A route of every host, or of all of the other's. */
function servesHostsOf({ hosts }: Route, other: Route): boolean {
  return hosts === undefined || (other.hosts?.every((host) => hosts.includes(host)) ?? false)
}

/** HEAD is answered by GET where no route names it. */
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

/** A value of one can be any text: what is matched with a character no literal has in its place is matched with all of them. */
function coversSegment({ kind, literals }: SegmentTemplate, specific: SegmentTemplate): boolean {
  if (kind === "static") return specific.kind === "static" && specific.literals[0] === literals[0]
  return firstReading(literals, specific.literals.join("\0")) !== undefined
}

/** The one that goes first of two that match the same, read from the left. */
function comparePaths(a: readonly SegmentTemplate[], b: readonly SegmentTemplate[]): number {
  for (const [at, segment] of a.entries()) {
    const other = b[at]
    const order = other === undefined ? 0 : compareSegments(segment, other)
    if (order !== 0) return order
  }
  return b.length - a.length
}
