import { type IndexedRelation, referenceText } from "../../runtime/model/model-index.ts"
import type { Userset } from "../../runtime/plan/authorization-model.ts"
import { definitionOf, relationName } from "./definition.ts"
import type { Subjects } from "./subjects.ts"

/** How deep relations are spelled out. */
const depthMax = 100

/**
 * What a relation's answer rests on. `tuples`: tuples of a relation for these subjects, with the relations of the user sets among them;
 * `relation`: another relation, spelled out in `by` where it comes first, and where that would not go too deep; `from`: a
 * relation of the objects that the tuples of another one lead to.
 */
export type Need =
  | { readonly kind: "or" | "and" | "but not"; readonly operands: readonly Need[] }
  | {
      readonly kind: "tuples"
      readonly of: string
      readonly subjects: readonly string[]
      readonly members: readonly Need[]
    }
  | {
      readonly kind: "relation"
      readonly relation: string
      readonly definition: string
      readonly by?: Need
    }
  | {
      readonly kind: "from"
      readonly wanted: string
      readonly tupleset: string
      readonly relations: readonly Need[]
    }

/** What a relation rests on, and the conditions in it. */
export function needsOf(
  relation: IndexedRelation,
  subjects: Subjects,
): { readonly need: Need; readonly conditions: ReadonlySet<string> } {
  const tree = new Tree(subjects)
  return { need: tree.relation(relation, 0), conditions: tree.conditions }
}

class Tree {
  readonly conditions = new Set<string>()
  readonly #subjects: Subjects
  readonly #seen = new Set<IndexedRelation>()

  constructor(subjects: Subjects) {
    this.#subjects = subjects
  }

  relation(relation: IndexedRelation, depth: number): Need {
    const own = {
      kind: "relation",
      relation: relationName(relation),
      definition: definitionOf(relation),
    } as const
    if (this.#seen.has(relation) || depth > depthMax) return own
    this.#seen.add(relation)
    return { ...own, by: this.#rewrite(relation.rewrite, relation, depth + 1) }
  }

  #rewrite(rewrite: Userset, relation: IndexedRelation, depth: number): Need {
    const operands = (child: readonly Userset[]) => child.map((each) => this.#rewrite(each, relation, depth))
    if ("union" in rewrite) return { kind: "or", operands: operands(rewrite.union.child) }
    if ("intersection" in rewrite) return { kind: "and", operands: operands(rewrite.intersection.child) }
    if ("difference" in rewrite) {
      const { base, subtract } = rewrite.difference
      return { kind: "but not", operands: operands([base, subtract]) }
    }
    const behind = this.#subjects.behind(rewrite, relation)
    const relations = behind.map((each) => this.relation(each, depth))
    if ("tupleToUserset" in rewrite) {
      const { tupleset, computedUserset } = rewrite.tupleToUserset
      const lists = `${relation.type}#${tupleset.relation}`
      return { kind: "from", wanted: computedUserset.relation, tupleset: lists, relations }
    }
    if ("computedUserset" in rewrite) {
      const name = `${relation.type}#${rewrite.computedUserset.relation}`
      return relations[0] ?? { kind: "relation", relation: name, definition: "" }
    }
    for (const { condition } of relation.references)
      if (condition !== undefined) this.conditions.add(condition)
    const listed = relation.references.map(referenceText)
    return { kind: "tuples", of: relationName(relation), subjects: listed, members: relations }
  }
}
