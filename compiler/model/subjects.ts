import { eachLeaf, type IndexedRelation, type ModelIndex } from "../../runtime/model/model-index.ts"
import type { Userset } from "../../runtime/plan/authorization-model.ts"
import { relationsBehind } from "./lint.ts"

type Difference = Extract<Userset, { difference: unknown }>

/**
 * `isVoid` knows exclusions that are always empty. `all`: wildcards with a condition count too, and user sets (`team#member`) count as
 * subjects in addition to their members.
 */
export interface SubjectOptions {
  readonly isVoid?: (rewrite: Difference, relation: IndexedRelation) => boolean
  readonly all?: boolean
}

/**
 * Which kinds of subjects each relation can have, for any tuples: `user` for users by name or by wildcard, and `user:*` where one tuple
 * without a condition grants it to all of them.
 */
export class Subjects {
  readonly #index: ModelIndex
  readonly #options: SubjectOptions
  readonly #found = new Map<IndexedRelation, Set<string>>()

  /** Computes the subjects of all relations at once: a relation may read itself through others. */
  constructor(index: ModelIndex, options: SubjectOptions = {}) {
    this.#index = index
    this.#options = options
    const readers = new Map<IndexedRelation, IndexedRelation[]>()
    for (const relation of index.relations) {
      this.#found.set(relation, new Set())
      for (const read of this.readBy(relation)) {
        const known = readers.get(read)
        if (known === undefined) readers.set(read, [relation])
        else known.push(relation)
      }
    }
    // Computes the least fixed point: a relation that grew is propagated to the relations that read it.
    const waiting = new Set(index.relations)
    for (const relation of waiting) {
      waiting.delete(relation)
      const now = this.ofPart(relation.rewrite, relation)
      if (now.size === this.of(relation).size) continue
      this.#found.set(relation, now)
      for (const reader of readers.get(relation) ?? []) waiting.add(reader)
    }
  }

  /** The kinds of a relation. */
  of(relation: IndexedRelation): ReadonlySet<string> {
    return this.#found.get(relation) ?? new Set()
  }

  /** The kinds of a part of a relation's definition. */
  ofPart(rewrite: Userset, relation: IndexedRelation): Set<string> {
    const found = new Set<string>()
    this.#collect(rewrite, relation, found)
    return found
  }

  /** The kinds that a relation's own tuples allow, without members of user sets. */
  direct({ references }: IndexedRelation): Set<string> {
    const kinds = new Set<string>()
    for (const { type, relation, wildcard, condition } of references) {
      if (relation === undefined) kinds.add(type)
      else if (this.#options.all === true) kinds.add(`${type}#${relation}`)
      if (wildcard !== undefined && (condition === undefined || this.#options.all === true))
        kinds.add(`${type}:*`)
    }
    return kinds
  }

  /** The relations that a relation's definition reads, including those of the user sets it lists. */
  readBy(relation: IndexedRelation): IndexedRelation[] {
    const found = new Set<IndexedRelation>()
    eachLeaf(relation.rewrite, (leaf) => {
      for (const each of this.behind(leaf, relation)) found.add(each)
    })
    return [...found]
  }

  /** The relations whose members a leaf of a definition inherits. */
  behind(leaf: Userset, relation: IndexedRelation): IndexedRelation[] {
    const { types } = this.#index
    if ("computedUserset" in leaf) return maybe(types.get(relation.type)?.get(leaf.computedUserset.relation))
    if ("tupleToUserset" in leaf) return relationsBehind(leaf.tupleToUserset, relation, types)
    if (!("this" in leaf)) return []
    return relation.references.flatMap((each) => {
      return each.relation === undefined ? [] : maybe(types.get(each.type)?.get(each.relation))
    })
  }

  /** Adds the subjects of a part. What `but not` removes still counts, because single users may be left. */
  #collect(rewrite: Userset, relation: IndexedRelation, into: Set<string>): void {
    if ("difference" in rewrite) {
      if (this.#options.isVoid?.(rewrite, relation) !== true)
        this.#collect(rewrite.difference.base, relation, into)
    } else if ("union" in rewrite) {
      for (const each of rewrite.union.child) this.#collect(each, relation, into)
    } else if ("intersection" in rewrite) {
      const [first, ...rest] = rewrite.intersection.child.map((each) => this.ofPart(each, relation))
      for (const each of first ?? []) if (rest.every((other) => other.has(each))) into.add(each)
    } else {
      if ("this" in rewrite) for (const kind of this.direct(relation)) into.add(kind)
      for (const each of this.behind(rewrite, relation)) for (const kind of this.of(each)) into.add(kind)
    }
  }
}

function maybe<Value>(value: Value | undefined): Value[] {
  return value === undefined ? [] : [value]
}
