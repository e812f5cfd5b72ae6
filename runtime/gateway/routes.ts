import { canonicalPath, decodeSegment } from "../policies/canonical-path.ts"

/** What the matcher has to know of a route. */
export interface Matchable {
  readonly method: string
  /** `/literal/{name}/{rest*}` */
  readonly path: string
  /** Routes with the same text are protected alike; see `Routes.find`. */
  readonly protection: string
}

export type PathParameters = Readonly<Record<string, string>>

export type Match<R> =
  | { readonly kind: "found"; readonly route: R; readonly parameters: PathParameters }
  | { readonly kind: "method"; readonly allow: string }
  /** `alike`: it differs from a path that is protected otherwise by case only; nothing else may answer it. */
  | { readonly kind: "none"; readonly alike: boolean }

type Methods<R> = Map<string, Leaf<R>>

interface Leaf<R> {
  readonly route: R
  /** Names of the parameters in order, with the segments they stand for; the last one is the tail's when `tail`. */
  readonly names: readonly string[]
  readonly places: readonly number[]
  readonly tail: boolean
}

interface Node<R> {
  readonly literals: Map<string, Node<R>>
  /** Literals by their folded text, for look-alikes. */
  readonly folded: Map<string, Node<R>[]>
  parameter: Node<R> | undefined
  readonly here: Methods<R>
  readonly tail: Methods<R>
  /** Protections of all routes at and below this node. */
  readonly protections: Set<string>
}

const noParameters: PathParameters = Object.freeze(Object.create(null))

/**
 * The routes of one plan. For each method the most specific route wins, read from the left: literal, parameter, tail. HEAD is answered by GET
 * where no route names it; `*` takes any method that no other route of the same path takes. A slash at the end of a path changes nothing.
 *
 * Falling through to a less specific route is no way around protection. A path that a more specific route has for other methods goes to a less
 * specific one only if both are protected alike, else it is 405. A segment that differs from a literal only by case (or by Unicode's folding) falls through to a parameter or tail only if all that lies
 * below the literal is protected like the route it falls to: a backend that ignores case would answer with the protected thing.
 */
export class Routes<R extends Matchable> {
  readonly #statics = new Map<string, Methods<R>>()
  readonly #root: Node<R> = node()

  /** @throws Error when a path has no canonical form or two routes are the same. */
  add(route: R): void {
    const segments = segmentsOf(route.path)
    const names: string[] = []
    const places: number[] = []
    let at = this.#root
    let tail = false
    at.protections.add(route.protection)
    for (const [place, segment] of segments.entries()) {
      const parameter = /^\{(\w+)(\*?)\}$/.exec(segment)
      if (parameter === null) at = literal(at, canonicalLiteral(segment, route.path))
      else {
        names.push(parameter[1] as string)
        places.push(place)
        tail = parameter[2] === "*"
        if (tail) break
        at.parameter ??= node()
        at = at.parameter
      }
      at.protections.add(route.protection)
    }
    const leaf: Leaf<R> = { route, names, places, tail }
    const methods = tail ? at.tail : at.here
    if (methods.has(route.method)) throw new Error(`two routes answer ${route.method} ${route.path}`)
    methods.set(route.method, leaf)
    if (names.length === 0) this.#addStatic(segments, leaf)
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
    return { kind: "found", route: leaf.route, parameters: parametersOf(leaf, walk, path) }
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
    const below = at.literals.get(this.segments[depth] as string)
    const found = below === undefined ? undefined : this.from(below, depth + 1)
    if (found !== undefined) return found
    const other = at.parameter === undefined ? undefined : this.from(at.parameter, depth + 1)
    return other ?? this.#take(at.tail)
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
    if (segment === undefined || at.folded.size === 0) return false
    const exact = at.literals.get(segment)
    for (const alike of at.folded.get(foldedSegment(segment)) ?? []) {
      if (alike === exact) {
        if (this.#lookAlike(alike, depth + 1, protection)) return true
      } else if (alike.protections.size > 1 || !alike.protections.has(protection)) return true
    }
    return at.parameter !== undefined && this.#lookAlike(at.parameter, depth + 1, protection)
  }

  #take(methods: Methods<R>): Leaf<R> | undefined {
    if (methods.size === 0) return undefined
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

function allowText(routes: readonly Matchable[]): string {
  const methods = new Set(routes.map(({ method }) => method))
  if (methods.has("GET")) methods.add("HEAD")
  return [...methods].sort().join(", ")
}

function node<R>(): Node<R> {
  return {
    literals: new Map(),
    folded: new Map(),
    parameter: undefined,
    here: new Map(),
    tail: new Map(),
    protections: new Set(),
  }
}

function literal<R>(parent: Node<R>, segment: string): Node<R> {
  let child = parent.literals.get(segment)
  if (child === undefined) {
    child = node()
    parent.literals.set(segment, child)
    const folded = foldedSegment(segment)
    parent.folded.set(folded, [...(parent.folded.get(folded) ?? []), child])
  }
  return child
}

function segmentsOf(path: string): string[] {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  return trimmed === "/" ? [] : trimmed.slice(1).split("/")
}

function canonicalLiteral(segment: string, path: string): string {
  const spelled = segment === "" ? undefined : canonicalPath(`/${segment}`)
  if (spelled === undefined) throw new Error(`the route's path \`${path}\` has no canonical form`)
  return spelled.slice(1)
}

/** Lower case of the decoded text; NFKC makes full-width and other compatibility forms of a letter that letter. */
export function foldedSegment(segment: string): string {
  if (/^[a-z0-9._~-]*$/.test(segment)) return segment
  return decodeSegment(segment).normalize("NFKC").toUpperCase().toLowerCase()
}

function parametersOf<R extends Matchable>(leaf: Leaf<R>, walk: Walk<R>, path: string): PathParameters {
  const { names, places } = leaf
  if (names.length === 0) return noParameters
  const parameters: Record<string, string> = Object.create(null)
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
