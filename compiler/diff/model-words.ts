import type {
  Condition,
  ConditionParameter,
  RelationReference,
  Userset,
} from "../../runtime/plan/authorization-model.ts"

/** A relation and the types of its direct subjects. */
export interface Relation {
  readonly rewrite: Userset
  readonly direct: readonly RelationReference[]
}

/** A relation in the modelling language: `define viewer: [user] or owner or member from team`. */
export function relationWords(name: string, { rewrite, direct }: Relation): string {
  return `define ${name}: ${rewriteWords(rewrite, direct)}`
}

/** The expression alone; nested operators in parentheses. */
export function rewriteWords(rewrite: Userset, direct: readonly RelationReference[], nested = false): string {
  if ("this" in rewrite) return `[${direct.map(restrictionWords).join(", ")}]`
  if ("computedUserset" in rewrite) return rewrite.computedUserset.relation
  if ("tupleToUserset" in rewrite) {
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    return `${computedUserset.relation} from ${tupleset.relation}`
  }
  const words = (child: Userset) => rewriteWords(child, direct, true)
  const text =
    "union" in rewrite
      ? rewrite.union.child.map(words).join(" or ")
      : "intersection" in rewrite
        ? rewrite.intersection.child.map(words).join(" and ")
        : `${words(rewrite.difference.base)} but not ${words(rewrite.difference.subtract)}`
  return nested ? `(${text})` : text
}

/** `team#member`, `user:*`, `user with before_deadline`. */
export function restrictionWords({ condition, ...reference }: RelationReference): string {
  const subject = subjectWords(reference)
  return condition === undefined ? subject : `${subject} with ${condition}`
}

/** The same without its condition. */
export function subjectWords({ type, relation, wildcard }: RelationReference): string {
  if (wildcard !== undefined) return relation === undefined ? `${type}:*` : `${type}:*#${relation}`
  return relation === undefined ? type : `${type}#${relation}`
}

/** `condition before_deadline(now: timestamp, deadline: timestamp) { now < deadline }` */
export function conditionWords({ name, expression, parameters = {} }: Condition): string {
  const listed = Object.entries(parameters)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([parameter, type]) => `${parameter}: ${parameterWords(type)}`)
  return `condition ${name}(${listed.join(", ")}) { ${expression.trim()} }`
}

function parameterWords({ type_name, generic_types = [] }: ConditionParameter): string {
  const name = type_name.replace("TYPE_NAME_", "").toLowerCase()
  return generic_types.length === 0 ? name : `${name}<${generic_types.map(parameterWords).join(", ")}>`
}
