import { type IndexedRelation, referenceText } from "../../runtime/model/model-index.ts"
import type { RelationReference, Userset } from "../../runtime/plan/authorization-model.ts"
import { relationName } from "./definition.ts"
import { operandText } from "./rewrite-text.ts"
import type { Subjects } from "./subjects.ts"

/** One path: the relations from the explained one to the one whose tuples grant it, and the additional requirements on that path. */
export interface SubjectPath {
  readonly relations: readonly string[]
  /** Entries of the last relation's type list that match the subject. */
  readonly tuples: readonly string[]
  /** `document#viewer but not blocked`, `document#editor and approved`. */
  readonly only: readonly string[]
}

/** A kind of subject (`user`, `user:*` for all users, `team#member` for a set as a whole), and the shortest path from each relation whose tuples grant it. */
export interface SubjectPaths {
  readonly subject: string
  readonly paths: readonly SubjectPath[]
}

/** Which subjects could have a relation, and on which paths. `subjects` must be built with the option `all`. */
export function subjectPaths(relation: IndexedRelation, subjects: Subjects): SubjectPaths[] {
  return [...subjects.of(relation)].sort(byKind).map((subject) => {
    return { subject, paths: pathsOf(subject, relation, subjects) }
  })
}

/** User sets last, others by name. */
function byKind(a: string, b: string): number {
  return Number(a.includes("#")) - Number(b.includes("#")) || (a < b ? -1 : 1)
}

interface Way {
  readonly relation: IndexedRelation
  readonly before: Way | undefined
  /** Requirements in addition to the step that leads here. */
  readonly only: readonly string[]
}

/** Searches breadth-first, so that each relation is reached by a shortest path. */
function pathsOf(subject: string, start: IndexedRelation, subjects: Subjects): SubjectPath[] {
  const ways = new Map<IndexedRelation, Way>([[start, { relation: start, before: undefined, only: [] }]])
  const paths: SubjectPath[] = []
  for (const way of ways.values()) {
    const { relation } = way
    for (const { leaf, only } of leavesFor(subject, relation, subjects)) {
      if ("this" in leaf) {
        const tuples = relation.references.filter((each) => takes(each, subject)).map(referenceText)
        if (tuples.length > 0) paths.push({ ...traced(way, only), tuples })
      }
      for (const next of subjects.behind(leaf, relation)) {
        if (!ways.has(next) && subjects.of(next).has(subject))
          ways.set(next, { relation: next, before: way, only })
      }
    }
  }
  return paths
}

/** Follows a path back to its beginning. */
function traced(last: Way, only: readonly string[]): { relations: string[]; only: string[] } {
  const relations: string[] = []
  const conditions = [...only]
  for (let way: Way | undefined = last; way !== undefined; way = way.before) {
    relations.unshift(relationName(way.relation))
    conditions.unshift(...way.only)
  }
  return { relations, only: conditions }
}

/** The leaves of a definition that can grant the relation to a subject, with the additional requirements of the operators around them. */
function leavesFor(
  subject: string,
  relation: IndexedRelation,
  subjects: Subjects,
): { readonly leaf: Userset; readonly only: readonly string[] }[] {
  const say = (words: string, rewrite: Userset) => {
    const list = `[${relation.references.map(referenceText).join(", ")}]`
    return `${relationName(relation)} ${words} ${operandText(rewrite, list) ?? "…"}`
  }
  const walk = (rewrite: Userset, only: readonly string[]): { leaf: Userset; only: readonly string[] }[] => {
    if (!subjects.ofPart(rewrite, relation).has(subject)) return []
    if ("union" in rewrite) return rewrite.union.child.flatMap((each) => walk(each, only))
    if ("difference" in rewrite) {
      const { base, subtract } = rewrite.difference
      return walk(base, [...only, say("but not", subtract)])
    }
    if (!("intersection" in rewrite)) return [{ leaf: rewrite, only }]
    const { child } = rewrite.intersection
    return child.flatMap((each, at) =>
      walk(each, [...only, ...child.toSpliced(at, 1).map((other) => say("and", other))]),
    )
  }
  return walk(relation.rewrite, [])
}

function takes({ type, relation, wildcard }: RelationReference, subject: string): boolean {
  if (relation !== undefined) return subject === `${type}#${relation}`
  return (
    subject === (wildcard === undefined ? type : `${type}:*`) || (wildcard !== undefined && subject === type)
  )
}
