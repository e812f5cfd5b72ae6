import type {
  AuthorizationModel,
  ModelPlan,
  RelationNode,
  RelationPlans,
  RelationReference,
  Userset,
} from "../plan/authorization-model.ts"
import { reachOfAll } from "./reach.ts"

/**
 * Compiles a valid model (see validate.ts) to relation plans. Restrictions become numbered slots, and computed unions are inlined. Direct parts come
 * first, then branches by cost. `X from Y` is resolved to the parent types that Y allows. Each relation has the list of subjects that can have it at
 * all. The result depends only on the model's content, not on the order of its definitions. A reference to something undefined, which a valid model
 * cannot contain, grants nothing.
 */
export function lowerModel(model: AuthorizationModel): ModelPlan {
  const tables = collectTables(model)
  const lowering = new Lowering(tables)
  const relations = tables.relations.map(({ type, relation }, index) => ({
    type,
    relation,
    plan: lowering.planOf(index),
    reach: [] as number[],
  }))
  const plans: RelationPlans = {
    subjects: tables.subjects,
    conditions: tables.conditions,
    relations,
    slots: tables.slots.map(({ relation, subject, condition }) => [relation, subject, condition]),
  }
  reachOfAll(plans).forEach((reach, index) => {
    const row = relations[index]
    if (row !== undefined) row.reach = reach
  })
  return { model, relations: plans }
}

interface RelationRow {
  readonly type: string
  readonly relation: string
  readonly rewrite: Userset
  readonly restrictions: readonly RelationReference[]
}

interface SlotRow {
  readonly relation: number
  readonly subject: number
  readonly condition: number
}

/** Relations, subjects and conditions by number, in sorted order, so that equal models give equal plans. */
interface Tables {
  readonly relations: readonly RelationRow[]
  readonly indexOf: ReadonlyMap<string, number>
  readonly subjects: string[]
  readonly conditions: string[]
  readonly slots: readonly SlotRow[]
  /** Per relation, its slots by cost: single subjects, wildcards, usersets; unconditioned before conditioned. */
  readonly direct: readonly (readonly number[])[]
}

/** The kind of subject of a restriction in its notation: `user`, `user:*`, `group#member`. */
function subjectOf(reference: RelationReference): string {
  if (reference.wildcard !== undefined) return `${reference.type}:*`
  return reference.relation === undefined ? reference.type : `${reference.type}#${reference.relation}`
}

/** Numbers everything that plans name. */
function collectTables(model: AuthorizationModel): Tables {
  const relations: RelationRow[] = []
  for (const { type, relations: definitions = {}, metadata } of model.type_definitions) {
    // A map, because `constructor` is a valid name of a relation.
    const typed = new Map(Object.entries(metadata?.relations ?? {}))
    for (const [relation, rewrite] of Object.entries(definitions)) {
      const restrictions = typed.get(relation)?.directly_related_user_types ?? []
      relations.push({ type, relation, rewrite, restrictions })
    }
  }
  relations.sort((a, b) => compare(a.type, b.type) || compare(a.relation, b.relation))
  const all = relations.flatMap((row) => row.restrictions)
  const subjects = sortedSet(all.map(subjectOf))
  const subjectIndex = new Map(subjects.map((subject, index) => [subject, index]))
  const conditions = sortedSet(all.flatMap(({ condition }) => (condition === undefined ? [] : [condition])))
  const slots = relations.flatMap((row, relation) => {
    const own = row.restrictions.map((reference) => ({
      relation,
      subject: subjectIndex.get(subjectOf(reference)) ?? -1,
      condition: reference.condition === undefined ? -1 : conditions.indexOf(reference.condition),
    }))
    own.sort((a, b) => a.subject - b.subject || a.condition - b.condition)
    return own.filter(
      (slot, at) => slot.subject !== own[at - 1]?.subject || slot.condition !== own[at - 1]?.condition,
    )
  })
  const direct: number[][] = relations.map(() => [])
  slots.forEach((slot, index) => {
    direct[slot.relation]?.push(index)
  })
  const cost = (index: number) => {
    const slot = slots[index]
    const subject = subjects[slot?.subject ?? 0] ?? ""
    return (
      (subject.includes("#") ? 4 : subject.endsWith(":*") ? 1 : 0) + ((slot?.condition ?? -1) < 0 ? 0 : 2)
    )
  }
  for (const list of direct) list.sort((a, b) => cost(a) - cost(b) || a - b)
  const indexOf = new Map(relations.map((row, index) => [`${row.type}#${row.relation}`, index]))
  return { relations, indexOf, subjects, conditions, slots, direct }
}

/** The parts of an `any` during construction. They are sets, because an inlined relation may add existing parts again. */
class Parts {
  readonly same = new Set<number>()
  readonly direct = new Set<number>()
  readonly from = new Map<string, [number, number]>()
  readonly refs = new Set<number>()
  readonly branches: RelationNode[] = []

  /** Merges a node into this one; the parts of nested unions are one union. */
  add(node: RelationNode): void {
    if (!("any" in node)) {
      this.branches.push(node)
      return
    }
    const { same = [], direct = [], from = [], refs = [], branches = [] } = node.any
    for (const relation of same) this.same.add(relation)
    for (const slot of direct) this.direct.add(slot)
    for (const pair of from) this.from.set(pair.join(), pair)
    for (const relation of refs) this.refs.add(relation)
    this.branches.push(...branches)
  }

  /** The node without empty parts; a single branch replaces the node. */
  node(): RelationNode {
    const { same, direct, from, refs, branches } = this
    const [only] = branches
    if (only !== undefined && branches.length === 1 && same.size + direct.size + from.size + refs.size === 0)
      return only
    return {
      any: {
        ...(same.size > 0 ? { same: [...same].sort((a, b) => a - b) } : {}),
        ...(direct.size > 0 ? { direct: [...direct] } : {}),
        ...(from.size > 0 ? { from: [...from.values()] } : {}),
        ...(refs.size > 0 ? { refs: [...refs] } : {}),
        ...(branches.length > 0 ? { branches: byCost(branches) } : {}),
      },
    }
  }
}

/** Lowers each relation once. `"open"`: it is being lowered, so the definition is cyclic. */
class Lowering {
  readonly #tables: Tables
  readonly #plans: (RelationNode | "open" | undefined)[]

  constructor(tables: Tables) {
    this.#tables = tables
    this.#plans = tables.relations.map(() => undefined)
  }

  planOf(index: number): RelationNode {
    const known = this.#plans[index]
    if (known !== undefined && known !== "open") return known
    this.#plans[index] = "open"
    const node = this.#lower(index, this.#tables.relations[index]?.rewrite ?? { this: {} })
    this.#plans[index] = node
    return node
  }

  /** A definition as a node; operands of `and` are sorted by their cost. */
  #lower(relation: number, rewrite: Userset): RelationNode {
    if ("intersection" in rewrite)
      return { all: byCost(rewrite.intersection.child.map((child) => this.#lower(relation, child))) }
    if ("difference" in rewrite) {
      const { base, subtract } = rewrite.difference
      return { but: [this.#lower(relation, base), this.#lower(relation, subtract)] }
    }
    const parts = new Parts()
    if ("this" in rewrite) for (const slot of this.#tables.direct[relation] ?? []) parts.direct.add(slot)
    if ("computedUserset" in rewrite) this.#computed(relation, rewrite.computedUserset.relation, parts)
    if ("tupleToUserset" in rewrite) this.#from(relation, rewrite.tupleToUserset, parts)
    if ("union" in rewrite) for (const child of rewrite.union.child) parts.add(this.#lower(relation, child))
    return parts.node()
  }

  /**
   * A relation without operators of its own is inlined. One with operators stays a node, because copying operands into operands doubles the plan with
   * every relation. A relation that is currently being lowered also stays a node: the model then computes it from itself.
   */
  #computed(relation: number, name: string, parts: Parts): void {
    const type = this.#tables.relations[relation]?.type
    const target = this.#tables.indexOf.get(`${type}#${name}`)
    if (target === undefined) return
    if (this.#plans[target] !== "open") {
      const plan = this.planOf(target)
      if ("any" in plan && plan.any.branches === undefined) {
        parts.same.add(target)
        parts.add(plan)
        return
      }
    }
    parts.refs.add(target)
  }

  /** `R from T`: each type that T lists, if it has R. */
  #from(
    relation: number,
    rewrite: { tupleset: { relation: string }; computedUserset: { relation: string } },
    parts: Parts,
  ): void {
    const { relations, indexOf, direct, slots, subjects } = this.#tables
    const tupleset = indexOf.get(`${relations[relation]?.type}#${rewrite.tupleset.relation}`)
    for (const slot of direct[tupleset ?? -1] ?? []) {
      const parentType = subjects[slots[slot]?.subject ?? -1]
      const target = indexOf.get(`${parentType}#${rewrite.computedUserset.relation}`)
      // `group:*` and `group#member` name no parent, and `group:*#relation` is not the key of a relation.
      if (target !== undefined) parts.from.set(`${slot},${target}`, [slot, target])
    }
  }
}

/** Cheapest first. The order of operands does not change the result, only the time. */
function byCost(nodes: readonly RelationNode[]): RelationNode[] {
  return nodes
    .map((node) => ({ node, cost: costOf(node) }))
    .sort((a, b) => a.cost - b.cost)
    .map(({ node }) => node)
}

/** A rough number of lists to read: a step to another object may read many, a computed relation an unknown number. */
function costOf(node: RelationNode): number {
  if ("all" in node) return node.all.reduce((sum, child) => sum + costOf(child), 0)
  if ("but" in node) return costOf(node.but[0]) + costOf(node.but[1])
  const { direct = [], from = [], refs = [], branches = [] } = node.any
  return (
    direct.length +
    20 * from.length +
    10 * refs.length +
    branches.reduce((sum, child) => sum + costOf(child), 0)
  )
}

function sortedSet(texts: readonly string[]): string[] {
  return [...new Set(texts)].sort(compare)
}

/** By code units, like the keys of canonical JSON. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
