import type { Userset } from "../../runtime/plan/authorization-model.ts"

/** The definition by which a relation that only one model has is expanded; undefined: the name is an atom. */
export interface Definition {
  readonly rewrite: Userset
  opened(relation: string): Userset | undefined
}

const leavesMax = 10
const depthMax = 30

/**
 * Whether membership in `inner` implies membership in `outer` by propositional logic alone. For one user and one object each atom is true
 * or false, and all combinations are checked. `implies`: known implications between two atoms. Also false if there are too many atoms.
 */
export function impliedByLogic(
  inner: Definition,
  outer: Definition,
  implies: (narrow: Userset, wide: Userset) => boolean,
): boolean {
  const leaves = new Leaves()
  const [left, right] = [leaves.formula(inner, inner.rewrite, ""), leaves.formula(outer, outer.rewrite, "")]
  const all = leaves.all
  if (left === undefined || right === undefined || all.length > leavesMax) return false
  // Nothing is known about the direct subjects of an expanded relation.
  const known = all.filter((leaf) => !leaves.isOpened(leaf))
  const rules = all.map((narrow) =>
    known.includes(narrow) ? known.filter((wide) => narrow !== wide && implies(narrow, wide)) : [],
  )
  for (let bits = 0; bits < 2 ** all.length; bits += 1) {
    const isIn = (leaf: Userset) => (bits & (1 << all.indexOf(leaf))) !== 0
    const isPossible = all.every((leaf, at) => !isIn(leaf) || (rules[at] ?? []).every(isIn))
    if (isPossible && left(isIn) && !right(isIn)) return false
  }
  return true
}

type Formula = (isIn: (leaf: Userset) => boolean) => boolean

/** Numbers the atoms of two definitions alike, so that both become formulas over the same variables. */
class Leaves {
  readonly #known = new Map<string, Userset>()
  readonly #opened = new Set<Userset>()

  isOpened(leaf: Userset): boolean {
    return this.#opened.has(leaf)
  }

  get all(): readonly Userset[] {
    return [...this.#known.values()]
  }

  /**
   * `owner`: the relation that is expanded, because its direct subjects are different ones. Undefined for definitions that are too deep or
   * cyclic.
   */
  formula(definition: Definition, rewrite: Userset, owner: string, depth = 0): Formula | undefined {
    if (depth > depthMax) return undefined
    const of = (each: Userset) => this.formula(definition, each, owner, depth + 1)
    const parts =
      "union" in rewrite
        ? rewrite.union.child
        : "intersection" in rewrite
          ? rewrite.intersection.child
          : undefined
    if (parts !== undefined) {
      const found = parts.map(of).filter((each) => each !== undefined)
      if (found.length < parts.length) return undefined
      return "union" in rewrite
        ? (isIn) => found.some((each) => each(isIn))
        : (isIn) => found.every((each) => each(isIn))
    }
    if ("difference" in rewrite) {
      const [base, subtract] = [of(rewrite.difference.base), of(rewrite.difference.subtract)]
      return base === undefined || subtract === undefined
        ? undefined
        : (isIn) => base(isIn) && !subtract(isIn)
    }
    if ("computedUserset" in rewrite) {
      const { relation } = rewrite.computedUserset
      const opened = definition.opened(relation)
      if (opened !== undefined) return this.formula(definition, opened, relation, depth + 1)
    }
    const key = `${"this" in rewrite ? owner : ""} ${JSON.stringify(rewrite)}`
    const leaf = this.#known.get(key) ?? rewrite
    this.#known.set(key, leaf)
    if ("this" in rewrite && owner !== "") this.#opened.add(leaf)
    return (isIn) => isIn(leaf)
  }
}
