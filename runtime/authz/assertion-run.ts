import { batchCheck } from "../check/batch-check.ts"
import { CheckError } from "../check/ports.ts"
import type { BatchResult } from "../check/questions.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { type Assertion, assertionBody, storedAssertions } from "./assertions.ts"
import { itemError } from "./check-item.ts"
import { resultFields } from "./check-result.ts"
import { modelIdField } from "./fields.ts"
import { termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { askEngine, revisionHeaders } from "./with-model.ts"

/**
 * `POST /stores/{store}/assertions/{model}/run` → `{authorization_model_id, passed, failed, results}`: every assertion of the model as a check, all at one revision; what came out (`actual`, or `error`), and
 * where that is not what was expected, why. It is no endpoint of OpenFGA's, whose server keeps assertions and never looks at them.
 */
export async function postAssertionRun(api: AuthzApi, request: ApiRequest): Promise<ApiResponse> {
  const modelId = modelIdField(request.id, "RunAssertionsRequest")
  const { freshness } = termsOf(request.body, "RunAssertionsRequest", request.headers)
  const { storeId, model, assertions } = await storedAssertions(api, request.store, modelId)
  const items = assertions.map(({ key, contextualTuples, context }) => {
    const { user, relation, object } = key
    return { user, relation, object, contextualTuples, context, explain: true }
  })
  const work = batchCheck(model, items, api.engine.bounds)
  return askEngine(api, request, storeId, { work, freshness }, ({ results, revision }) => {
    const bodies = assertions.map((assertion, at) =>
      resultBody(assertion, results[at] as BatchResult | CheckError),
    )
    const passed = bodies.filter(({ passed: did }) => did).length
    return {
      status: 200,
      body: { authorization_model_id: modelId, passed, failed: bodies.length - passed, results: bodies },
      headers: revisionHeaders(storeId, modelId, revision),
    }
  })
}

/** An assertion and what became of it. */
type ResultBody = Readonly<Record<string, unknown>> & { readonly passed: boolean }

function resultBody(assertion: Assertion, result: BatchResult | CheckError): ResultBody {
  const asserted = assertionBody(assertion)
  if (result instanceof CheckError)
    return { ...asserted, actual: null, passed: false, error: itemError(result) }
  const passed = result.allowed === assertion.expectation
  const why = passed ? undefined : resultFields(result, { explain: true })
  return { ...asserted, actual: result.allowed, passed, ...why }
}
