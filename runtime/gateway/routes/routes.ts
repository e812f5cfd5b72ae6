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
  /** The path of this route could be read with other values of its parameters: nothing may answer it. */
  | { readonly kind: "unclear"; readonly route: R }
  /** `alike`: it differs from a path that is protected otherwise by case only; nothing else may answer it. */
  | { readonly kind: "none"; readonly alike: boolean }

/** The same, or: the path has a form that is not passed here, or that could be read as another path. Nothing may answer it. */
export type HostMatch<R> = Match<R> | { readonly kind: "unread"; readonly cause: string }

const noMixed: readonly never[] = []

/**
 * The routes of one plan. For each method the most specific route wins, read from the left: literal, literals with parameters between them (more
 * literal text first), parameter, tail. HEAD is answered by GET where no route names it; `*` takes any method that no other route of the same path
 * takes. A slash at the end of a path changes nothing.
 *
 * Falling through to a less specific route is no way around protection. A path that a more specific route has for other methods goes to a less
 * specific one only if both are protected alike, else it is 405. A segment that differs from a literal only by case (or by Unicode's folding) falls through to a parameter or tail only if all that lies
 * below the literal is protected like the route it falls to: a backend that ignores case would answer with the protected thing. So
 * would one that takes `:cancel` for `{id}:cancel` with nothing for the parameter. A segment whose parameters could have other values as well is not answered at all.
 */
export class Routes<R extends Matchable> {
  readonly #statics = new Map<string, Methods<R>>()
  readonly #root: Node<R> = node()
  /** The nodes on the way to routes that pass forms of paths. */
  readonly #ways = new Map<R, ReadonlySet<Node<R>>>()
  /** Sets of one protection, which most nodes have. */
  readonly #alone = new Map<string, ReadonlySet<string>>()

  /** @throws Error when a path has no canonical form or two routes are the same. */
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
   * Whether a server that reads a request's path as `reading` could take it for another route than `own`, which was found for it; for a place in which all routes are protected otherwise; or, where
   * guards decide by the path's values, for other values. Nothing goes first here, and case means nothing: servers have other rules.
   */
  strays(reading: string, method: string, own: R, parameters: PathParameters): boolean {
    return new StrayReadings(reading, method, own, parameters, this.#ways.get(own)).from(this.#root, 0)
  }

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

/** One search. A trie has no shared nodes, so that a search visits each at most once however the path is made. */
class Walk<R extends Matchable> {
  readonly segments: readonly string[]
  /** Routes of this path for other methods. */
  passed: R[] | undefined
  readonly #method: string

  constructor(method: string, segments: readonly string[]) {
    this.#method = method
    this.segments = segments
  }

  from(at: Node<R>, depth: number): Leaf<R> | undefined {
    if (depth === this.segments.length) return this.#take(at.here) ?? this.#take(at.tail)
    // Nothing is no value; it may stand in a tail, and not where it begins: `//` before what is forwarded is the host of a URL to some.
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

  /** Whether a more specific path that lacks the method is protected otherwise than the route found. */
  passedOver(protection: string): boolean {
    return this.passed?.some((route) => route.protection !== protection) === true
  }

  isLookAlike(leaf: Leaf<R>, root: Node<R>): boolean {
    return this.#lookAlike(root, 0, leaf.route.protection)
  }

  /** Whether some reading of the path that ignores case leads to routes with another protection. */
  #lookAlike(at: Node<R>, depth: number, protection: string): boolean {
    const segment = this.segments[depth]
    if (segment === undefined) return false
    if (at.folded !== undefined && this.#literalAlike(at, at.folded, depth, protection)) return true
    if (at.mixed !== undefined && this.#mixedAlike(at.mixed, depth, protection)) return true
    return at.parameter !== undefined && this.#lookAlike(at.parameter, depth + 1, protection)
  }

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

/** The template with canonical literals. `x` stands for the values: what is canonical beside one letter is beside others. */
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
