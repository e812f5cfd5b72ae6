import { plainObject } from "../expression/plain-object.ts"
import { type SegmentTemplate, segmentTemplate } from "../plan/segment-template.ts"
import { canonicalPath, decodeSegment } from "../policies/canonical-path.ts"
import { foldedSegment } from "./folded-segment.ts"
import { MixedSegment } from "./mixed-segment.ts"

/** What the matcher has to know of a route. */
export interface Matchable {
  readonly method: string
  /** `/literal/{name}/{name}:literal/{rest*}` */
  readonly path: string
  /** Routes with the same text are protected alike; see `Routes.find`. */
  readonly protection: string
}

export type PathParameters = Readonly<Record<string, string>>

export type Match<R> =
  | { readonly kind: "found"; readonly route: R; readonly parameters: PathParameters }
  | { readonly kind: "method"; readonly allow: string }
  /** The path of this route could be read with other values of its parameters: nothing may answer it. */
  | { readonly kind: "unclear"; readonly route: R }
  /** `alike`: it differs from a path that is protected otherwise by case only; nothing else may answer it. */
  | { readonly kind: "none"; readonly alike: boolean }

type Methods<R> = Map<string, Leaf<R>>

interface Leaf<R> {
  readonly route: R
  /** Names of the parameters in order, with the segments they stand for; the last one is the tail's when `tail`. */
  readonly names: readonly string[]
  readonly places: readonly number[]
  readonly tail: boolean
  /** Segments with parameters that are a part of them only; their names are not in `names`. */
  readonly mixed: readonly PlacedMixed[]
}

interface PlacedMixed {
  readonly segment: MixedSegment
  readonly place: number
}

interface Mixed<R> {
  readonly segment: MixedSegment
  readonly node: Node<R>
}

/** Most nodes have one thing below them or a route: what is not there is not made, for a plan of ten thousand routes has twenty thousand nodes. */
interface Node<R> {
  literals: Map<string, Node<R>> | undefined
  /** Literals by their folded text, for look-alikes. */
  folded: Map<string, Node<R>[]> | undefined
  /** In the order they are tried. */
  mixed: Mixed<R>[] | undefined
  parameter: Node<R> | undefined
  here: Methods<R> | undefined
  tail: Methods<R> | undefined
  /** Protections of all routes at and below this node. */
  protections: ReadonlySet<string>
}

const noProtections: ReadonlySet<string> = new Set()

const noParameters: PathParameters = Object.freeze(plainObject<string>())
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
    }
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
    const parameters = parametersOf(leaf, walk, path)
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

function pick<R>(methods: Methods<R>, method: string): Leaf<R> | undefined {
  return methods.get(method) ?? (method === "HEAD" ? methods.get("GET") : undefined) ?? methods.get("*")
}

/** Whether something here is protected otherwise. */
function isOther<R>({ protections }: Node<R>, protection: string): boolean {
  return protections.size > 1 || !protections.has(protection)
}

function allowText(routes: readonly Matchable[]): string {
  const methods = new Set(routes.map(({ method }) => method))
  if (methods.has("GET")) methods.add("HEAD")
  return [...methods].sort().join(", ")
}

function node<R>(): Node<R> {
  return {
    literals: undefined,
    folded: undefined,
    mixed: undefined,
    parameter: undefined,
    here: undefined,
    tail: undefined,
    protections: noProtections,
  }
}

function literal<R>(parent: Node<R>, segment: string): Node<R> {
  const literals = parent.literals ?? new Map<string, Node<R>>()
  const known = literals.get(segment)
  if (known !== undefined) return known
  const child: Node<R> = node()
  literals.set(segment, child)
  const alikes = parent.folded ?? new Map<string, Node<R>[]>()
  const folded = foldedSegment(segment)
  alikes.set(folded, [...(alikes.get(folded) ?? []), child])
  parent.literals = literals
  parent.folded = alikes
  return child
}

function parameterChild<R>(parent: Node<R>): Node<R> {
  parent.parameter ??= node()
  return parent.parameter
}

/** The list is in order, and stays so: many stand in one place where operations are named by verbs. */
function mixedChild<R>(parent: Node<R>, segment: MixedSegment): Node<R> {
  parent.mixed ??= []
  const all = parent.mixed
  let [from, end] = [0, all.length]
  while (from < end) {
    const middle = (from + end) >> 1
    if ((all[middle] as Mixed<R>).segment.compare(segment) < 0) from = middle + 1
    else end = middle
  }
  const known = all[from]
  if (known?.segment.shape === segment.shape) return known.node
  const child: Node<R> = node()
  all.splice(from, 0, { segment, node: child })
  return child
}

function segmentsOf(path: string): string[] {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  return trimmed === "/" ? [] : trimmed.slice(1).split("/")
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

function parametersOf<R extends Matchable>(leaf: Leaf<R>, walk: Walk<R>, path: string): PathParameters {
  const { names, places } = leaf
  if (names.length === 0) return noParameters
  const parameters = plainObject<string>()
  for (let at = 0; at < names.length; at += 1) {
    const place = places[at] as number
    parameters[names[at] as string] =
      leaf.tail && at === names.length - 1
        ? tailOf(walk.segments, place, path)
        : decodeSegment(walk.segments[place] as string)
  }
  return parameters
}

function tailOf(segments: readonly string[], from: number, path: string): string {
  const tail = segments.slice(from).map(decodeSegment).join("/")
  return tail !== "" && path.endsWith("/") ? `${tail}/` : tail
}

/** The parameters of whole segments with those of parts; undefined where a part could be read in another way. */
function withMixed(
  whole: PathParameters,
  mixed: readonly PlacedMixed[],
  segments: readonly string[],
): PathParameters | undefined {
  const parameters = Object.assign(plainObject<string>(), whole)
  for (const { segment, place } of mixed) {
    const values = segment.valuesOf(segments[place] as string)
    if (values === undefined) return undefined
    for (const [at, name] of segment.names.entries()) parameters[name] = values[at] as string
  }
  return parameters
}
