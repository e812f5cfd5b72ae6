import { batchCheck } from "../../check/batch-check.ts"
import { CheckError } from "../../check/ports.ts"
import type { BatchCheckAnswer } from "../../check/questions.ts"
import type { ApiResponse } from "../answer.ts"
import type { AuthzApi } from "../api.ts"
import { ApiError, apiErrorOf } from "../api-error.ts"
import { arrayField, type JsonFields, objectField } from "../fields.ts"
import { observeBatch } from "../observed.ts"
import type { ApiRequest } from "../route.ts"
import { askEngine, revisionHeaders, withModel } from "../with-model.ts"
import { type DeferredCheck, decisionBody, evaluate, questionOf } from "./evaluation.ts"
import { type AuthzenOptions, jsonBody, optionsOf } from "./request.ts"

interface Decision {
  readonly decision: boolean
}

/** The decision that ends a batch; undefined: the batch runs to its end. */
const endsAt: Readonly<Record<string, boolean | undefined>> = {
  execute_all: undefined,
  deny_on_first_deny: false,
  permit_on_first_permit: true,
}

/**
 * `POST …/access/v1/evaluations` → `{evaluations: [{decision}]}` in the order of the request, all at one revision. An error in one item
 * affects only that item: `decision: false` with `context.error`. Without `evaluations`, or with an empty list, it is a single evaluation.
 */
export function postEvaluations(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const body = jsonBody(request)
  const limits = api.limits()
  const options = optionsOf(body, request, limits)
  if (!Object.hasOwn(endsAt, options.semantic))
    throw new ApiError(
      "validation_error",
      `options.evaluations_semantic: expected ${Object.keys(endsAt).join(", ")}`,
    )
  const items = arrayField(body["evaluations"], "evaluations")
  if (items.length === 0) return evaluate(api, request, body, options)
  if (items.length > limits.checksPerBatchMax)
    throw new ApiError(
      "exceeded_entity_limit",
      `The number of evaluations exceeds the allowed limit of ${limits.checksPerBatchMax}`,
    )
  requireDefaults(body)
  const questions = items.map((item) => attempt(item, body, options))
  return withModel(api, request.store, options.modelId, ({ storeId, modelId, model }) => {
    const checks = questions.flatMap((question) => (question instanceof ApiError ? [] : [question(model)]))
    const work = batchCheck(model, checks, api.engine.bounds)
    return askEngine(api, request, storeId, { work, freshness: options.freshness }, (answer) => {
      observeBatch(api, request, checks, answer.results)
      return {
        status: 200,
        body: { evaluations: upToEnd(decisions(questions, answer), endsAt[options.semantic]) },
        headers: revisionHeaders(storeId, modelId, answer.revision),
      }
    })
  })
}

/** A default that is not an object is an error of the whole request. */
function requireDefaults(body: JsonFields): void {
  for (const name of ["subject", "action", "resource", "context"]) objectField(body[name], name)
}

function attempt(item: unknown, general: JsonFields, options: AuthzenOptions): DeferredCheck | ApiError {
  try {
    return questionOf(objectField(item, "evaluation") ?? {}, general, options)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

function decisions(
  questions: readonly (DeferredCheck | ApiError)[],
  { results }: BatchCheckAnswer,
): readonly Decision[] {
  let at = 0
  return questions.map((question) => {
    if (question instanceof ApiError) return refused(question)
    const result = results[at++]
    if (result === undefined || result instanceof CheckError) return failed(result)
    return decisionBody(result) as Decision
  })
}

/** A fault of the server or the database is not a decision: it fails the whole request. */
function failed(error: CheckError | undefined): Decision {
  const known = error === undefined ? undefined : apiErrorOf(error)
  if (known === undefined || known.status >= 500) throw error ?? new Error("an evaluation has no result")
  return refused(known)
}

function refused({ status, code, message }: ApiError): Decision {
  const error = { status, code, message }
  return { decision: false, context: { error } } as Decision
}

/** Up to and including the first decision that ends the batch. */
function upToEnd(all: readonly Decision[], end: boolean | undefined): readonly Decision[] {
  const at = end === undefined ? -1 : all.findIndex(({ decision }) => decision === end)
  return at < 0 ? all : all.slice(0, at + 1)
}
