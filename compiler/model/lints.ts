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

/** Types of users a relation can have, per `type#relation`, as a least fixed point. */
class SubjectTypes {
  readonly #model: AuthorizationModel
  readonly #known = new Map<string, ReadonlySet<string>>()

  constructor(model: AuthorizationModel) {
    this.#model = model
    for (let grown = true; grown; ) {
      grown = false
      model.type_definitions.forEach((definition, at) => {
        const references = new Map(referencesOf(model, at))
        for (const [name, rewrite] of Object.entries(definition.relations ?? {})) {
          const key = `${definition.type}#${name}`
          const types = this.of(rewrite, definition.type, references.get(name) ?? [])
          if (types.size === (this.#known.get(key)?.size ?? 0)) continue
          this.#known.set(key, types)
          grown = true
        }
      })
    }
  }

  of(rewrite: Userset, type: string, references: readonly RelationReference[]): ReadonlySet<string> {
    if ("this" in rewrite) return union(references.map((each) => this.#ofReference(each)))
    if ("computedUserset" in rewrite) return this.#of(type, rewrite.computedUserset.relation)
    if ("tupleToUserset" in rewrite) {
      const { tupleset, computedUserset } = rewrite.tupleToUserset
      const parents = this.#directTypes(type, tupleset.relation)
      return union(parents.map((parent) => this.#of(parent, computedUserset.relation)))
    }
    if ("difference" in rewrite) return this.of(rewrite.difference.base, type, references)
    if ("union" in rewrite) return union(rewrite.union.child.map((each) => this.of(each, type, references)))
    const [first, ...rest] = rewrite.intersection.child.map((each) => this.of(each, type, references))
    return new Set([...(first ?? [])].filter((each) => rest.every((other) => other.has(each))))
  }

  #of(type: string, relation: string): ReadonlySet<string> {
    return this.#known.get(`${type}#${relation}`) ?? new Set()
  }

  #ofReference({ type, relation }: RelationReference): ReadonlySet<string> {
    return relation === undefined ? new Set([type]) : this.#of(type, relation)
  }

  #directTypes(type: string, relation: string): string[] {
    const at = this.#model.type_definitions.findIndex((each) => each.type === type)
    const found = referencesOf(this.#model, at).find(([name]) => name === relation)
    return (found?.[1] ?? []).map((each) => each.type)
  }
}

function union(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]))
}

function emptyIntersections(model: AuthorizationModel): Lint[] {
  if (!JSON.stringify(model.type_definitions).includes('"intersection"')) return []
  const subjects = new SubjectTypes(model)
  return model.type_definitions.flatMap((definition, at) => {
    const references = new Map(referencesOf(model, at))
    return Object.entries(definition.relations ?? {}).flatMap(([name, rewrite]) => {
      const own = references.get(name) ?? []
      const path = ["type_definitions", at, "relations", name]
      return intersectionsIn(rewrite, path).flatMap((each): Lint[] => {
        const sides = each.child.map((child) => subjects.of(child, definition.type, own))
        if (sides.some((side) => side.size === 0)) return []
        if (subjects.of({ intersection: { child: each.child } }, definition.type, own).size > 0) return []
        const shown = sides.map((side) => [...side].map((type) => `\`${type}\``).join(", ")).join("; then ")
        return [
          {
            code: "SP4041",
            path: each.path,
            detail: `no user is on both sides of \`and\` in \`${name}\`: ${shown}`,
          },
        ]
      })
    })
  })
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
