import { decodeSegment } from "../../policies/messages/canonical-path.ts"
import { foldedSegment } from "./folded-segment.ts"
import {
  isOther,
  type Leaf,
  type Matchable,
  type Methods,
  type Node,
  type PathParameters,
  parametersOf,
  pick,
  segmentsOf,
  withMixed,
} from "./route-tree.ts"

/** All readings of one path, without precedence. */
export class StrayReadings<R extends Matchable> {
  readonly #path: string
  readonly #segments: readonly string[]
  readonly #method: string
  readonly #own: R
  readonly #parameters: PathParameters
  readonly #way: ReadonlySet<Node<R>> | undefined

  /** Searches for other readings of a path, e.g. with a decoded slash, that lead to another protection. */
  constructor(
    path: string,
    method: string,
    own: R,
    parameters: PathParameters,
    way: ReadonlySet<Node<R>> | undefined,
  ) {
    this.#path = path
    this.#segments = segmentsOf(path)
    this.#method = method
    this.#own = own
    this.#parameters = parameters
    this.#way = way
  }

  /** Whether a reading that continues from here strays; see `Routes.strays`. */
  from(at: Node<R>, depth: number): boolean {
    const segment = this.#segments[depth]
    if (segment === undefined) return this.#ends(at)
    if (this.#isOther(at.tail)) return true
    const below = segment === "" ? [] : this.#below(at, segment)
    if (below.length === 0 && at.tail === undefined) return this.#isStray(at)
    return below.some((next) => this.from(next, depth + 1))
  }

  #ends(at: Node<R>): boolean {
    if (at.here === undefined && at.tail === undefined) return this.#isStray(at)
    return this.#isOther(at.here) || this.#isOther(at.tail)
  }

  /** The nodes that a segment may lead to for any reader. */
  #below(at: Node<R>, segment: string): Node<R>[] {
    const [decoded, folded] = [decodeSegment(segment), foldedSegment(segment)]
    const mixed = (at.mixed ?? []).filter(
      ({ segment: template }) => template.fits(decoded) || template.resembles(folded),
    )
    return [
      ...(at.folded?.get(folded) ?? []),
      ...mixed.map(({ node: next }) => next),
      ...(at.parameter === undefined ? [] : [at.parameter]),
    ]
  }

  /** No route ends here, but a server may have a resource. */
  #isStray(at: Node<R>): boolean {
    return this.#way?.has(at) !== true && isOther(at, this.#own.protection)
  }

  #isOther(methods: Methods<R> | undefined): boolean {
    if (methods === undefined) return false
    const leaf = pick(methods, this.#method)
    if (leaf === undefined)
      return [...methods.values()].some(({ route }) => route.protection !== this.#own.protection)
    return leaf.route !== this.#own || (this.#own.decides === true && !this.#hasSameValues(leaf))
  }

  #hasSameValues(leaf: Leaf<R>): boolean {
    const whole = parametersOf(leaf, this.#segments, this.#path)
    const values = withMixed(whole, leaf.mixed, this.#segments)
    const names = Object.keys(this.#parameters)
    return names.every((name) => values?.[name] === this.#parameters[name])
  }
}
