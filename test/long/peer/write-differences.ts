import type { TupleKey } from "../../../runtime/check/ports.ts"
import type { AuthorizationModel, RelationReference } from "../../../runtime/plan/authorization-model.ts"
import type { Said } from "./both.ts"

/**
 * Why OpenFGA takes a tuple that we refuse, by a name; undefined when we know of no reason. It asks whether the user's form (one of a
 * type, a userset, everybody) is allowed, and apart from that whether the condition is allowed for any form of that type.
 */
export function nameOfWriteDifference(
  model: AuthorizationModel,
  tuple: TupleKey,
  { ours, theirs }: { readonly ours: Said; readonly theirs: Said },
): string | undefined {
  const refused =
    theirs.status === 200 &&
    ours.status === 400 &&
    ours.json.code === "validation_error" &&
    /Reason: (condition is missing|invalid condition for type restriction)$/.test(ours.json.message)
  if (!refused) return undefined
  const definition = model.type_definitions.find(({ type }) => type === tuple.object.split(":")[0])
  const restrictions = definition?.metadata?.relations?.[tuple.relation]?.directly_related_user_types ?? []
  const condition = tuple.condition?.name ?? ""
  const form = formOf(tuple.user)
  const allowedOtherwise = restrictions.some(
    (one) => formText(one) === form && (one.condition ?? "") !== condition,
  )
  const allowedForOther = restrictions.some(
    (one) =>
      formText(one) !== form && one.type === form.split(/[:#]/)[0] && (one.condition ?? "") === condition,
  )
  const allowed = restrictions.some((one) => formText(one) === form && (one.condition ?? "") === condition)
  return allowedOtherwise && allowedForOther && !allowed
    ? "a condition of another form of the type"
    : undefined
}

/** `user`, `user:*` or `group#member`. */
function formOf(user: string): string {
  const [, type, id, relation] = /^([^:]*):([^#]*)(#.*)?$/.exec(user) ?? []
  return `${type}${relation ?? (id === "*" ? ":*" : "")}`
}

function formText({ type, relation, wildcard }: RelationReference): string {
  if (wildcard !== undefined) return `${type}:*`
  return relation === undefined ? type : `${type}#${relation}`
}
