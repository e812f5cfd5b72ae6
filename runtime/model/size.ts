import { utf8Length } from "#platform"
import type {
  AuthorizationModel,
  Condition,
  ConditionParameter,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../plan/authorization-model.ts"

// Field numbers of these messages are all below 16, so that every tag is one byte.
const tagBytes = 1
const idBytes = 28

/**
 * Bytes of a model in OpenFGA's protobuf encoding (messages `AuthorizationModel` and below), including an id. The server measures this; JSON is two to
 * three times as long.
 */
export function protobufBytes(model: AuthorizationModel): number {
  let bytes = idBytes + text(model.schema_version)
  for (const definition of model.type_definitions) bytes += message(typeBytes(definition))
  for (const [name, condition] of Object.entries(model.conditions ?? {})) {
    bytes += message(text(name) + message(conditionBytes(condition)))
  }
  return bytes
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++
  return bytes
}

function message(length: number): number {
  return tagBytes + varintBytes(length) + length
}

/** An empty text is the default value and takes no space. */
function text(value: string | undefined): number {
  return value === undefined || value === "" ? 0 : message(utf8Length(value))
}

interface Placed {
  readonly module?: string | undefined
  readonly source_info?: { readonly file: string } | undefined
}

function placeBytes(place: Placed): number {
  return text(place.module) + (place.source_info === undefined ? 0 : message(text(place.source_info.file)))
}

/** The size of a type in protobuf, by which OpenFGA limits models. */
function typeBytes(definition: TypeDefinition): number {
  let bytes = text(definition.type)
  for (const [name, rewrite] of Object.entries(definition.relations ?? {})) {
    bytes += message(text(name) + message(rewriteBytes(rewrite)))
  }
  if (definition.metadata === undefined) return bytes
  let metadata = placeBytes(definition.metadata)
  for (const [name, relation] of Object.entries(definition.metadata.relations ?? {})) {
    let inner = placeBytes(relation)
    for (const reference of relation.directly_related_user_types ?? [])
      inner += message(referenceBytes(reference))
    metadata += message(text(name) + message(inner))
  }
  return bytes + message(metadata)
}

function referenceBytes(reference: RelationReference): number {
  const wildcard = reference.wildcard === undefined ? 0 : message(0)
  return text(reference.type) + text(reference.relation) + wildcard + text(reference.condition)
}

/** The size of a definition in protobuf. */
function rewriteBytes(rewrite: Userset): number {
  if ("this" in rewrite) return message(0)
  if ("computedUserset" in rewrite) return message(objectRelationBytes(rewrite.computedUserset))
  if ("tupleToUserset" in rewrite) {
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    return message(message(objectRelationBytes(tupleset)) + message(objectRelationBytes(computedUserset)))
  }
  if ("difference" in rewrite) {
    return message(
      message(rewriteBytes(rewrite.difference.base)) + message(rewriteBytes(rewrite.difference.subtract)),
    )
  }
  const { child } = "union" in rewrite ? rewrite.union : rewrite.intersection
  return message(child.reduce((sum, each) => sum + message(rewriteBytes(each)), 0))
}

function objectRelationBytes(value: { object?: string | undefined; relation: string }): number {
  return text(value.object) + text(value.relation)
}

function conditionBytes(condition: Condition): number {
  let bytes = text(condition.name) + text(condition.expression)
  for (const [name, parameter] of Object.entries(condition.parameters ?? {})) {
    bytes += message(text(name) + message(parameterBytes(parameter)))
  }
  return condition.metadata === undefined ? bytes : bytes + message(placeBytes(condition.metadata))
}

/** The type's name is an enumeration: a tag and one byte. */
function parameterBytes(parameter: ConditionParameter): number {
  return (
    tagBytes +
    1 +
    (parameter.generic_types ?? []).reduce((sum, each) => sum + message(parameterBytes(each)), 0)
  )
}
