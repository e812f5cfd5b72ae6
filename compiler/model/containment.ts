import type { IndexedRelation, ModelIndex } from "../../runtime/model/model-index.ts"
import type { Userset } from "../../runtime/plan/authorization-model.ts"
import { type DefinitionPart, relationsBehind } from "./lint.ts"

/** Maximum number of comparisons per model, and maximum depth of one. Containment that is not proved within them counts as not proved. */
const comparisonsMax = 200_000
const depthMax = 100
/** More parts than any model has: two part numbers are combined into one key. */
const partsMax = 2 ** 26

/**
 * Proves that every subject of one part of a model is also in another part, for any tuples. It uses the definitions alone and finite proofs: a
 * comparison that returns to itself proves nothing. So `true` is certain, and `false` means not proved.
 */
export class Containment {
  readonly #index: ModelIndex
  readonly #numbers = new Map<IndexedRelation, Map<Userset, number>>()
  readonly #known = new Map<number, boolean>()
  /** Comparisons in progress. */
  readonly #open = new Set<number>()
  /** How often a comparison returned to itself. */
  #returns = 0
  #parts = 0
  #left = comparisonsMax

  constructor(index: ModelIndex) {
    this.#index = index
  }

  /** Whether every subject of `inner` is provably in `outer`. */
  holds(inner: DefinitionPart, outer: DefinitionPart, depth = 0): boolean {
    const key = this.#number(inner) * partsMax + this.#number(outer)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (depth > depthMax || this.#left <= 0 || this.#open.has(key)) {
      this.#returns++
      return false
    }
    this.#left--
    this.#open.add(key)
    const before = this.#returns
    const shown = this.#show(inner, outer, depth + 1)
    this.#open.delete(key)
    // A failure that depends on an open comparison is not final: it may succeed when that comparison is closed.
    if (shown || before === this.#returns) this.#known.set(key, shown)
    return shown
  }

  /** Tries the rules by which one part contains another. Every rule is sound for all tuples; none of them is complete. */
  #show(inner: DefinitionPart, outer: DefinitionPart, depth: number): boolean {
    if (this.#isSame(inner, outer)) return true
    const [left, right] = [inner.rewrite, outer.rewrite]
    const inside = (rewrite: Userset) => ({ rewrite, relation: inner.relation })
    const around = (rewrite: Userset) => ({ rewrite, relation: outer.relation })
    if ("union" in left) return left.union.child.every((each) => this.holds(inside(each), outer, depth))
    if ("intersection" in right)
      return right.intersection.child.every((each) => this.holds(inner, around(each), depth))
    if (this.#showByDefinition(inner, outer, depth)) return true
    if ("union" in right && right.union.child.some((each) => this.holds(inner, around(each), depth)))
      return true
    if (
      "intersection" in left &&
      left.intersection.child.some((each) => this.holds(inside(each), outer, depth))
    )
      return true
    if (!("difference" in left)) return false
    if (this.holds(inside(left.difference.base), outer, depth)) return true
    return (
      "difference" in right &&
      this.holds(inside(left.difference.base), around(right.difference.base), depth) &&
      this.holds(around(right.difference.subtract), inside(left.difference.subtract), depth)
    )
  }

  /** Whether two leaves are the same question, so that they have the same users for any tuples. */
  #isSame(inner: DefinitionPart, outer: DefinitionPart): boolean {
    const [left, right] = [inner.rewrite, outer.rewrite]
    if ("this" in left && "this" in right) return inner.relation === outer.relation
    if (inner.relation.type !== outer.relation.type) return false
    if ("computedUserset" in left && "computedUserset" in right)
      return left.computedUserset.relation === right.computedUserset.relation
    return (
      "tupleToUserset" in left &&
      "tupleToUserset" in right &&
      left.tupleToUserset.tupleset.relation === right.tupleToUserset.tupleset.relation &&
      left.tupleToUserset.computedUserset.relation === right.tupleToUserset.computedUserset.relation
    )
  }

  /** Expands computed relations, and compares `from` on all objects that its tupleset can lead to. */
  #showByDefinition(inner: DefinitionPart, outer: DefinitionPart, depth: number): boolean {
    const opened = this.#opened(inner)
    if (opened !== undefined && this.holds(opened, outer, depth)) return true
    const around = this.#opened(outer)
    if (around !== undefined && this.holds(inner, around, depth)) return true
    const [left, right] = [inner.rewrite, outer.rewrite]
    if (!("tupleToUserset" in left) || !("tupleToUserset" in right)) return false
    if (inner.relation.type !== outer.relation.type) return false
    if (left.tupleToUserset.tupleset.relation !== right.tupleToUserset.tupleset.relation) return false
    const wanted = right.tupleToUserset.computedUserset.relation
    const behind = relationsBehind(left.tupleToUserset, inner.relation, this.#index.types)
    return behind.every((each) => {
      const other = this.#index.types.get(each.type)?.get(wanted)
      return other !== undefined && this.holds(partOf(each), partOf(other), depth)
    })
  }

  #opened({ rewrite, relation }: DefinitionPart): DefinitionPart | undefined {
    if (!("computedUserset" in rewrite)) return undefined
    const target = this.#index.types.get(relation.type)?.get(rewrite.computedUserset.relation)
    return target === undefined ? undefined : partOf(target)
  }

  /** Parts are numbered when they are met, so that pairs of them can be keys. */
  #number({ rewrite, relation }: DefinitionPart): number {
    let own = this.#numbers.get(relation)
    if (own === undefined) {
      own = new Map()
      this.#numbers.set(relation, own)
    }
    let number = own.get(rewrite)
    if (number === undefined) {
      number = this.#parts++
      own.set(rewrite, number)
    }
    return number
  }
}

/** Tells `Subjects` which exclusions are always empty. Each exclusion is examined once. */
export function voidExclusions(
  containment: Containment,
): (rewrite: Extract<Userset, { difference: unknown }>, relation: IndexedRelation) => boolean {
  const known = new Map<Userset, boolean>()
  return (rewrite, relation) => {
    const { base, subtract } = rewrite.difference
    const isVoid =
      known.get(rewrite) ?? containment.holds({ rewrite: base, relation }, { rewrite: subtract, relation })
    known.set(rewrite, isVoid)
    return isVoid
  }
}

function partOf(relation: IndexedRelation): DefinitionPart {
  return { rewrite: relation.rewrite, relation }
}
