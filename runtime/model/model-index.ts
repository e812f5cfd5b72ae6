import type { AuthorizationModel, RelationReference, Userset } from "../plan/authorization-model.ts"
import type { BrokenParts } from "./broken-parts.ts"
import type { ModelPath } from "./finding.ts"

/** For a model from JSON, or from text without syntax errors. */
export const nothingBroken: BrokenParts = { relations: new Set(), conditions: new Set(), types: false }

/** A relation with everything that validation needs. */
export interface IndexedRelation {
  readonly type: string
  readonly name: string
  readonly rewrite: Userset
  readonly references: readonly RelationReference[]
  /** Path of the relation's rewrite, also used for findings about the relation itself. */
  readonly path: ModelPath
  /** Path of the list of type restrictions. */
  readonly referencesPath: ModelPath
  readonly broken: boolean
}

/** Types and relations by name. If a type is defined twice, the first definition of each relation applies. */
export interface ModelIndex {
  readonly types: ReadonlyMap<string, ReadonlyMap<string, IndexedRelation>>
  /** All relations in order, including those of duplicate types. */
  readonly relations: readonly IndexedRelation[]
  readonly broken: BrokenParts
}

/** Uses maps instead of JSON objects, because `constructor` and similar names are valid names of relations. */
export function indexModel(model: AuthorizationModel, broken: BrokenParts): ModelIndex {
  const types = new Map<string, Map<string, IndexedRelation>>()
  const relations: IndexedRelation[] = []
  model.type_definitions.forEach((definition, at) => {
    const known = types.get(definition.type) ?? new Map<string, IndexedRelation>()
    types.set(definition.type, known)
    const metadata = new Map(Object.entries(definition.metadata?.relations ?? {}))
    for (const [name, rewrite] of Object.entries(definition.relations ?? {})) {
      const relation: IndexedRelation = {
        type: definition.type,
        name,
        rewrite,
        references: metadata.get(name)?.directly_related_user_types ?? [],
        path: ["type_definitions", at, "relations", name],
        referencesPath: [
          "type_definitions",
          at,
          "metadata",
          "relations",
          name,
          "directly_related_user_types",
        ],
        broken: broken.relations.has(`${definition.type}#${name}`),
      }
      relations.push(relation)
      if (!known.has(name)) known.set(name, relation)
    }
  })
  return { types, relations, broken }
}

/** The leaves of a rewrite (parts that are not operators), with their paths, left to right. */
export function leavesOf(
  rewrite: Userset,
  path: ModelPath,
): { readonly leaf: RewriteLeaf; readonly path: ModelPath }[] {
  if ("union" in rewrite)
    return rewrite.union.child.flatMap((each, at) => leavesOf(each, [...path, "union", "child", at]))
  if ("intersection" in rewrite) {
    return rewrite.intersection.child.flatMap((each, at) =>
      leavesOf(each, [...path, "intersection", "child", at]),
    )
  }
  if ("difference" in rewrite) {
    return [
      ...leavesOf(rewrite.difference.base, [...path, "difference", "base"]),
      ...leavesOf(rewrite.difference.subtract, [...path, "difference", "subtract"]),
    ]
  }
  return [{ leaf: rewrite, path }]
}

/** Like `leavesOf` without paths, for the many callers that report nothing. */
export function eachLeaf(rewrite: Userset, visit: (leaf: RewriteLeaf) => void): void {
  if ("union" in rewrite) for (const each of rewrite.union.child) eachLeaf(each, visit)
  else if ("intersection" in rewrite) for (const each of rewrite.intersection.child) eachLeaf(each, visit)
  else if ("difference" in rewrite) {
    eachLeaf(rewrite.difference.base, visit)
    eachLeaf(rewrite.difference.subtract, visit)
  } else visit(rewrite)
}

/** A rewrite without operands. */
export type RewriteLeaf = Extract<
  Userset,
  { this: unknown } | { computedUserset: unknown } | { tupleToUserset: unknown }
>

/** A type restriction in the notation of the language: `team#member with c`. */
export function referenceText(reference: RelationReference): string {
  const subject = subjectText(reference)
  return reference.condition === undefined ? subject : `${subject} with ${reference.condition}`
}

/** Like `referenceText`, without the condition. */
export function subjectText({ type, relation, wildcard }: RelationReference): string {
  if (wildcard !== undefined && relation !== undefined) return `${type}:*#${relation}`
  if (wildcard !== undefined) return `${type}:*`
  return relation === undefined ? type : `${type}#${relation}`
}
