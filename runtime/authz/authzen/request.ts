import type { TupleKey } from "../../check/ports.ts"
import type { Freshness } from "../../check/questions.ts"
import { ApiError } from "../api-error.ts"
import { booleanField, type JsonFields, modelIdField, objectField } from "../fields.ts"
import type { AuthzLimits } from "../ports.ts"
import { circumstancesOf, termsOf } from "../question-fields.ts"
import type { ApiRequest } from "../route.ts"

/** The parts of a request apart from its entities. */
export interface AuthzenOptions {
  /** Empty: the model in use. */
  readonly modelId: string
  readonly freshness: Freshness
  readonly contextualTuples: readonly TupleKey[] | undefined
  readonly explain: boolean
  readonly semantic: string
}

/**
 * The JSON body.
 * @throws ApiError when it is empty, malformed or declared as another type
 */
export function jsonBody(request: ApiRequest): JsonFields {
  const contentType = request.headers["content-type"] ?? ""
  if (!/^application\/json[\t ]*(;|$)/i.test(contentType))
    throw new ApiError("validation_error", "the Content-Type must be application/json")
  if (request.bytes.length === 0) throw new ApiError("validation_error", "the body is empty")
  return request.body
}

/**
 * The header `Openfga-Authorization-Model-Id`, and `options`: `evaluations_semantic` of the specification, and as extensions `explain`,
 * `contextual_tuples`, `consistency` and `consistency_token`, as in a check.
 */
export function optionsOf(body: JsonFields, request: ApiRequest, limits: AuthzLimits): AuthzenOptions {
  const options = objectField(body["options"], "options") ?? {}
  const header = request.headers["openfga-authorization-model-id"]
  const { contextualTuples } = circumstancesOf({ contextual_tuples: options["contextual_tuples"] }, limits)
  const semantic = options["evaluations_semantic"] ?? "execute_all"
  return {
    modelId: modelIdField(header, "AuthZEN"),
    freshness: termsOf({ ...options, authorization_model_id: undefined }, "AuthZEN", request.headers)
      .freshness,
    contextualTuples,
    explain: booleanField(options["explain"], "options.explain"),
    semantic: typeof semantic === "string" ? semantic : "",
  }
}
