import type { ModelPath } from "../../runtime/model/finding.ts"
import type {
  AuthorizationModel,
  RelationReference,
  Userset,
} from "../../runtime/plan/authorization-model.ts"
import type { Code } from "../core/catalogue.ts"

/** Something that is allowed and hardly meant. */
export interface Lint {
  readonly code: Code
  readonly path: ModelPath
  readonly detail: string
}

/** Looks for what is hardly meant in a model without errors. Linear but for the fixed point over types, which is short. */
export function lintModel(model: AuthorizationModel): Lint[] {
  return [...unusedTypes(model), ...publicWrites(model), ...emptyIntersections(model)]
}

function referencesOf(model: AuthorizationModel, at: number): [string, readonly RelationReference[]][] {
  const relations = Object.entries(model.type_definitions[at]?.metadata?.relations ?? {})
  return relations.map(([name, relation]) => [name, relation.directly_related_user_types ?? []])
}

/** A model of one type only is a beginning, not a mistake. */
function unusedTypes(model: AuthorizationModel): Lint[] {
  const used = new Set<string>()
  model.type_definitions.forEach((_, at) => {
    for (const [, references] of referencesOf(model, at)) for (const { type } of references) used.add(type)
  })
  if (used.size === 0) return []
  return model.type_definitions.flatMap(({ type, relations }, at): Lint[] => {
    if (relations !== undefined || used.has(type)) return []
    const detail = `the type \`${type}\` has no relations, and no relation lists it`
    return [{ code: "SP4040", path: ["type_definitions", at, "type"], detail }]
  })
}

const writing = new Set([
  "write",
  "writer",
  "edit",
  "editor",
  "delete",
  "remove",
  "owner",
  "own",
  "admin",
  "manage",
])

function publicWrites(model: AuthorizationModel): Lint[] {
  return model.type_definitions.flatMap(({ type }, at) =>
    referencesOf(model, at).flatMap(([name, references]): Lint[] => {
      if (
        !name
          .toLowerCase()
          .split(/[^a-z0-9]+/)
          .some((word) => writing.has(word))
      )
        return []
      return references.flatMap((reference, index): Lint[] => {
        if (reference.wildcard === undefined || reference.condition !== undefined) return []
        const list = [
          "type_definitions",
          at,
          "metadata",
          "relations",
          name,
          "directly_related_user_types",
          index,
        ]
        const detail = `\`${reference.type}:*\` lets a single tuple make every \`${reference.type}\` \`${name}\` of a \`${type}\``
        return [{ code: "SP4042", path: list, detail }]
      })
    }),
  )
}

interface LintedRelation {
  readonly type: string
  readonly name: string
  readonly rewrite: Userset
  readonly references: readonly RelationReference[]
  readonly path: ModelPath
  /** Types of users it can have, as far as known. Grows to the least fixed point. */
  readonly subjects: Set<string>
}

/** Which types of users each relation can have. */
class SubjectTypes {
  readonly relations: LintedRelation[] = []
  readonly #types = new Map<string, Map<string, LintedRelation>>()

  constructor(model: AuthorizationModel) {
    model.type_definitions.forEach(({ type, relations }, at) => {
      const own = new Map<string, LintedRelation>()
      const references = new Map(referencesOf(model, at))
      for (const [name, rewrite] of Object.entries(relations ?? {})) {
        const path = ["type_definitions", at, "relations", name]
        const known = {
          type,
          name,
          rewrite,
          references: references.get(name) ?? [],
          path,
          subjects: new Set<string>(),
        }
        own.set(name, known)
        this.relations.push(known)
      }
      this.#types.set(type, own)
    })
    for (let size = -1, before = -2; size !== before; ) {
      before = size
      for (const each of this.relations) this.#collect(each.rewrite, each, each.subjects)
      size = this.relations.reduce((sum, each) => sum + each.subjects.size, 0)
    }
  }

  /** The types of one part of a relation's definition. */
  of(rewrite: Userset, relation: LintedRelation): Set<string> {
    const found = new Set<string>()
    this.#collect(rewrite, relation, found)
    return found
  }

  #collect(rewrite: Userset, relation: LintedRelation, into: Set<string>): void {
    if ("this" in rewrite) {
      for (const each of relation.references) {
        if (each.relation === undefined) into.add(each.type)
        else this.#addAll(each.type, each.relation, into)
      }
    } else if ("computedUserset" in rewrite)
      this.#addAll(relation.type, rewrite.computedUserset.relation, into)
    else if ("tupleToUserset" in rewrite) {
      const { tupleset, computedUserset } = rewrite.tupleToUserset
      const parents = this.#types.get(relation.type)?.get(tupleset.relation)?.references ?? []
      for (const { type } of parents) this.#addAll(type, computedUserset.relation, into)
    } else if ("difference" in rewrite) this.#collect(rewrite.difference.base, relation, into)
    else if ("union" in rewrite) for (const each of rewrite.union.child) this.#collect(each, relation, into)
    else {
      const [first, ...rest] = rewrite.intersection.child.map((each) => this.of(each, relation))
      for (const each of first ?? []) if (rest.every((other) => other.has(each))) into.add(each)
    }
  }

  #addAll(type: string, relation: string, into: Set<string>): void {
    for (const each of this.#types.get(type)?.get(relation)?.subjects ?? []) into.add(each)
  }
}

function emptyIntersections(model: AuthorizationModel): Lint[] {
  const subjects = new SubjectTypes(model)
  return subjects.relations.flatMap((relation) =>
    intersectionsIn(relation.rewrite, relation.path).flatMap(({ child, path }): Lint[] => {
      const sides = child.map((each) => subjects.of(each, relation))
      if (sides.some((side) => side.size === 0)) return []
      if (subjects.of({ intersection: { child } }, relation).size > 0) return []
      const shown = sides.map((side) => [...side].map((type) => `\`${type}\``).join(", ")).join("; then ")
      const detail = `no user is on all sides of \`and\` in \`${relation.name}\`, they hold ${shown}`
      return [{ code: "SP4041", path, detail }]
    }),
  )
}

interface Intersection {
  readonly child: Userset[]
  readonly path: ModelPath
}

function intersectionsIn(rewrite: Userset, path: ModelPath): Intersection[] {
  if ("intersection" in rewrite) {
    const { child } = rewrite.intersection
    return [
      { child, path },
      ...child.flatMap((each, at) => intersectionsIn(each, [...path, "intersection", "child", at])),
    ]
  }
  if ("union" in rewrite) {
    return rewrite.union.child.flatMap((each, at) => intersectionsIn(each, [...path, "union", "child", at]))
  }
  if (!("difference" in rewrite)) return []
  return [
    ...intersectionsIn(rewrite.difference.base, [...path, "difference", "base"]),
    ...intersectionsIn(rewrite.difference.subtract, [...path, "difference", "subtract"]),
  ]
}
