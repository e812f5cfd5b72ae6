import { matrix } from "../check/matrix.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError } from "./api-error.ts"
import { itemError } from "./check-result.ts"
import { arrayField, invalid, objectIdField, relationField, userField } from "./fields.ts"
import { circumstancesOf, termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { askEngine, revisionHeaders, withModel } from "./with-model.ts"

const message = "MatrixRequest"

/**
 * `POST /stores/{store}/matrix` `{users, relations, objects}` → `{cells}`: `cells[user][relation][object]`, each true, false or `{error}`,
 * at one revision. False when the object's type does not have the relation. OpenFGA has no such endpoint.
 */
export function postMatrix(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const { body } = request
  const limits = api.limits()
  const users = someOf(body["users"], "Users")
  const relations = someOf(body["relations"], "Relations")
  const objects = someOf(body["objects"], "Objects")
  if (users.length * relations.length * objects.length > limits.matrixCellsMax)
    throw new ApiError(
      "exceeded_entity_limit",
      `The number of cells exceeds the allowed limit of ${limits.matrixCellsMax}`,
    )
  const question = {
    users: users.map((user) => userField(user, message)),
    relations: relations.map((relation) => relationField(relation, message)),
    objects: objects.map((object) => objectIdField(object, message)),
    ...circumstancesOf(body, limits),
  }
  const { modelId: named, freshness } = termsOf(body, message, request.headers)
  return withModel(api, request.store, named, ({ storeId, modelId, model }) => {
    const work = matrix(model, question, api.engine.bounds)
    return askEngine(api, request, storeId, { work, freshness }, ({ cells, revision }) => ({
      status: 200,
      body: {
        cells: cells.map((rows) =>
          rows.map((row) =>
            row.map((cell) => (typeof cell === "boolean" ? cell : { error: itemError(cell) })),
          ),
        ),
      },
      headers: revisionHeaders(storeId, modelId, revision),
    }))
  })
}

function someOf(value: unknown, field: string): readonly unknown[] {
  const list = arrayField(value, field.toLowerCase())
  if (list.length === 0) throw invalid(message, field, "value must contain at least 1 item(s)")
  return list
}
