import type { AuthorizationModel, RelationReference, Userset } from "../plan/authorization-model.ts"
import type { BrokenParts } from "./broken-parts.ts"
import type { ModelPath } from "./finding.ts"

/** Of a model that came as JSON, or whose text was understood. */
export const nothingBroken: BrokenParts = { relations: new Set(), conditions: new Set(), types: false }

/** A relation with all that validation asks about it. */
export interface IndexedRelation {
  readonly type: string
  readonly name: string
  readonly rewrite: Userset
  readonly references: readonly RelationReference[]
  /** Path of the relation's rewrite, which is also the place of findings about the relation itself. */
  readonly path: ModelPath
  /** Path of the list of type restrictions. */
  readonly referencesPath: ModelPath
  readonly broken: boolean
}

/** Types and relations by name. Of a type defined twice the first definition of each relation counts. */
export interface ModelIndex {
  readonly types: ReadonlyMap<string, ReadonlyMap<string, IndexedRelation>>
  /** All relations in order, of repeated types too. */
  readonly relations: readonly IndexedRelation[]
  readonly broken: BrokenParts
}

/** Maps instead of the JSON's objects, because `constructor` and the like are good names for relations. */
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

/** Parts of a rewrite that are no operators, with their paths, left to right. */
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

/** The same without paths, for the many callers that report nothing. */
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

/** A type restriction as the language writes it: `team#member with c`. */
export function referenceText(reference: RelationReference): string {
  const subject = subjectText(reference)
  return reference.condition === undefined ? subject : `${subject} with ${reference.condition}`
}

/** The same without its condition. */
export function subjectText({ type, relation, wildcard }: RelationReference): string {
  if (wildcard !== undefined && relation !== undefined) return `${type}:*#${relation}`
  if (wildcard !== undefined) return `${type}:*`
  return relation === undefined ? type : `${type}#${relation}`
}
