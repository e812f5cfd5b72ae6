import { type SegmentTemplate, segmentTemplate } from "../../plan/segment-template.ts"
import { canonicalPath, decodeSegment } from "../../policies/messages/canonical-path.ts"
import { foldedSegment } from "./folded-segment.ts"
import { MixedSegment } from "./mixed-segment.ts"
import {
  isOther,
  type Leaf,
  literal,
  type Matchable,
  type Methods,
  type Mixed,
  mixedChild,
  type Node,
  node,
  noParameters,
  type PathParameters,
  type PlacedMixed,
  parameterChild,
  parametersOf,
  pick,
  segmentsOf,
  withMixed,
} from "./route-tree.ts"
import { StrayReadings } from "./stray-readings.ts"

export type Match<R> =
  | { readonly kind: "found"; readonly route: R; readonly parameters: PathParameters }
  | { readonly kind: "method"; readonly allow: string }
  /** The parameters in the path have a second reading, so the request is refused. */
  | { readonly kind: "unclear"; readonly route: R }
  /** `alike`: the path differs only by case from one with another protection, so the request is refused. */
  | { readonly kind: "none"; readonly alike: boolean }

/** `unread`: the path has a form that the route does not pass, or could be read as another path, so the request is refused. */
export type HostMatch<R> = Match<R> | { readonly kind: "unread"; readonly cause: string }

const noMixed: readonly never[] = []

/**
 * The routes of one plan. For each method the most specific route wins, compared from the left: literal, mixed segment (more literal text first),
 * parameter, tail. GET handles HEAD when no route names it; `*` matches any method that no other route of the path has. A slash at the end is
 * ignored.
 * Falling through to a less specific route must not bypass protection. When a more specific route has the path for other methods, a less specific
 * route matches only with equal protection; otherwise the result is 405. When a segment differs from a literal only by case (or Unicode folding), a
 * parameter or tail matches only if everything below the literal has the same protection, because a backend that ignores case would serve the
 * protected resource. The same applies to `:cancel` and `{id}:cancel` with an empty parameter. A segment whose parameters could have other values
 * never matches.
 */
export class Routes<R extends Matchable> {
  readonly #statics = new Map<string, Methods<R>>()
  readonly #root: Node<R> = node()
  /** The nodes on the paths to routes that pass path forms. */
  readonly #ways = new Map<R, ReadonlySet<Node<R>>>()
  /** Sets with one protection, shared by most nodes. */
  readonly #alone = new Map<string, ReadonlySet<string>>()

  /** @throws Error when a path has no canonical form, or two routes are equal */
  add(route: R): void {
    const segments = segmentsOf(route.path)
    const names: string[] = []
    const places: number[] = []
    const mixed: PlacedMixed[] = []
    let at = this.#root
    let tail = false
    const way = new Set([at])
    this.#protect(at, route.protection)
    for (const [place, segment] of segments.entries()) {
      const template = segmentTemplate(segment)
      if (template === undefined) throw noForm(route.path)
      tail = template.kind === "tail"
      if (template.kind === "parameter" || tail) {
        names.push(template.names[0] as string)
        places.push(place)
      }
      if (tail) break
      if (template.kind === "mixed") {
        const own = new MixedSegment(canonicalTemplate(template, route.path))
        mixed.push({ segment: own, place })
        at = mixedChild(at, own)
      } else
        at =
          template.kind === "static" ? literal(at, canonicalLiteral(segment, route.path)) : parameterChild(at)
      this.#protect(at, route.protection)
      way.add(at)
    }
    if (route.passes !== undefined) this.#ways.set(route, way)
    const leaf: Leaf<R> = { route, names, places, tail, mixed: mixed.length === 0 ? noMixed : mixed }
    const methods = (tail ? at.tail : at.here) ?? new Map<string, Leaf<R>>()
    if (tail) at.tail = methods
    else at.here = methods
    if (methods.has(route.method)) throw new Error(`two routes answer ${route.method} ${route.path}`)
    methods.set(route.method, leaf)
    if (names.length === 0 && mixed.length === 0) this.#addStatic(segments, leaf)
  }

  /** `path` is canonical. */
  find(method: string, path: string): Match<R> {
    const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
    const methods = this.#statics.get(trimmed)
    const leaf = methods === undefined ? undefined : pick(methods, method)
    if (leaf !== undefined) return { kind: "found", route: leaf.route, parameters: noParameters }
    return this.#walk(method, path, trimmed)
  }

  /**
   * Whether a server that reads the path as `reading` could find another route than `own`, a place where all routes have other protection, or, when
   * guards use values of the path, other values. No precedence and no case apply here, because servers have other rules.
   */
  strays(reading: string, method: string, own: R, parameters: PathParameters): boolean {
    return new StrayReadings(reading, method, own, parameters, this.#ways.get(own)).from(this.#root, 0)
  }

  /** Finds the route of a path. A path that looks like one of another protection is refused, because a backend could read it so. */
  #walk(method: string, path: string, trimmed: string): Match<R> {
    const walk = new Walk<R>(method, trimmed === "/" ? [] : trimmed.slice(1).split("/"))
    const leaf = walk.from(this.#root, 0)
    if (leaf === undefined || walk.passedOver(leaf.route.protection)) {
      return walk.passed === undefined
        ? { kind: "none", alike: false }
        : { kind: "method", allow: allowText(walk.passed) }
    }
    if (this.#root.protections.size > 1 && walk.isLookAlike(leaf, this.#root))
      return { kind: "none", alike: true }
    const parameters = parametersOf(leaf, walk.segments, path)
    if (leaf.mixed.length === 0) return { kind: "found", route: leaf.route, parameters }
    const all = withMixed(parameters, leaf.mixed, walk.segments)
    return all === undefined
      ? { kind: "unclear", route: leaf.route }
      : { kind: "found", route: leaf.route, parameters: all }
  }

  #protect(at: Node<R>, protection: string): void {
    if (at.protections.has(protection)) return
    const alone = this.#alone.get(protection) ?? new Set([protection])
    this.#alone.set(protection, alone)
    at.protections = at.protections.size === 0 ? alone : new Set([...at.protections, protection])
  }

  #addStatic(segments: readonly string[], leaf: Leaf<R>): void {
    const path = `/${segments.map((segment) => canonicalLiteral(segment, leaf.route.path)).join("/")}`
    const methods = this.#statics.get(path) ?? new Map<string, Leaf<R>>()
    methods.set(leaf.route.method, leaf)
    this.#statics.set(path, methods)
  }
}

/** One search. A trie has no shared nodes, so a search visits each node at most once for any path. */
class Walk<R extends Matchable> {
  readonly segments: readonly string[]
  /** Routes of this path with other methods. */
  passed: R[] | undefined
  readonly #method: string

  constructor(method: string, segments: readonly string[]) {
    this.#method = method
    this.segments = segments
  }

  /** Depth-first in the order of precedence: literal, mixed, parameter, tail. */
  from(at: Node<R>, depth: number): Leaf<R> | undefined {
    if (depth === this.segments.length) return this.#take(at.here) ?? this.#take(at.tail)
    // An empty segment is not a value. A tail may contain one, but not begin with it: some URL parsers read a leading `//` as a host.
    if (this.segments[depth] === "") return undefined
    const below = at.literals?.get(this.segments[depth] as string)
    const found = below === undefined ? undefined : this.from(below, depth + 1)
    if (found !== undefined) return found
    const mixed = at.mixed === undefined ? undefined : this.#mixed(at.mixed, depth)
    if (mixed !== undefined) return mixed
    const other = at.parameter === undefined ? undefined : this.from(at.parameter, depth + 1)
    return other ?? this.#take(at.tail)
  }

  #mixed(all: readonly Mixed<R>[], depth: number): Leaf<R> | undefined {
    const decoded = decodeSegment(this.segments[depth] as string)
    for (const { segment, node: below } of all) {
      const found = segment.fits(decoded) ? this.from(below, depth + 1) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Whether a more specific path without the method has another protection than the found route. */
  passedOver(protection: string): boolean {
    return this.passed?.some((route) => route.protection !== protection) === true
  }

  isLookAlike(leaf: Leaf<R>, root: Node<R>): boolean {
    return this.#lookAlike(root, 0, leaf.route.protection)
  }

  /** Whether a reading that ignores case leads to routes with another protection. */
  #lookAlike(at: Node<R>, depth: number, protection: string): boolean {
    const segment = this.segments[depth]
    if (segment === undefined) return false
    if (at.folded !== undefined && this.#literalAlike(at, at.folded, depth, protection)) return true
    if (at.mixed !== undefined && this.#mixedAlike(at.mixed, depth, protection)) return true
    return at.parameter !== undefined && this.#lookAlike(at.parameter, depth + 1, protection)
  }

  /** Whether another literal looks like this segment and has other protection. */
  #literalAlike(
    { literals }: Node<R>,
    folded: ReadonlyMap<string, readonly Node<R>[]>,
    depth: number,
    protection: string,
  ): boolean {
    const segment = this.segments[depth] as string
    const alikes = folded.get(foldedSegment(segment))
    if (alikes === undefined) return false
    const exact = literals?.get(segment)
    for (const alike of alikes)
      if (alike === exact ? this.#lookAlike(alike, depth + 1, protection) : isOther(alike, protection))
        return true
    return false
  }

  /** Whether a mixed segment matches or looks alike, and has other protection. */
  #mixedAlike(all: readonly Mixed<R>[], depth: number, protection: string): boolean {
    const segment = this.segments[depth] as string
    const [decoded, folded] = [decodeSegment(segment), foldedSegment(segment)]
    return all.some(({ segment: template, node: below }) =>
      template.fits(decoded)
        ? this.#lookAlike(below, depth + 1, protection)
        : template.resembles(folded) && isOther(below, protection),
    )
  }

  #take(methods: Methods<R> | undefined): Leaf<R> | undefined {
    if (methods === undefined) return undefined
    const leaf = pick(methods, this.#method)
    if (leaf !== undefined) return leaf
    this.passed ??= []
    for (const { route } of methods.values()) this.passed.push(route)
    return undefined
  }
}

function allowText(routes: readonly Matchable[]): string {
  const methods = new Set(routes.map(({ method }) => method))
  if (methods.has("GET")) methods.add("HEAD")
  return [...methods].sort().join(", ")
}

function canonicalLiteral(segment: string, path: string): string {
  const spelled = segment === "" ? undefined : canonicalPath(`/${segment}`)
  if (spelled === undefined) throw noForm(path)
  return spelled.slice(1)
}

/** The template with canonical literals. `x` replaces the values: whether a literal is canonical does not depend on them. */
function canonicalTemplate({ literals, ...template }: SegmentTemplate, path: string): SegmentTemplate {
  canonicalLiteral(literals.join("x"), path)
  return {
    ...template,
    literals: literals.map((each) => canonicalLiteral(`x${each}x`, path).slice(1, -1)),
  }
}

function noForm(path: string): Error {
  return new Error(`the route's path \`${path}\` has no canonical form`)
}
