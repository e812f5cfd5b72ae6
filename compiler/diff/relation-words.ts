import type { RelationReference, Userset } from "../../runtime/plan/authorization-model.ts"

/** How a relation is computed, as the modelling language writes it: `[user] or owner or member from team`. */
export function relationWords(
  userset: Userset,
  direct: readonly RelationReference[],
  nested = false,
): string {
  if ("this" in userset) return `[${direct.map(restrictionWords).join(", ")}]`
  if ("computedUserset" in userset) return userset.computedUserset.relation
  if ("tupleToUserset" in userset) {
    const { tupleset, computedUserset } = userset.tupleToUserset
    return `${computedUserset.relation} from ${tupleset.relation}`
  }
  const words = (child: Userset) => relationWords(child, direct, true)
  const text =
    "union" in userset
      ? userset.union.child.map(words).join(" or ")
      : "intersection" in userset
        ? userset.intersection.child.map(words).join(" and ")
        : `${words(userset.difference.base)} but not ${words(userset.difference.subtract)}`
  return nested ? `(${text})` : text
}

/** `team#member`, `user:*`, `user with before_deadline`. */
export function restrictionWords({ type, relation, wildcard, condition }: RelationReference): string {
  const subject = relation !== undefined ? `${type}#${relation}` : wildcard !== undefined ? `${type}:*` : type
  return condition === undefined ? subject : `${subject} with ${condition}`
}
