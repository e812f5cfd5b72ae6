import type { ModelPath } from "../../runtime/model/finding.ts"
import type { IndexedRelation } from "../../runtime/model/model-index.ts"
import type { Userset } from "../../runtime/plan/authorization-model.ts"
import type { DiagnosticCode } from "../core/catalogue.ts"

/** Something that is allowed but probably not intended. */
export interface Lint {
  readonly code: DiagnosticCode
  readonly path: ModelPath
  readonly detail: string
  readonly related?: readonly { readonly path: ModelPath; readonly message: string }[]
}

/** A part of a relation's definition. `this` means the tuples of that relation. */
export interface DefinitionPart {
  readonly rewrite: Userset
  readonly relation: IndexedRelation
}

/** The relations `wanted` of the objects behind `wanted from tupleset`, one for each type that has it. */
export function relationsBehind(
  {
    tupleset,
    computedUserset,
  }: { readonly tupleset: { relation: string }; readonly computedUserset: { relation: string } },
  relation: IndexedRelation,
  types: ReadonlyMap<string, ReadonlyMap<string, IndexedRelation>>,
): IndexedRelation[] {
  const parents = types.get(relation.type)?.get(tupleset.relation)?.references ?? []
  const names = new Set(parents.map(({ type }) => type))
  return [...names].flatMap((type) => types.get(type)?.get(computedUserset.relation) ?? [])
}
