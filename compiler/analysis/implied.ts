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
