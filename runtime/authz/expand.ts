import { expand } from "../check/expand.ts"
import { type ApiResponse, jsonAnswer } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError } from "./api-error.ts"
import { objectField, objectIdField, pick, relationField, stringField } from "./fields.ts"
import { circumstancesOf, termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { askEngine, revisionHeaders, withModel } from "./with-model.ts"

const message = "ExpandRequestTupleKey"

/** `POST /stores/{store}/expand` `{tuple_key {relation, object}}` → `{tree {root}}`: one level, as in OpenFGA. */
export function postExpand(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const { body } = request
  const key = objectField(pick(body, "tuple_key", "tupleKey"), "tuple_key")
  if (key === undefined)
    throw new ApiError("tuple_key_value_not_specified", "invalid ExpandRequest.TupleKey: value is required")
  if (stringField(key["relation"], "relation") === "" || stringField(key["object"], "object") === "")
    throw new ApiError(
      "invalid_expand_input",
      "Invalid input. Make sure you provide an object and a relation",
    )
  const relation = relationField(key["relation"], message)
  const object = objectIdField(key["object"], message)
  const circumstances = circumstancesOf(body, api.limits())
  const { modelId: named, freshness } = termsOf(body, "ExpandRequest", request.headers)
  request.question = { object, relation }
  return withModel(api, request.store, named, ({ storeId, modelId, model }) => {
    const work = expand(model, { object, relation, ...circumstances }, api.engine.bounds)
    return askEngine(api, request, storeId, { work, freshness }, ({ root, revision }) => ({
      status: 200,
      ...jsonAnswer({ tree: { root } }),
      headers: revisionHeaders(storeId, modelId, revision),
    }))
  })
}
