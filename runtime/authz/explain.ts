import { explain } from "../check/explain.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { parseCheck } from "./check.ts"
import type { ApiRequest } from "./route.ts"
import { askEngine, revisionHeaders, withModel } from "./with-model.ts"

/**
 * `POST /stores/{store}/explain` with the body of a check → the explanation (its JSON Schema: `runtime/plan/explanation.ts`). Here missing
 * values are part of the answer and not an error. OpenFGA has no such endpoint.
 */
export function postExplain(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const { request: asked, modelId: named } = parseCheck(request.body, api.limits(), request.headers)
  request.question = asked
  return withModel(api, request.store, named, ({ storeId, modelId, model }) => {
    const work = explain(model, { ...asked, explain: true, ternary: true }, api.engine.bounds)
    return askEngine(api, request, storeId, { work, freshness: asked }, ({ explanation, revision }) => ({
      status: 200,
      body: explanation ?? {},
      headers: revisionHeaders(storeId, modelId, revision),
    }))
  })
}
