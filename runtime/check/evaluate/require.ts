import type { LoadedModel } from "../loaded-model.ts"
import { splitObject } from "../object-name.ts"
import { CheckError } from "../ports.ts"
import { readSubject, type Subject } from "../tuple.ts"

/**
 * The relations of a type.
 * @throws CheckError `type_not_found`
 */
export function requireType(model: LoadedModel, type: string): ReadonlyMap<string, number> {
  const relations = model.types.get(type)
  if (relations === undefined) throw new CheckError("type_not_found", `type '${type}' not found`)
  return relations
}

/**
 * The index of a relation.
 * @throws CheckError `type_not_found` or `relation_not_found`
 */
export function requireRelation(model: LoadedModel, type: string, relation: string): number {
  const index = requireType(model, type).get(relation)
  if (index === undefined)
    throw new CheckError("relation_not_found", `relation '${type}#${relation}' not found`)
  return index
}

/** @throws CheckError `validation_error`. */
export function requireSubject(model: LoadedModel, user: string): Subject {
  const subject = readSubject(model, user)
  if (typeof subject === "string")
    throw new CheckError("validation_error", `invalid 'user' value: ${subject}`)
  return subject
}

/**
 * The type of a single object.
 * @throws CheckError `validation_error`
 */
export function requireObject(object: string): string {
  const parts = splitObject(object)
  if (parts === undefined)
    throw new CheckError(
      "validation_error",
      `invalid 'object' value '${object}': it must be of the form type:id`,
    )
  if (parts.id === "*")
    throw new CheckError("validation_error", "the 'object' field cannot reference a typed wildcard")
  return parts.type
}
