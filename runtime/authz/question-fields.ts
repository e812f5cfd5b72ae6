import type { IncomingHttpHeaders } from "node:http"
import type { TupleKey } from "../check/ports.ts"
import type { Freshness } from "../check/questions.ts"
import { ApiError } from "./api-error.ts"
import { consistencyField, consistencyTokenOf } from "./consistency.ts"
import { contextField } from "./context.ts"
import {
  arrayField,
  type JsonFields,
  modelIdField,
  objectField,
  objectIdField,
  pick,
  relationField,
  tupleListExample,
  userField,
} from "./fields.ts"
import type { AuthzLimits } from "./ports.ts"
import { tupleKeyField } from "./tuple-keys.ts"

/** The optional parts of every question, in the engine's form. */
export interface CircumstancesRead {
  readonly contextualTuples: readonly TupleKey[] | undefined
  readonly context: JsonFields | undefined
}

/** The model to use, and the required freshness. */
export interface Terms {
  /** Empty: the model in use. */
  readonly modelId: string
  readonly freshness: Freshness
}

/** `contextual_tuples {tuple_keys}` and `context` of a request. */
export function circumstancesOf(body: JsonFields, limits: AuthzLimits): CircumstancesRead {
  const given = pick(body, "contextual_tuples", "contextualTuples")
  const keys = given === undefined ? undefined : tupleKeysOf(given)
  if (keys !== undefined && keys.length > limits.contextualTuplesMax)
    throw tooManyContextual("ContextualTupleKeys.TupleKeys", limits.contextualTuplesMax)
  return {
    contextualTuples: keys?.map((key) => tupleKeyField(key, "TupleKey", limits.conditionContextBytesMax)),
    context: contextField(body["context"], "context"),
  }
}

function tupleKeysOf(given: unknown): readonly unknown[] {
  const fields = objectField(given, "contextual_tuples", tupleListExample) ?? {}
  return arrayField(pick(fields, "tuple_keys", "tupleKeys"), "contextual_tuples.tuple_keys")
}

/** The same where the contextual tuples are a plain list: list-users and assertions. `field` is the protobuf field, for messages. */
export function plainCircumstancesOf(
  body: JsonFields,
  limits: AuthzLimits,
  { field, max }: { readonly field: string; readonly max: number },
): CircumstancesRead {
  const given = pick(body, "contextual_tuples", "contextualTuples")
  const keys = given === undefined ? undefined : arrayField(given, "contextual_tuples")
  if (keys !== undefined && keys.length > max) throw tooManyContextual(field, max)
  return {
    contextualTuples: keys?.map((key) => tupleKeyField(key, "TupleKey", limits.conditionContextBytesMax)),
    context: contextField(body["context"], "context"),
  }
}

function tooManyContextual(field: string, max: number): ApiError {
  return new ApiError("validation_error", `invalid ${field}: value must contain no more than ${max} item(s)`)
}

/** `authorization_model_id`, `consistency` and the consistency token of a request; `message` is the request's protobuf message. */
export function termsOf(body: JsonFields, message: string, headers: IncomingHttpHeaders): Terms {
  return {
    modelId: modelIdField(pick(body, "authorization_model_id", "authorizationModelId"), message),
    freshness: {
      consistency: consistencyField(body["consistency"], message),
      atLeast: consistencyTokenOf(headers, body),
    },
  }
}

/** The `tuple_key` of a question. `holder` is the protobuf message that contains it, `message` its own. */
export function questionKeyOf(body: JsonFields, holder: string, message: string): TupleKey {
  const key = objectField(pick(body, "tuple_key", "tupleKey"), "tuple_key")
  if (key === undefined)
    throw new ApiError("tuple_key_value_not_specified", `invalid ${holder}.TupleKey: value is required`)
  return {
    user: userField(key["user"], message),
    relation: relationField(key["relation"], message),
    object: objectIdField(key["object"], message),
  }
}
