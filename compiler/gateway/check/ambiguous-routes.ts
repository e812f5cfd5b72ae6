import {
  compareSegments,
  firstReading,
  type SegmentTemplate,
  shapeOfSegment,
} from "../../../runtime/plan/segment-template.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"
import { shapeOfPath } from "../bind/path.ts"

/** The parts of two routes that can overlap. */
interface Answering {
  readonly key: string
  /** `*` for ANY. */
  readonly method: string
  readonly path: readonly SegmentTemplate[]
  /** Undefined: all hosts. */
  readonly hosts: readonly string[] | undefined
  readonly span: Span
  /** False: the route is not compared with others. */
  readonly placed: boolean
}

type Pair = readonly [later: Answering, earlier: Answering]

/**
 * Reports routes that match the same requests without an order of precedence: routes of one shape, and routes that differ first at segments
 * of equal precedence.
 */
export function reportAmbiguous(routes: readonly Answering[], report: Report): void {
  const placed = routes.filter((route) => route.placed)
  // Two operations of an API overlap in each of its versions, but are one mistake.
  const reported = new Set<string>()
  const alike = ofOneShape(placed)
  const known = new Set(alike.map(([route]) => route))
  for (const [route, earlier] of [...alike, ...crossing(placed).filter(([later]) => !known.has(later))]) {
    const pair = [route, earlier].map(({ span }) => `${span.file.path}:${span.start}`).join()
    if (reported.has(pair)) continue
    reported.add(pair)
    const same = earlier.key === route.key
    const detail = same
      ? `\`${route.key}\` is already declared`
      : `\`${route.key}\` and \`${earlier.key}\` match the same requests`
    report.add("SP3002", route.span, detail, {
      related: [{ span: earlier.span, message: `\`${earlier.key}\`` }],
    })
  }
}

/**
 * Pairs of routes with equal method, shape of path and host. Found by a table, because comparing all pairs takes too long for thousands of
 * routes.
 */
function ofOneShape(routes: readonly Answering[]): Pair[] {
  const first = new Map<string, Answering>()
  return routes.flatMap((route): Pair[] => {
    const shape = `${route.method} ${shapeOfPath(route.path)}`
    const keys = (route.hosts ?? [""]).map((host) => `${host} ${shape}`)
    const earlier = first.get(keys.find((key) => first.has(key)) ?? "")
    if (earlier !== undefined) return [[route, earlier]]
    for (const key of keys) first.set(key, route)
    return []
  })
}

/** Routes that are the same up to a segment. */
interface Branch {
  readonly below: Map<string, Branch>
  /** Next segments that mix literals and parameters, by shape. */
  readonly mixed: Map<string, { readonly segment: SegmentTemplate; readonly routes: Answering[] }>
}

/**
 * Finds pairs of routes whose first different segments both have literals and parameters, with equally much literal text. For each route
 * returns the first such pair.
 */
function crossing(routes: readonly Answering[]): Pair[] {
  if (!routes.some(({ path }) => path.some(({ kind }) => kind === "mixed"))) return []
  const root: Branch = { below: new Map(), mixed: new Map() }
  return routes.flatMap((route): Pair[] => {
    let at = root
    let found: Answering | undefined
    for (const [depth, segment] of route.path.entries()) {
      const shape = shapeOfSegment(segment)
      if (segment.kind === "mixed") {
        found ??= crossed(at, route, depth)
        const own = at.mixed.get(shape) ?? { segment, routes: [] }
        own.routes.push(route)
        at.mixed.set(shape, own)
      }
      const next: Branch = at.below.get(shape) ?? { below: new Map(), mixed: new Map() }
      at.below.set(shape, next)
      at = next
    }
    return found === undefined ? [] : [[route, found]]
  })
}

/** A route in a branch whose segment has other text but as much of it, and that one request can match as well. */
function crossed({ mixed }: Branch, route: Answering, depth: number): Answering | undefined {
  const segment = route.path[depth] as SegmentTemplate
  const own = shapeOfSegment(segment)
  for (const [shape, { segment: other, routes }] of mixed) {
    if (shape === own || compareSegments(segment, other) !== 0 || !meet(segment, other)) continue
    const found = routes.find((each) => clash(route, each, depth))
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether one request can match both paths from segment `from` on. */
function clash(a: Answering, b: Answering, from: number): boolean {
  const hosts = a.hosts ?? [""]
  if (!methodsMeet(a.method, b.method) || !(b.hosts ?? [""]).some((host) => hosts.includes(host)))
    return false
  for (let at = from; at < Math.max(a.path.length, b.path.length); at += 1) {
    const [own, other] = [a.path[at], b.path[at]]
    if (own?.kind === "tail" || other?.kind === "tail") return true
    if (own === undefined || other === undefined || !meet(own, other)) return false
  }
  return true
}

/** GET also serves HEAD requests where no other route does. */
function methodsMeet(a: string, b: string): boolean {
  return a === b || a === "*" || b === "*" || [a, b].sort().join() === "GET,HEAD"
}

/**
 * Whether one value can match both segments. For two segments with parameters, the text between the first and last literals of one can be a
 * value of the other.
 */
function meet(a: SegmentTemplate, b: SegmentTemplate): boolean {
  if (a.kind === "static" && b.kind === "static") return a.literals[0] === b.literals[0]
  if (a.kind === "static") return firstReading(b.literals, a.literals[0] as string) !== undefined
  if (b.kind === "static") return meet(b, a)
  const [start, begin] = [a.literals[0] as string, b.literals[0] as string]
  const [end, finish] = [a.literals.at(-1) as string, b.literals.at(-1) as string]
  return (
    (start.startsWith(begin) || begin.startsWith(start)) && (end.endsWith(finish) || finish.endsWith(end))
  )
}
