import type { CheckAnswer, CheckRequest, TupleKey } from "../check/ports.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError } from "./api-error.ts"
import { consistencyField } from "./consistency.ts"
import { contextField } from "./context.ts"
import {
  arrayField,
  booleanField,
  type Fields,
  modelIdField,
  objectField,
  objectIdField,
  pick,
  relationField,
  userField,
} from "./fields.ts"
import type { Answer, ApiRequest } from "./route.ts"
import { tupleKeyField } from "./tuple-keys.ts"
import { revisionHeaders, withModel } from "./with-model.ts"

const contextualTuplesMax = 100

const allowedJson = '{"allowed":true,"resolution":""}'
const deniedJson = '{"allowed":false,"resolution":""}'

interface ParsedCheck {
  readonly request: CheckRequest
  readonly modelId: string
}

/**
 * `POST /stores/{store}/check` → `{allowed, resolution: ""}`, with `explain: true` also `explanation`. The header `Sallyport-Revision` is the
 * revision at which the answer is true.
 *
 * What the services ask all day: when store, model and tuples are in memory there is no promise between body and answer.
 */
export function postCheck(api: AuthzApi, request: ApiRequest): Answer | Promise<Answer> {
  const parsed = parse(request.body)
  return withModel(api, request.store, parsed.modelId, ({ storeId, modelId, model }) => {
    const answer = api.engine.check(storeId, model, parsed.request)
    return answer instanceof Promise
      ? answer.then((given) => answerOf(given, storeId, modelId))
      : answerOf(answer, storeId, modelId)
  })
}

function answerOf({ allowed, revision, explanation }: CheckAnswer, storeId: string, modelId: string): Answer {
  const json = allowed ? allowedJson : deniedJson
  return {
    status: 200,
    body: explanation === undefined ? json : { allowed, resolution: "", explanation },
    headers: revisionHeaders(storeId, modelId, revision),
  }
}

function parse(body: Fields): ParsedCheck {
  const key = objectField(pick(body, "tuple_key", "tupleKey"), "tuple_key")
  if (key === undefined)
    throw new ApiError("tuple_key_value_not_specified", "invalid CheckRequest.TupleKey: value is required")
  const user = userField(key["user"], "CheckRequestTupleKey")
  const relation = relationField(key["relation"], "CheckRequestTupleKey")
  const object = objectIdField(key["object"], "CheckRequestTupleKey")
  const request: CheckRequest = {
    user,
    relation,
    object,
    contextualTuples: contextualTuples(pick(body, "contextual_tuples", "contextualTuples")),
    context: contextField(body["context"], "context"),
    consistency: consistencyField(body["consistency"]),
    explain: booleanField(body["explain"], "explain"),
  }
  const modelId = modelIdField(pick(body, "authorization_model_id", "authorizationModelId"), "CheckRequest")
  return { request, modelId }
}

function contextualTuples(value: unknown): readonly TupleKey[] | undefined {
  if (value === undefined || value === null) return undefined
  const fields = objectField(value, "contextual_tuples") ?? {}
  const keys = arrayField(pick(fields, "tuple_keys", "tupleKeys"), "contextual_tuples.tuple_keys")
  if (keys.length > contextualTuplesMax)
    throw new ApiError(
      "validation_error",
      `invalid ContextualTupleKeys.TupleKeys: value must contain no more than ${contextualTuplesMax} item(s)`,
    )
  return keys.map((key) => tupleKeyField(key, "TupleKey"))
}
