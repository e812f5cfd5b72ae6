import { readTuples, type StoredTuple, type TupleFilter } from "../store/read-tuples.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError } from "./api-error.ts"
import { consistencyField, consistencyTokenOf, requireCommit } from "./consistency.ts"
import {
  continuationField,
  invalid,
  invalidToken,
  type JsonFields,
  objectField,
  objectIdField,
  pageSizeField,
  pick,
  relationField,
  stringField,
  userField,
} from "./fields.ts"
import type { ApiRequest } from "./route.ts"
import { tupleKeyBody } from "./tuple-keys.ts"

/**
 * `POST /stores/{store}/read` `{tuple_key?, page_size?, continuation_token?}`: stored tuples by filter, in their current state in the
 * database. Ordered by object, relation and user; OpenFGA's order is that of writing.
 */
export async function postRead(
  api: AuthzApi,
  { store: name, body, headers }: ApiRequest,
): Promise<ApiResponse> {
  const filter = filterOf(objectField(pick(body, "tuple_key", "tupleKey"), "tuple_key"))
  const pageSize = pageSizeField(pick(body, "page_size", "pageSize"), "ReadRequest")
  const token = continuationField(pick(body, "continuation_token", "continuationToken"), "ReadRequest")
  // Only for its errors: every read is already of the database's current state.
  consistencyField(body["consistency"], "ReadRequest")
  const atLeast = consistencyTokenOf(headers, body)
  const store = await api.stores.find(name)
  await requireCommit(api.database, store.id, atLeast)
  const page = await readTuples(api.database, store.id, filter, { pageSize, token })
  if (page === undefined) throw invalidToken()
  return {
    status: 200,
    body: { tuples: page.tuples.map(tupleBody), continuation_token: page.token },
    headers: ["Openfga-Store-Id", store.id],
  }
}

function filterOf(fields: JsonFields | undefined): TupleFilter {
  if (fields === undefined) return {}
  const given = (key: string) => stringField(fields[key], key) !== ""
  const object = given("object") ? objectIdField(fields["object"], message) : ""
  const relation = given("relation") ? relationField(fields["relation"], message) : undefined
  const user = given("user") ? userFilter(fields["user"]) : undefined
  const colon = object.indexOf(":")
  if (colon < 1 || (colon === object.length - 1 && user === undefined))
    throw new ApiError(
      "validation_error",
      "the 'tuple_key' field was provided but the object type field is required and both the object id and user cannot be empty",
    )
  return { object, relation, user }
}

const message = "ReadRequestTupleKey"

/** A user in the filter needs a type and an id. */
function userFilter(value: unknown): string {
  const user = stringField(value, "user")
  if (/^[^\t\n\f\r :]+:[^\t\n\f\r ]/.test(user)) {
    if (Buffer.byteLength(user) > 512)
      throw invalid(message, "User", "value length must be at most 512 bytes")
    return userField(user, message)
  }
  throw invalid(message, "User", 'value does not match regex pattern "^[^\\\\s]{1,511}:[^\\\\s]{1,511}$"')
}

function tupleBody({ key, writtenAt }: StoredTuple): object {
  return { key: tupleKeyBody(key), timestamp: writtenAt }
}
