import type { LoadedModel } from "../check/loaded-model.ts"
import { splitObject } from "../check/object-name.ts"
import type { TupleKey } from "../check/ports.ts"
import { tupleText, validateTuple } from "../check/tuple.ts"
import { rowOfTuple, tupleOfRow } from "../store/read-tuples.ts"
import { tupleIdentity, type WriteConflict, type WriteRequest } from "../store/write-tuples.ts"
import { asWrite } from "../tracing/tuple-spans.ts"
import type { ApiResponse } from "./answer.ts"
import { type AuthzApi, modelHeaders } from "./api.ts"
import { ApiError, storeNotFound } from "./api-error.ts"
import { consistencyToken, consistencyTokenHeader } from "./consistency.ts"
import {
  arrayField,
  invalid,
  type JsonFields,
  modelIdField,
  objectField,
  pick,
  stringField,
  tupleListExample,
} from "./fields.ts"
import type { AuthzLimits } from "./ports.ts"
import type { ApiRequest } from "./route.ts"
import { tupleKeyField } from "./tuple-keys.ts"

interface ParsedWrite {
  readonly writes: readonly TupleKey[]
  readonly deletes: readonly TupleKey[]
  readonly onDuplicate: WriteRequest["onDuplicate"]
  readonly onMissing: WriteRequest["onMissing"]
  readonly modelId: string
}

/**
 * `POST /stores/{store}/write`: all or nothing. The body of the response is OpenFGA's empty object; its header
 * `Sallyport-Consistency-Token` is the store's revision that contains these tuples.
 */
export async function postWrite(
  api: AuthzApi,
  { store: name, body, traced }: ApiRequest,
): Promise<ApiResponse> {
  const limits = api.limits()
  const parsed = parse(body, limits)
  const store = await api.stores.find(name)
  const { writes, deletes, onDuplicate, onMissing } = parsed
  if (writes.length === 0 && deletes.length === 0)
    throw new ApiError(
      "invalid_write_input",
      "Invalid input. Make sure you provide at least one write, or at least one delete",
    )
  const modelId =
    writes.length > 0 ? api.modelId(store, parsed.modelId) : ((parsed.modelId || store.modelId) ?? "")
  if (writes.length > 0) {
    const model = await api.model(store, modelId)
    for (const key of writes) judgeWrite(model, key)
  }
  for (const key of deletes) judgeDelete(key)
  const request: WriteRequest = {
    writes: writes.map(rowOfTuple),
    deletes: deletes.map(rowOfTuple),
    onDuplicate,
    onMissing,
  }
  refuseRepeated(request, limits.tuplesPerWriteMax)
  const size = writes.length + deletes.length
  const outcome = await asWrite(traced?.trace, size, () => api.writer.write(store.id, request))
  if (outcome === undefined) {
    api.stores.forget(store)
    throw storeNotFound()
  }
  if ("conflict" in outcome) throw conflictError(outcome)
  return {
    status: 200,
    body: "{}",
    headers: [...modelHeaders(store.id, modelId), consistencyTokenHeader, consistencyToken(outcome.at)],
  }
}

function parse(body: JsonFields, limits: AuthzLimits): ParsedWrite {
  const writes = objectField(body["writes"], "writes", tupleListExample)
  const deletes = objectField(body["deletes"], "deletes", tupleListExample)
  return {
    writes: keysOf(writes, "WriteRequestWrites", "TupleKey", limits),
    deletes: keysOf(deletes, "WriteRequestDeletes", "TupleKeyWithoutCondition", limits),
    onDuplicate: choice(writes && pick(writes, "on_duplicate", "onDuplicate"), "on_duplicate"),
    onMissing: choice(deletes && pick(deletes, "on_missing", "onMissing"), "on_missing"),
    modelId: modelIdField(pick(body, "authorization_model_id", "authorizationModelId"), "WriteRequest"),
  }
}

function keysOf(
  fields: JsonFields | undefined,
  list: string,
  message: string,
  { conditionContextBytesMax }: AuthzLimits,
): readonly TupleKey[] {
  if (fields === undefined) return []
  const keys = arrayField(pick(fields, "tuple_keys", "tupleKeys"), "tuple_keys")
  if (keys.length === 0) throw invalid(list, "TupleKeys", "value must contain at least 1 item(s)")
  return keys.map((key) => tupleKeyField(key, message, conditionContextBytesMax))
}

function choice(value: unknown, field: string): "error" | "ignore" {
  const text = stringField(value, field)
  if (text === "" || text === "error") return "error"
  if (text === "ignore") return "ignore"
  throw new ApiError("validation_error", `invalid ${field} option: ${text}`)
}

/** The rules of contextual tuples; OpenFGA has one code for all errors of a tuple in a write. */
export function judgeWrite(model: LoadedModel, key: TupleKey): void {
  const error = validateTuple(model, key)
  if (error !== undefined) throw new ApiError("validation_error", error.message)
  // Each userset contains itself. Refuse it only in a write: as a contextual tuple it changes no answer.
  if (key.user === `${key.object}#${key.relation}`)
    throw new ApiError(
      "validation_error",
      `Invalid tuple '${tupleText(key)}'. Reason: cannot write a tuple that is implicit`,
    )
}

const userForm = /^([^:# \p{Cc}]+:)?[^:# \p{Cc}]+(#[^:# \p{Cc}]+)?$/u

/**
 * A deletion is not checked against the model, so that tuples of an older model can be removed. Incomplete tuples are refused: OpenFGA's
 * memory store treats an empty field as a wildcard.
 */
function judgeDelete(key: TupleKey): void {
  const reason = !userForm.test(key.user)
    ? "the 'user' field is malformed"
    : splitObject(key.object) === undefined
      ? "invalid 'object' field format"
      : key.relation === ""
        ? "the 'relation' field is malformed"
        : undefined
  if (reason !== undefined)
    throw new ApiError("validation_error", `Invalid tuple '${tupleText(key)}'. Reason: ${reason}`)
}

function refuseRepeated({ writes, deletes }: WriteRequest, tuplesMax: number): void {
  const seen = new Set<string>()
  for (const row of [...deletes, ...writes]) {
    const identity = tupleIdentity(row)
    if (seen.has(identity)) {
      const { user, relation, object } = tupleOfRow(row)
      throw new ApiError(
        "cannot_allow_duplicate_tuples_in_one_request",
        `duplicate tuple in write: user: '${user}', relation: '${relation}', object: '${object}'`,
      )
    }
    seen.add(identity)
  }
  if (seen.size > tuplesMax) throw tooMany(tuplesMax)
}

function tooMany(tuplesMax: number): ApiError {
  return new ApiError(
    "exceeded_entity_limit",
    `The number of write operations exceeds the allowed limit of ${tuplesMax}`,
  )
}

export function conflictError({ conflict, row }: WriteConflict): ApiError {
  const { user, relation, object } = tupleOfRow(row)
  const tuple = `user: '${user}', relation: '${relation}', object: '${object}'`
  if (conflict === "other-condition")
    return new ApiError(
      "Aborted",
      `transactional write failed due to conflict: attempted to write a tuple which already exists with a different condition: ${tuple}`,
    )
  const what =
    conflict === "exists"
      ? "cannot write a tuple which already exists"
      : "cannot delete a tuple which does not exist"
  return new ApiError(
    "write_failed_due_to_invalid_input",
    `${what}: ${tuple}: tuple to be written already existed or the tuple to be deleted did not exist`,
  )
}
