import type { ModelPlan, RelationNode } from "../../runtime/plan/authorization-model.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import type { RelationQuestion } from "../../runtime/plan/step-values.ts"
import type { Text } from "../../runtime/plan/text.ts"
import { ownOf, same } from "../analysis/same.ts"

type Asked = Pick<RelationQuestion, "relation" | "object" | "store">

/**
 * What the model proves about a question that now asks for another relation of the same object: `fewer` or `more` users have it, whatever the
 * tuples are. `unknown` without a proof, without a model, and for another object or store.
 */
export function usersAfter(
  before: Asked,
  after: Asked,
  { authz, models }: PlanBody,
): "fewer" | "more" | "unknown" {
  const model = ownOf(models, ownOf(authz?.stores ?? {}, after.store ?? "")?.model ?? "")
  if (model === undefined || before.store !== after.store || !same(before.object, after.object))
    return "unknown"
  const type = typeOf(after.object)
  if (isImplied(model, type, after.relation, before.relation)) return "fewer"
  return isImplied(model, type, before.relation, after.relation) ? "more" : "unknown"
}

function typeOf(object: Text): string {
  const [first] = typeof object === "string" ? [object] : object.text
  return typeof first === "string" ? (first.split(":", 1)[0] ?? "") : ""
}

/**
 * Whether everyone with `narrow` on an object of `type` also has `wide` on it, for all possible tuples. Recognized only if the relation
 * plans show it directly: `wide` is computed from `narrow` by unions, or by intersections in which every operand includes it. False if
 * unknown.
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
