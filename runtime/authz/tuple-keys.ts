import type { TupleKey } from "../check/ports.ts"
import { tupleText } from "../check/tuple.ts"
import { storedContextField } from "./context.ts"
import {
  conditionNameField,
  type Fields,
  objectField,
  objectIdField,
  relationField,
  userField,
} from "./fields.ts"

/** A tuple of a request, by the rules on its fields; `message` is its protobuf message. */
export function tupleKeyField(value: unknown, message: string): TupleKey {
  const fields = objectField(value, "tuple key") ?? {}
  const user = userField(fields["user"], message)
  const relation = relationField(fields["relation"], message)
  const object = objectIdField(fields["object"], message)
  const condition = objectField(fields["condition"], "condition")
  if (condition === undefined) return { user, relation, object }
  return { user, relation, object, condition: conditionOf(condition, { user, relation, object }) }
}

function conditionOf(fields: Fields, key: TupleKey): NonNullable<TupleKey["condition"]> {
  const name = conditionNameField(fields["name"])
  const context = storedContextField(fields["context"], () => tupleText(key))
  return context === undefined ? { name } : { name, context }
}
