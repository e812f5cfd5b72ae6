import { plainObject } from "../../expression/plain-object.ts"
import type { PathForms } from "../../plan/resources.ts"
import { decodeSegment } from "../../policies/messages/canonical-path.ts"
import { foldedSegment } from "./folded-segment.ts"
import type { MixedSegment } from "./mixed-segment.ts"

/** What the matcher needs to know about a route. */
export interface Matchable {
  readonly method: string
  /** `/literal/{name}/{name}:literal/{rest*}` */
  readonly path: string
  /** Routes with equal text have equal protection; see `Routes.find`. */
  readonly protection: string
  /** Path forms that this route accepts and that are refused otherwise; see `Routes.strays`. */
  readonly passes?: PathForms | undefined
  /** Whether guards use values of the path: then no reading may change the values of its parameters. */
  readonly decides?: boolean | undefined
}

export type PathParameters = Readonly<Record<string, string>>

export type Methods<R> = Map<string, Leaf<R>>

/** The end of a path in the tree: a route and where its parameters are. */
export interface Leaf<R> {
  readonly route: R
  /** Names of the parameters in order, with the indexes of their segments; the last one is the tail's when `tail`. */
  readonly names: readonly string[]
  readonly places: readonly number[]
  readonly tail: boolean
  /** Segments with parameters inside them; their names are not in `names`. */
  readonly mixed: readonly PlacedMixed[]
}

export interface PlacedMixed {
  readonly segment: MixedSegment
  readonly place: number
}

export interface Mixed<R> {
  readonly segment: MixedSegment
  readonly node: Node<R>
}

/** Most nodes have one child or one route. Absent parts are undefined, because a plan of ten thousand routes has twenty thousand nodes. */
export interface Node<R> {
  literals: Map<string, Node<R>> | undefined
  /** Literals by their folded text, to find look-alikes. */
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

export const noParameters: PathParameters = Object.freeze(plainObject<string>())

export function pick<R>(methods: Methods<R>, method: string): Leaf<R> | undefined {
  return methods.get(method) ?? (method === "HEAD" ? methods.get("GET") : undefined) ?? methods.get("*")
}

/** Whether a route here has another protection. */
export function isOther<R>({ protections }: Node<R>, protection: string): boolean {
  return protections.size > 1 || !protections.has(protection)
}

/** An empty node. Maps are made when they are needed, because most nodes have one child. */
export function node<R>(): Node<R> {
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

/** The child for a literal segment. `folded` finds segments that look alike to a lenient backend. */
export function literal<R>(parent: Node<R>, segment: string): Node<R> {
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

export function parameterChild<R>(parent: Node<R>): Node<R> {
  parent.parameter ??= node()
  return parent.parameter
}

/** The list is kept sorted: APIs with verbs as operations have many mixed segments at one place. */
export function mixedChild<R>(parent: Node<R>, segment: MixedSegment): Node<R> {
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

export function segmentsOf(path: string): string[] {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
  return trimmed === "/" ? [] : trimmed.slice(1).split("/")
}

/** The values of the path parameters, decoded. */
export function parametersOf<R extends Matchable>(
  leaf: Leaf<R>,
  segments: readonly string[],
  path: string,
): PathParameters {
  const { names, places } = leaf
  if (names.length === 0) return noParameters
  const parameters = plainObject<string>()
  for (let at = 0; at < names.length; at += 1) {
    const place = places[at] as number
    parameters[names[at] as string] =
      leaf.tail && at === names.length - 1
        ? tailOf(segments, place, path)
        : decodeSegment(segments[place] as string)
  }
  return parameters
}

export function tailOf(segments: readonly string[], from: number, path: string): string {
  const tail = segments.slice(from).map(decodeSegment).join("/")
  return tail !== "" && path.endsWith("/") ? `${tail}/` : tail
}

/** The parameters of whole segments, combined with those inside segments; undefined when one of these has a second reading. */
export function withMixed(
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
