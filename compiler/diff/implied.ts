import type { ModelPlan } from "../../runtime/plan/model.ts"
import type { RelationNode } from "../../runtime/plan/relation-plan.ts"

/**
 * Whether everybody who has `narrow` on an object of `type` has `wide` on it too, whatever the tuples are, as far as the relation plans say so
 * plainly: `wide` is computed from `narrow` by unions alone, or by intersections that all hold it. False also where it is not known.
 */
export function isImplied(model: ModelPlan, type: string, narrow: string, wide: string): boolean {
  const { relations } = model.relations
  const indexOf = (name: string) => relations.findIndex((row) => row.type === type && row.relation === name)
  const [from, to] = [indexOf(narrow), indexOf(wide)]
  if (from < 0 || to < 0) return false
  if (from === to) return true
  const seen = new Set<number>()
  const relationHolds = (index: number): boolean => {
    if (index === from) return true
    if (seen.has(index)) return false
    seen.add(index)
    const row = relations[index]
    return row !== undefined && holds(row.plan)
  }
  const holds = (node: RelationNode): boolean => {
    if ("all" in node) return node.all.every(holds)
    if ("but" in node) return false
    const { same = [], refs = [], branches = [] } = node.any
    return same.includes(from) || refs.some(relationHolds) || branches.some(holds)
  }
  return relationHolds(to)
}

/** For each relation (`order#viewer`) all relations whose answers may depend on it, itself included. */
export function dependants(model: ModelPlan): ReadonlyMap<string, ReadonlySet<string>> {
  const { relations, slots, subjects } = model.relations
  const names = relations.map(({ type, relation }) => `${type}#${relation}`)
  const users: Set<number>[] = relations.map(() => new Set())
  const uses = (user: number, used: number | undefined) => {
    if (used !== undefined && used !== user) users[used]?.add(user)
  }
  const slotUses = (user: number, slot: number) => {
    const [relation, subject] = slots[slot] ?? []
    uses(user, relation)
    const userset = names.indexOf(subjects[subject ?? -1] ?? "")
    if (userset >= 0) uses(user, userset)
  }
  relations.forEach(({ plan }, user) => {
    const nodes = [plan]
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      if ("all" in node) nodes.push(...node.all)
      else if ("but" in node) nodes.push(...node.but)
      else {
        const { same = [], direct = [], from = [], refs = [], branches = [] } = node.any
        for (const used of [...same, ...refs]) uses(user, used)
        for (const slot of direct) slotUses(user, slot)
        for (const [slot, relation] of from) {
          slotUses(user, slot)
          uses(user, relation)
        }
        nodes.push(...branches)
      }
    }
  })
  return new Map(
    names.map((name, index) => [name, new Set(reach(users, index).map((at) => names[at] ?? ""))]),
  )
}

function reach(users: readonly ReadonlySet<number>[], from: number): number[] {
  const seen = new Set([from])
  for (const at of seen) for (const user of users[at] ?? []) seen.add(user)
  return [...seen]
}
