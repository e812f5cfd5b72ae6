import type { ServerResponse } from "node:http"
import type { LoadedModel } from "../check/loaded-model.ts"
import type { CheckAnswer, CheckRequest, TupleKey } from "../check/ports.ts"
import type { StoreRecord } from "../store/stores.ts"
import { sendError, sendJson } from "./answer.ts"
import { type AuthzApi, modelHeaders } from "./api.ts"
import { ApiError } from "./api-error.ts"
import { parseBody } from "./body.ts"
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
import { tupleKeyField } from "./tuple-keys.ts"

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
 * What the services ask all day: when store, model and tuples are in memory it answers in the turn of the event loop in which the
 * body arrived, without a promise.
 */
export function answerCheck(api: AuthzApi, name: string, body: Buffer, response: ServerResponse): void {
  const fail = (error: unknown) => sendError(response, error, api.logFault)
  try {
    const parsed = parse(parseBody(body))
    const store = api.stores.find(name)
    if (store instanceof Promise) store.then((found) => askModel(api, found, parsed, response)).catch(fail)
    else askModel(api, store, parsed, response)?.catch(fail)
  } catch (error) {
    fail(error)
  }
}

function askModel(
  api: AuthzApi,
  store: StoreRecord,
  parsed: ParsedCheck,
  response: ServerResponse,
): Promise<void> | undefined {
  const modelId = api.modelId(store, parsed.modelId)
  const model = api.model(store, modelId)
  const ask = (loaded: LoadedModel) => {
    const answer = api.engine.check(store.id, loaded, parsed.request)
    if (answer instanceof Promise) return answer.then((given) => send(response, given, store.id, modelId))
    send(response, answer, store.id, modelId)
    return undefined
  }
  return model instanceof Promise ? model.then(ask) : ask(model)
}

function send(response: ServerResponse, answer: CheckAnswer, storeId: string, modelId: string): void {
  const { allowed, revision, explanation } = answer
  const json =
    explanation === undefined
      ? allowed
        ? allowedJson
        : deniedJson
      : JSON.stringify({ allowed, resolution: "", explanation })
  sendJson(response, 200, json, [...modelHeaders(storeId, modelId), "Sallyport-Revision", String(revision)])
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
