import { type CompiledCondition, compileCondition } from "../expression/condition.ts"
import type { Condition, ModelPlan, RelationNode, RelationPlans } from "../plan/authorization-model.ts"
import { digestOf } from "../plan/canonical.ts"
import { RelationProgram } from "./evaluate/program.ts"
import type { Graph } from "./graph/graph.ts"

/** Programs are made per kind of subject and contain a part per relation: this many parts of one model are kept. */
const partsMax = 200_000

let serials = 0

/** A model's types and slots in the numbers of one graph. */
export interface ModelInGraph {
  /** For each slot of the plan. */
  readonly slots: Int32Array
  /** By the type's number; undefined for types that the model does not have. */
  readonly types: readonly (TypeInGraph | undefined)[]
}

/** The properties of a type that a check needs. */
export interface TypeInGraph {
  readonly type: string
  /** `type:*`. */
  readonly wildcard: string
  /** Each relation's index in the plan. */
  readonly relations: ReadonlyMap<string, number>
}

/**
 * A model ready for questions, with compiled conditions and with relation plans per kind of subject. Made by `loadModel`, immutable to its
 * users.
 */
export class LoadedModel {
  /** Digest of the model's canonical JSON. */
  readonly digest: string
  /** Unique among the models of this process. */
  readonly serial = ++serials
  readonly plan: ModelPlan
  readonly conditions: ReadonlyMap<string, CompiledCondition>
  /** From type and relation to the relation's index in the plan. */
  readonly types: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** Per relation: the restrictions as `user`, `user:*`, `group#member`, each with the allowed conditions (`""`: none). */
  readonly restrictions: readonly ReadonlyMap<string, ReadonlySet<string>>[]
  /** Relations used after a `from` on their type: only plain objects may be related by them. */
  readonly tuplesets: ReadonlySet<number>
  readonly #programs = new Map<string, RelationProgram>()
  readonly #inGraphs = new WeakMap<Graph, ModelInGraph>()

  constructor(digest: string, plan: ModelPlan, conditions: ReadonlyMap<string, CompiledCondition>) {
    this.digest = digest
    this.plan = plan
    this.conditions = conditions
    const { relations, slots, subjects, conditions: names } = plan.relations
    const types = new Map<string, Map<string, number>>()
    for (const { type } of plan.model.type_definitions) types.set(type, new Map())
    relations.forEach(({ type, relation }, index) => {
      types.get(type)?.set(relation, index)
    })
    this.types = types
    const restrictions = relations.map(() => new Map<string, Set<string>>())
    for (const [relation, subject, condition] of slots) {
      const kind = subjects[subject] ?? ""
      const row = restrictions[relation] ?? new Map<string, Set<string>>()
      row.set(kind, (row.get(kind) ?? new Set()).add(condition < 0 ? "" : (names[condition] ?? "")))
    }
    this.restrictions = restrictions
    this.tuplesets = new Set(plan.relations.relations.flatMap(({ plan: node }) => tuplesetsOf(node, slots)))
  }

  relationIndex(type: string, relation: string): number {
    return this.types.get(type)?.get(relation) ?? -1
  }

  /** The relation plans for this kind of subject (`user`, `user:*`, `group#member`). */
  program(kind: string): RelationProgram {
    const known = this.#programs.get(kind)
    if (known !== undefined) return known
    const { length } = this.plan.relations.relations
    if ((this.#programs.size + 1) * length > partsMax) this.#programs.clear()
    const made = new RelationProgram(this.plan.relations, kind, this.conditions)
    this.#programs.set(kind, made)
    return made
  }

  /** The model in the graph's numbers. */
  inGraph(graph: Graph): ModelInGraph {
    const known = this.#inGraphs.get(graph)
    if (known !== undefined) return known
    const { relations, slots, subjects, conditions } = this.plan.relations
    const types: (TypeInGraph | undefined)[] = []
    for (const [type, its] of this.types)
      types[graph.typeId(type)] = { type, wildcard: `${type}:*`, relations: its }
    const made: ModelInGraph = {
      slots: Int32Array.from(slots, ([relation, subject, condition]) => {
        const { type = "", relation: name = "" } = relations[relation] ?? {}
        const [subjectType, subjectRelation] = splitSubject(subjects[subject] ?? "")
        return graph.slot(type, name, subjectType, subjectRelation, conditions[condition] ?? "").id
      }),
      types,
    }
    this.#inGraphs.set(graph, made)
    return made
  }
}

function tuplesetsOf(root: RelationNode, slots: RelationPlans["slots"]): number[] {
  const found: number[] = []
  const nodes = [root]
  for (const node of nodes) {
    if ("all" in node) nodes.push(...node.all)
    else if ("but" in node) nodes.push(...node.but)
    else {
      for (const [slot] of node.any.from ?? []) found.push(slots[slot]?.[0] ?? -1)
      nodes.push(...(node.any.branches ?? []))
    }
  }
  return found
}

/** `user` → [user, ""], `user:*` → [user, "*"], `group#member` → [group, member]. */
function splitSubject(subject: string): [string, string] {
  if (subject.endsWith(":*")) return [subject.slice(0, -2), "*"]
  const hash = subject.indexOf("#")
  return hash < 0 ? [subject, ""] : [subject.slice(0, hash), subject.slice(hash + 1)]
}

const loadedMax = 1_000
const loadedByDigest = new Map<string, LoadedModel>()

/**
 * Loads a model of a plan: compiles its conditions once and caches the result by digest, so that a new plan with the same model costs
 * nothing.
 * @throws TypeError when a condition does not compile: the model was not validated
 */
export function loadModel(plan: ModelPlan): LoadedModel {
  // The relation plans are part of the key: an older compiler may have made others for the same model.
  const key = digestOf(plan)
  const known = loadedByDigest.get(key)
  if (known !== undefined) {
    loadedByDigest.delete(key)
    loadedByDigest.set(key, known)
    return known
  }
  const conditions = new Map<string, CompiledCondition>()
  for (const [name, condition] of Object.entries(plan.model.conditions ?? {}))
    conditions.set(name, compiled(condition))
  const loaded = new LoadedModel(digestOf(plan.model), plan, conditions)
  loadedByDigest.set(key, loaded)
  const oldest = loadedByDigest.keys().next()
  if (loadedByDigest.size > loadedMax && !oldest.done) loadedByDigest.delete(oldest.value)
  return loaded
}

function compiled(condition: Condition): CompiledCondition {
  const result = compileCondition(condition)
  if (result.ok) return result.condition
  const [finding] = result.findings
  throw new TypeError(`condition \`${condition.name}\`: ${finding?.message ?? "does not compile"}`)
}
