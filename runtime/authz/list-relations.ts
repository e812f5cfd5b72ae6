import { listRelations } from "../check/list-relations.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError } from "./api-error.ts"
import { itemError } from "./check-result.ts"
import { arrayField, objectIdField, relationField, userField } from "./fields.ts"
import { circumstancesOf, termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { askEngine, revisionHeaders, withModel } from "./with-model.ts"

const message = "ListRelationsRequest"

/**
 * `POST /stores/{store}/list-relations` `{user, object, relations?}` → `{relations, errors}`: which of these relations (default: all of the
 * object's type) the user has on the object, at one revision. `errors` contains the undecidable relations. OpenFGA has no such endpoint.
 */
export function postListRelations(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const { body } = request
  const limits = api.limits()
  const named = body["relations"] === undefined ? undefined : arrayField(body["relations"], "relations")
  if (named !== undefined && named.length > limits.matrixCellsMax)
    throw new ApiError(
      "exceeded_entity_limit",
      `The number of relations exceeds the allowed limit of ${limits.matrixCellsMax}`,
    )
  const question = {
    user: userField(body["user"], message),
    object: objectIdField(body["object"], message),
    relations: named?.map((relation) => relationField(relation, message)),
    ...circumstancesOf(body, limits),
  }
  const { modelId: wanted, freshness } = termsOf(body, message, request.headers)
  request.question = { user: question.user, object: question.object }
  return withModel(api, request.store, wanted, ({ storeId, modelId, model }) => {
    const work = listRelations(model, question, api.engine.bounds)
    return askEngine(api, request, storeId, { work, freshness }, ({ relations, errors, revision }) => ({
      status: 200,
      body: {
        relations,
        errors: Object.fromEntries(errors.map(({ relation, error }) => [relation, itemError(error)])),
      },
      headers: revisionHeaders(storeId, modelId, revision),
    }))
  })
}
