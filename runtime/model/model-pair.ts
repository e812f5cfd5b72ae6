import { type ConditionRelation, compareConditions } from "../expression/condition-change.ts"
import type { Condition, ModelPlan, RelationNode, RelationPlans } from "../plan/authorization-model.ts"
import { canonicalJson } from "../plan/canonical.ts"

/** The two models that are compared, by names: their numbers differ. */
export interface ModelPair {
  /** The old plan and the new one. */
  readonly plans: readonly [RelationPlans, RelationPlans]
  /** Conditions whose expression or parameters differ under one name, and how the contexts compare in which they are true. */
  readonly changedConditions: ReadonlyMap<string, ConditionChange>
  /** Relations (`order#viewer`) that the two models may decide differently: those with another plan, and all that are computed from them. */
  readonly affected: ReadonlySet<string>
}

/** The pair of models in which relations are compared. */
export function pairOf(before: ModelPlan, after: ModelPlan): ModelPair {
  const [old, next] = [before.model.conditions ?? {}, after.model.conditions ?? {}]
  const changedConditions = new Map<string, ConditionChange>()
  for (const [name, condition] of Object.entries(old)) {
    const other = next[name]
    const change = other === undefined ? "same" : changeOf(condition, other)
    if (change !== "same") changedConditions.set(name, change)
  }
  const plans = [before.relations, after.relations] as const
  return { plans, changedConditions, affected: affectedBy(plans, changedConditions) }
}

/** `narrower`: a context in which the new condition is true is one in which the old one is. */
export type ConditionChange = Exclude<ConditionRelation, "same">

function changeOf(old: Condition, next: Condition): ConditionRelation {
  if (canonicalJson(old.parameters ?? {}) !== canonicalJson(next.parameters ?? {})) return "other"
  return compareConditions(old, next).relation
}

/** Numbers of relations by name. */
export function namesOf({ relations }: RelationPlans): Map<string, number> {
  return new Map(relations.map(({ type, relation }, index) => [`${type}#${relation}`, index]))
}

/** The name of a relation by its number. */
export function relationNameOf({ relations }: RelationPlans, index: number): string | undefined {
  const row = relations[index]
  return row === undefined ? undefined : `${row.type}#${row.relation}`
}

/** A slot by names: `user`, `user:*` or `group#member` as the subject of tuples of a relation. */
export interface NamedSlot {
  readonly relation: string
  readonly subject: string
  readonly condition: string | undefined
}

/** A slot by its number. */
export function slotOf(plans: RelationPlans, slot: number): NamedSlot | undefined {
  const [relation = -1, subject = -1, condition = -1] = plans.slots[slot] ?? []
  const row = plans.relations[relation]
  const named = plans.subjects[subject]
  if (row === undefined || named === undefined) return undefined
  return { relation: row.relation, subject: named, condition: plans.conditions[condition] }
}

function affectedBy(
  plans: ModelPair["plans"],
  changedConditions: ModelPair["changedConditions"],
): Set<string> {
  const readers = new Map<string, string[]>()
  const [old, next] = plans.map((each, side) => {
    const text = new PlanText(each, side === 0 ? "old" : "new", changedConditions)
    return new Map(
      each.relations.map(({ type, relation, plan }) => {
        const name = `${type}#${relation}`
        const { parts, reads } = text.of(plan)
        for (const read of reads) readers.set(read, [...(readers.get(read) ?? []), name])
        return [name, parts]
      }),
    )
  }) as [Map<string, string>, Map<string, string>]
  const names = new Set([...old.keys(), ...next.keys()])
  const found = new Set([...names].filter((name) => old.get(name) !== next.get(name)))
  // Grows while it is walked.
  for (const name of found) for (const reader of readers.get(name) ?? []) found.add(reader)
  return found
}

/** Plans with names instead of numbers. Equal texts decide equally, if the relations that they read do. */
class PlanText {
  readonly #plans: RelationPlans
  readonly #model: "old" | "new"
  readonly #changedConditions: ModelPair["changedConditions"]

  constructor(plans: RelationPlans, model: "old" | "new", changedConditions: ModelPair["changedConditions"]) {
    this.#plans = plans
    this.#model = model
    this.#changedConditions = changedConditions
  }

  /** The text, and the relations that the plan reads. */
  of(plan: RelationNode): { readonly parts: string; readonly reads: ReadonlySet<string> } {
    const reads = new Set<string>()
    return { parts: this.#node(plan, reads), reads }
  }

  #node(node: RelationNode, reads: Set<string>): string {
    const all = (nodes: readonly RelationNode[]) => nodes.map((each) => this.#node(each, reads)).sort()
    if ("all" in node) return `all(${all(node.all).join()})`
    if ("but" in node) return `but(${this.#node(node.but[0], reads)},${this.#node(node.but[1], reads)})`
    const { direct = [], from = [], refs = [], branches = [] } = node.any
    const read = (relation: number): string => {
      const name = relationNameOf(this.#plans, relation) ?? ""
      reads.add(name)
      return name
    }
    const parts = [
      ...direct.map((slot) => this.#slot(slot, reads)),
      ...from.map(([slot, target]) => `${this.#slot(slot, reads)} ${read(target)}`),
      ...refs.map((ref) => `ref ${read(ref)}`),
      ...all(branches),
    ]
    return `any(${parts.sort().join()})`
  }

  #slot(slot: number, reads: Set<string>): string {
    const { relation, subject = "", condition = "" } = slotOf(this.#plans, slot) ?? {}
    if (subject.includes("#")) reads.add(subject)
    const changed = this.#changedConditions.has(condition) ? ` of ${this.#model}` : ""
    return `${relation} ${subject} ${condition}${changed}`
  }
}
