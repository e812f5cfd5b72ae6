import {
  eachLeaf,
  type IndexedRelation,
  indexModel,
  type ModelIndex,
  nothingBroken,
  referenceText,
} from "../../runtime/model/model-index.ts"
import type { Userset } from "../../runtime/plan/authorization-model.ts"
import type { Plan } from "../../runtime/plan/plan.ts"
import { isRelation, nestedSteps, type StepId } from "../../runtime/plan/steps.ts"
import type { CompiledModel } from "./compile-model.ts"
import { Containment, voidExclusions } from "./containment.ts"
import { definitionOf, relationName } from "./definition.ts"
import { type SubjectPaths, subjectPaths } from "./explain-paths.ts"
import { Subjects } from "./subjects.ts"

/** Another relation whose definition reads the explained one. `direct`: it names the explained relation itself, or lists it as a user set. */
export interface Dependent {
  readonly relation: string
  readonly definition: string
  readonly place: string | undefined
  readonly direct: boolean
}

/** Facts about one relation of a model. Places are `file:line:column`. */
export interface ExplainedRelation {
  /** `type#relation`. */
  readonly relation: string
  readonly definition: string
  readonly place: string | undefined
  /** What the relation is computed from. Each relation is expanded at its first occurrence. */
  readonly dependsOn: Need
  /** Conditions in the relations it is computed from. */
  readonly conditions: readonly {
    readonly name: string
    readonly parameters: readonly string[]
    readonly expression: string
  }[]
  /** Nearest first. */
  readonly dependents: readonly Dependent[]
  /** Subjects that could have the relation, for any tuples, with their paths. Empty when no subject can have it. */
  readonly subjects: readonly SubjectPaths[]
}

/** Explains a relation of a model. Returns undefined when the model has no relation of that name. */
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

/** Relations that read this one, also indirectly and as tuplesets, breadth-first. */
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

/** The relations whose tuples name the objects of a `from`. */
function tuplesetsOf(relation: IndexedRelation, { types }: ModelIndex): IndexedRelation[] {
  const found: IndexedRelation[] = []
  eachLeaf(relation.rewrite, (leaf) => {
    if (!("tupleToUserset" in leaf)) return
    const tupleset = types.get(relation.type)?.get(leaf.tupleToUserset.tupleset.relation)
    if (tupleset !== undefined) found.push(tupleset)
  })
  return found
}

/** A route that requires a relation. */
export interface RequiringRoute {
  /** `METHOD /path`. */
  readonly route: string
  /** `type#relation`. */
  readonly relation: string
  /** `file:line` of the `require`. */
  readonly place: string | undefined
}

/** The routes of a plan that require any of these relations, in the order of their keys. */
export function routesRequiring(
  { plan, origins }: Plan,
  store: string,
  relations: ReadonlySet<string>,
): readonly RequiringRoute[] {
  const found: RequiringRoute[] = []
  const walk = (route: string, path: string, ids: readonly StepId[]): void => {
    ids.forEach((id, at) => {
      const step = plan.steps[id]
      const place = `${path}.${at}`
      if (step === undefined) return
      for (const inside of nestedSteps(step)) walk(route, `${place}.${inside.place}`, inside.steps)
      if (!isRelation(step) || step.store !== store) return
      const [head] = typeof step.object === "string" ? [step.object] : step.object.text
      const relation = `${typeof head === "string" ? head.slice(0, head.indexOf(":")) : ""}#${step.relation}`
      if (relations.has(relation)) found.push({ route, relation, place: origins[place] })
    })
  }
  for (const key of Object.keys(plan.routes).sort()) {
    const { sections } = plan.routes[key] ?? {}
    for (const [section, ids] of Object.entries(sections ?? {})) walk(key, `routes.${key}.${section}`, ids)
  }
  return found
}

/** Maximum depth to which relations are expanded. */
const depthMax = 100

/**
 * What a relation is computed from. `tuples`: tuples of a relation for these subjects, with the relations of the user sets among them.
 * `relation`: another relation, expanded in `by` at its first occurrence unless that is too deep. `from`: a relation of the objects that the
 * tuples of another relation lead to.
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

/** What a relation is computed from, and the conditions in it. */
function needsOf(
  relation: IndexedRelation,
  subjects: Subjects,
): { readonly need: Need; readonly conditions: ReadonlySet<string> } {
  const tree = new Tree(subjects)
  return { need: tree.relation(relation, 0), conditions: tree.conditions }
}

/** The tree of a definition. Each relation is expanded once: definitions may be cyclic. */
class Tree {
  readonly conditions = new Set<string>()
  readonly #subjects: Subjects
  readonly #seen = new Set<IndexedRelation>()

  constructor(subjects: Subjects) {
    this.#subjects = subjects
  }

  /** A relation with its definition; without it if it was shown already. */
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

  /** One part of a definition. */
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
