import type { IncomingHttpHeaders } from "node:http"
import type { CheckAnswer, CheckRequest } from "../check/ports.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { resultFields } from "./check-result.ts"
import { booleanField, type JsonFields } from "./fields.ts"
import type { AuthzLimits } from "./ports.ts"
import { circumstancesOf, questionKeyOf, termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { revisionHeaders, withModel } from "./with-model.ts"

/** The responses without additional fields. */
export const allowedJson = '{"allowed":true,"resolution":""}'
export const deniedJson = '{"allowed":false,"resolution":""}'

interface ParsedCheck {
  readonly request: CheckRequest
  readonly modelId: string
}

/**
 * `POST /stores/{store}/check` → `{allowed, resolution: ""}`. `explain: true` adds `explanation`; `ternary: true` adds `conditional` and
 * `missing_context` when the result depends on values that the request lacks. The header `Sallyport-Revision` is the revision of the
 * answer.
 *
 * This is the most frequent request: when store, model and tuples are in memory, it is answered without a promise.
 */
export function postCheck(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const parsed = parseCheck(request.body, api.limits(), request.headers)
  request.question = parsed.request
  return withModel(api, request.store, parsed.modelId, ({ storeId, modelId, model }) => {
    const answer = api.engine.check(storeId, model, parsed.request, request.work)
    const send = (given: CheckAnswer) => {
      request.outcome = given.allowed ? "allowed" : "denied"
      return answerOf(given, parsed.request, storeId, modelId)
    }
    return answer instanceof Promise ? answer.then(send) : send(answer)
  })
}

function answerOf(answer: CheckAnswer, asked: CheckRequest, storeId: string, modelId: string): ApiResponse {
  const { allowed, revision } = answer
  const extra = resultFields(answer, asked)
  return {
    status: 200,
    body: extra === undefined ? (allowed ? allowedJson : deniedJson) : { allowed, resolution: "", ...extra },
    headers: revisionHeaders(storeId, modelId, revision),
  }
}

/** The check, and the model that the body names. */
export function parseCheck(body: JsonFields, limits: AuthzLimits, headers: IncomingHttpHeaders): ParsedCheck {
  const { user, relation, object } = questionKeyOf(body, "CheckRequest", "CheckRequestTupleKey")
  const { contextualTuples, context } = circumstancesOf(body, limits)
  const { modelId, freshness } = termsOf(body, "CheckRequest", headers)
  const { consistency, atLeast } = freshness
  const explain = booleanField(body["explain"], "explain")
  const ternary = booleanField(body["ternary"], "ternary")
  return {
    request: { user, relation, object, contextualTuples, context, consistency, atLeast, explain, ternary },
    modelId,
  }
}
