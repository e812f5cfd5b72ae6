import {
  eachLeaf,
  type IndexedRelation,
  indexModel,
  type ModelIndex,
  nothingBroken,
} from "../../runtime/model/model-index.ts"
import type { CompiledModel } from "./compile-model.ts"
import { Containment, voidExclusions } from "./containment.ts"
import { definitionOf, relationName } from "./definition.ts"
import { type SubjectPaths, subjectPaths } from "./explain-paths.ts"
import { type Need, needsOf } from "./explain-tree.ts"
import { Subjects } from "./subjects.ts"

/** Another relation whose definition reads the explained one; `direct`: it names it itself, or lists it as a user set. */
export interface Dependent {
  readonly relation: string
  readonly definition: string
  readonly place: string | undefined
  readonly direct: boolean
}

/** What a model says about one of its relations. Places are `file:line:column`. */
export interface ExplainedRelation {
  /** `type#relation`. */
  readonly relation: string
  readonly definition: string
  readonly place: string | undefined
  /** What its answer rests on, each relation spelled out where it comes first. */
  readonly dependsOn: Need
  /** Conditions in what it rests on. */
  readonly conditions: readonly {
    readonly name: string
    readonly parameters: readonly string[]
    readonly expression: string
  }[]
  /** Nearest first. */
  readonly dependents: readonly Dependent[]
  /** Who could ever have it, whatever the tuples are, and on which ways; empty when nobody could. */
  readonly subjects: readonly SubjectPaths[]
}

/** Explains a relation of a model; undefined when the model has none of that name. */
export function explainRelation(
  { model, types }: CompiledModel,
  type: string,
  name: string,
): ExplainedRelation | undefined {
  const index = indexModel(model, nothingBroken)
  const relation = index.types.get(type)?.get(name)
  if (relation === undefined) return undefined
  const placeOf = (each: IndexedRelation): string | undefined => {
    const span = types.get(each.type)?.relations.get(each.name)
    if (span === undefined) return undefined
    const { line, column } = span.file.position(span.start)
    return `${span.file.path}:${line}:${column}`
  }
  const containment = new Containment(index)
  const subjects = new Subjects(index, { isVoid: voidExclusions(containment), all: true })
  const { need, conditions } = needsOf(relation, subjects)
  return {
    relation: relationName(relation),
    definition: definitionOf(relation),
    place: placeOf(relation),
    dependsOn: need,
    conditions: [...conditions].sort().map((each) => {
      const { expression = "", parameters = {} } = model.conditions?.[each] ?? {}
      return { name: each, parameters: Object.keys(parameters).sort(), expression }
    }),
    dependents: dependentsOf(relation, index, subjects).map(({ each, direct }) => {
      return { relation: relationName(each), definition: definitionOf(each), place: placeOf(each), direct }
    }),
    subjects: subjectPaths(relation, subjects),
  }
}

/** Relations that read this one, also through others and as tuplesets, level by level. */
function dependentsOf(
  relation: IndexedRelation,
  index: ModelIndex,
  subjects: Subjects,
): { readonly each: IndexedRelation; readonly direct: boolean }[] {
  const readers = new Map<IndexedRelation, IndexedRelation[]>()
  for (const reader of index.relations) {
    for (const read of new Set([...subjects.readBy(reader), ...tuplesetsOf(reader, index)]))
      readers.set(read, [...(readers.get(read) ?? []), reader])
  }
  const found = new Set([relation])
  for (const each of found) for (const reader of readers.get(each) ?? []) found.add(reader)
  const direct = new Set(readers.get(relation) ?? [])
  found.delete(relation)
  return [...found].map((each) => ({ each, direct: direct.has(each) }))
}

function tuplesetsOf(relation: IndexedRelation, { types }: ModelIndex): IndexedRelation[] {
  const found: IndexedRelation[] = []
  eachLeaf(relation.rewrite, (leaf) => {
    if (!("tupleToUserset" in leaf)) return
    const tupleset = types.get(relation.type)?.get(leaf.tupleToUserset.tupleset.relation)
    if (tupleset !== undefined) found.push(tupleset)
  })
  return found
}
