import { explanationSummary } from "../../check/explain-text.ts"
import type { LoadedModel } from "../../check/loaded-model.ts"
import type { CheckRequest, Explanation } from "../../check/ports.ts"
import type { ApiResponse } from "../answer.ts"
import type { AuthzApi } from "../api.ts"
import type { JsonFields } from "../fields.ts"
import type { ApiRequest } from "../route.ts"
import { revisionHeaders, withModel } from "../with-model.ts"
import { contextOf } from "./circumstances.ts"
import { actionOf, entityFields, entityOf, objectOf, relationOf, userOf } from "./entities.ts"
import { type AuthzenOptions, jsonBody, optionsOf } from "./request.ts"

/** A check whose context depends on the model. */
export type DeferredCheck = (model: LoadedModel) => CheckRequest

/** `POST …/access/v1/evaluation` → `{decision}`; with `options.explain` also `context {reason, explanation}`. */
export function postEvaluation(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const body = jsonBody(request)
  return evaluate(api, request, body, optionsOf(body, request, api.limits()))
}

/** One evaluation, with its fields at the top of the body. */
export function evaluate(
  api: AuthzApi,
  request: ApiRequest,
  body: JsonFields,
  options: AuthzenOptions,
): ApiResponse | Promise<ApiResponse> {
  const question = questionOf(body, {}, options)
  return withModel(api, request.store, options.modelId, ({ storeId, modelId, model }) => {
    const asked = { ...question(model), ...options.freshness }
    request.question = asked
    const answer = api.engine.check(storeId, model, asked, request.work)
    const send = (given: Awaited<typeof answer>): ApiResponse => {
      request.outcome = given.allowed ? "allowed" : "denied"
      return {
        status: 200,
        body: decisionBody(given),
        headers: revisionHeaders(storeId, modelId, given.revision),
      }
    }
    return answer instanceof Promise ? answer.then(send) : send(answer)
  })
}

/**
 * Reads subject, action, resource and context; missing ones come from the batch.
 * @throws ApiError naming the field
 */
export function questionOf(item: JsonFields, general: JsonFields, options: AuthzenOptions): DeferredCheck {
  const entity = (name: "subject" | "resource") =>
    entityOf(entityFields(item[name], general[name], name, ["type", "id"]), name)
  const subject = entity("subject")
  const action = actionOf(entityFields(item["action"], general["action"], "action", ["name"]))
  const resource = entity("resource")
  const names = { user: userOf(subject), relation: relationOf(action), object: objectOf(resource) }
  const properties = {
    subject: subject.properties,
    resource: resource.properties,
    action: action.properties,
  }
  const context = item["context"] ?? general["context"]
  const { contextualTuples, explain } = options
  return (model) => ({ ...names, contextualTuples, explain, context: contextOf(model, properties, context) })
}

export function decisionBody({
  allowed,
  explanation,
}: {
  readonly allowed: boolean
  readonly explanation?: Explanation | undefined
}): object {
  if (explanation === undefined) return { decision: allowed }
  const reason = explanation.allowed ? "the explanation contains the proof" : explanationSummary(explanation)
  return { decision: allowed, context: { reason, explanation } }
}
