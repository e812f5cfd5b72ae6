import type { TupleKey, TupleRow } from "../check/ports.ts"
import { canonicalJson } from "../plan/canonical.ts"

/** The columns of a `TupleRow`, of the tuples and of the feed alike. */
export const tupleColumns = "object, relation, subject, subject_relation, condition, context"

/** The row of a tuple. A context without entries is none. */
export function rowOfTuple(key: TupleKey): TupleRow {
  const hash = key.user.indexOf("#")
  const subject = hash < 0 ? key.user : key.user.slice(0, hash)
  const subjectRelation = hash < 0 ? "" : key.user.slice(hash + 1)
  const context = key.condition?.context
  const hasContext = context !== undefined && Object.keys(context).length > 0
  return [
    key.object,
    key.relation,
    subject,
    subjectRelation,
    key.condition?.name ?? "",
    hasContext ? canonicalJson(context) : "",
  ]
}

/** The tuple of a row. */
export function tupleOfRow([
  object,
  relation,
  subject,
  subjectRelation,
  condition,
  context,
]: TupleRow): TupleKey {
  const user = subjectRelation === "" ? subject : `${subject}#${subjectRelation}`
  if (condition === "") return { user, relation, object }
  const values = context === "" ? {} : (JSON.parse(context) as Record<string, unknown>)
  return { user, relation, object, condition: { name: condition, context: values } }
}
