import type { TupleKey } from "../check/ports.ts"
import { tupleText } from "../check/tuple.ts"
import type { LoggedChange } from "../store/read-changes.ts"
import { storedContextField } from "./context.ts"
import { conditionNameField, type JsonFields, objectField, tupleFields } from "./fields.ts"

/**
 * A tuple of a request, validated by the rules on its fields. `message` is its protobuf message, `contextBytesMax` the maximum of its
 * context.
 */
export function tupleKeyField(value: unknown, message: string, contextBytesMax: number): TupleKey {
  const fields = objectField(value, "tuple key") ?? {}
  const { user, relation, object } = tupleFields(fields, message)
  const condition = objectField(fields["condition"], "condition")
  if (condition === undefined) return { user, relation, object }
  return {
    user,
    relation,
    object,
    condition: conditionOf(condition, { user, relation, object }, contextBytesMax),
  }
}

/** A tuple in a response: an absent condition is null, as in OpenFGA. */
export function tupleKeyBody({ user, relation, object, condition }: TupleKey): object {
  return { user, relation, object, condition: condition ?? null }
}

/** A change as the responses contain it. */
export function changeBody({ operation, key, changedAt }: LoggedChange): object {
  return {
    tuple_key: tupleKeyBody(key),
    operation: operation === "write" ? "TUPLE_OPERATION_WRITE" : "TUPLE_OPERATION_DELETE",
    timestamp: timestampOf(changedAt),
  }
}

let last = { ms: Number.NaN, text: "" }

/** All changes of a commit have one time. Writing it out for each of them took half of the time in which a commit becomes JSON. */
function timestampOf(date: Date): string {
  const ms = date.getTime()
  if (ms !== last.ms) last = { ms, text: date.toISOString() }
  return last.text
}

function conditionOf(
  fields: JsonFields,
  key: TupleKey,
  contextBytesMax: number,
): NonNullable<TupleKey["condition"]> {
  const name = conditionNameField(fields["name"])
  const context = storedContextField(fields["context"], contextBytesMax, () => tupleText(key))
  return context === undefined ? { name } : { name, context }
}
