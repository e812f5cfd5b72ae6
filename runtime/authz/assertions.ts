import { batchCheck } from "../check/batch-check.ts"
import { type LoadedModel, loadModel } from "../check/loaded-model.ts"
import { CheckError, type TupleKey } from "../check/ports.ts"
import type { BatchResult } from "../check/questions.ts"
import { readRelation, readSubject, validateTuple } from "../check/tuple.ts"
import { lowerModel } from "../model/lower.ts"
import { canonicalJson } from "../plan/canonical.ts"
import { findAssertions, putAssertions } from "../store/models.ts"
import type { ApiResponse } from "./answer.ts"
import { type AuthzApi, modelHeaders } from "./api.ts"
import { ApiError, modelNotFound } from "./api-error.ts"
import { validJsonModel } from "./authorization-models.ts"
import { itemError, resultFields } from "./check-result.ts"
import {
  arrayField,
  booleanField,
  invalid,
  type JsonFields,
  modelIdField,
  objectField,
  pick,
} from "./fields.ts"
import type { AuthzLimits } from "./ports.ts"
import { plainCircumstancesOf, questionKeyOf, termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { tupleKeyBody } from "./tuple-keys.ts"
import { askEngine, revisionHeaders } from "./with-model.ts"

/** An expected result of a check with a model. */
interface Assertion {
  readonly key: TupleKey
  readonly expectation: boolean
  readonly contextualTuples: readonly TupleKey[]
  readonly context: JsonFields | undefined
}

/** An assertion and its result. */
type ResultBody = Readonly<Record<string, unknown>> & { readonly passed: boolean }

/** `PUT /stores/{store}/assertions/{model}` `{assertions}` → 204: replaces the assertions of the model. */
export async function putModelAssertions(
  api: AuthzApi,
  { store: name, id, body }: ApiRequest,
): Promise<ApiResponse> {
  const limits = api.limits()
  const modelId = modelIdField(id, "WriteAssertionsRequest")
  const assertions = assertionsOf(body, limits)
  const store = await api.stores.find(name)
  const model = await api.model(store, modelId)
  const json = canonicalJson(assertions.map(assertionBody))
  if (Buffer.byteLength(json) > limits.assertionsBytesMax)
    throw new ApiError(
      "exceeded_entity_limit",
      `The number of bytes exceeds the allowed limit of ${limits.assertionsBytesMax}`,
    )
  for (const assertion of assertions) judge(model, assertion)
  if (!(await putAssertions(api.database, store.id, modelId, json))) throw modelNotFound(modelId)
  return { status: 204, headers: modelHeaders(store.id, modelId) }
}

/** `GET /stores/{store}/assertions/{model}` → `{authorization_model_id, assertions}`. */
export async function getModelAssertions(
  api: AuthzApi,
  { store: name, id }: ApiRequest,
): Promise<ApiResponse> {
  const modelId = modelIdField(id, "ReadAssertionsRequest")
  const { storeId, assertions } = await storedAssertions(api, name, modelId)
  return {
    status: 200,
    body: { authorization_model_id: modelId, assertions: assertions.map(assertionBody) },
    headers: modelHeaders(storeId, modelId),
  }
}

/**
 * The stored assertions of a model; empty when nothing is stored.
 * @throws ApiError for an unknown store or model
 */
async function storedAssertions(
  api: AuthzApi,
  storeName: string,
  modelId: string,
): Promise<{
  readonly storeId: string
  readonly model: LoadedModel
  readonly assertions: readonly Assertion[]
}> {
  const store = await api.stores.find(storeName)
  const model = await api.model(store, modelId)
  const json = await findAssertions(api.database, store.id, modelId)
  const stored = json === undefined ? [] : (JSON.parse(json) as readonly JsonFields[])
  return { storeId: store.id, model, assertions: stored.map(storedAssertion) }
}

/** It was valid when it was stored. Do not validate it again, because the limits may have become smaller. */
function storedAssertion(fields: JsonFields): Assertion {
  return {
    key: fields["tuple_key"] as TupleKey,
    expectation: fields["expectation"] as boolean,
    contextualTuples: (fields["contextual_tuples"] as readonly TupleKey[]).map(withoutNull),
    context: (fields["context"] as JsonFields | null) ?? undefined,
  }
}

function withoutNull({ condition, ...key }: TupleKey): TupleKey {
  if (condition === null || condition === undefined) return key
  const { name, context } = condition
  return { ...key, condition: (context ?? undefined) === undefined ? { name } : { name, context } }
}

function assertionsOf(body: JsonFields, limits: AuthzLimits): readonly Assertion[] {
  const given = arrayField(body["assertions"], "assertions")
  const max = limits.assertionsMax
  if (given.length > max) {
    const reason = `value must contain no more than ${max} item(s)`
    throw invalid("WriteAssertionsRequest", "Assertions", reason, "assertions_too_many_items")
  }
  return given.map((each) => assertionOf(objectField(each, "assertions") ?? {}, limits))
}

function assertionOf(fields: JsonFields, limits: AuthzLimits): Assertion {
  const key = questionKeyOf(fields, "Assertion", "AssertionTupleKey")
  const contextual = { field: "Assertion.ContextualTuples", max: limits.assertionTuplesMax }
  const { contextualTuples = [], context } = plainCircumstancesOf(fields, limits, contextual)
  return { key, expectation: booleanField(fields["expectation"], "expectation"), contextualTuples, context }
}

/** Validates the check by the rules of a check, and its contextual tuples by those of a write. */
function judge(model: LoadedModel, { key, contextualTuples }: Assertion): void {
  const relation = readRelation(model, key.object, key.relation)
  if (typeof relation === "string") throw new ApiError("validation_error", relation)
  const subject = readSubject(model, key.user)
  if (typeof subject === "string") throw new ApiError("validation_error", subject)
  for (const tuple of contextualTuples) {
    const error = validateTuple(model, tuple)
    if (error !== undefined) throw new ApiError("validation_error", error.message)
  }
}

/** An assertion in its stored form, which is also that of responses. */
function assertionBody({ key, expectation, contextualTuples, context }: Assertion): object {
  const { object, relation, user } = key
  return {
    tuple_key: { object, relation, user },
    expectation,
    contextual_tuples: contextualTuples.map(contextualBody),
    context: context ?? null,
  }
}

/** An absent context is null here, as in OpenFGA's response; in a list of stored tuples it is empty. */
function contextualBody({ condition, ...key }: TupleKey): object {
  if (condition === undefined) return tupleKeyBody(key)
  return { ...key, condition: { name: condition.name, context: condition.context ?? null } }
}

/**
 * `POST /stores/{store}/assertions/{model}/run` `{authorization_model?, assertions?}` → `{authorization_model_id, passed, failed, results}`: checks every
 * assertion of the model, all at one revision. A draft (`authorization_model`, as JSON) replaces the model, and `assertions` the stored ones, for this
 * request only: an editor sees the results before anything is written. A result contains `actual` or `error`, and an explanation when it is not the expected one. OpenFGA has no such
 * endpoint: its server stores assertions and never evaluates them.
 */
export async function postAssertionRun(api: AuthzApi, request: ApiRequest): Promise<ApiResponse> {
  const modelId = modelIdField(request.id, "RunAssertionsRequest")
  const { freshness } = termsOf(request.body, "RunAssertionsRequest", request.headers)
  const limits = api.limits()
  const { body } = request
  const draft = pick(body, "authorization_model", "authorizationModel")
  const stored = await storedAssertions(api, request.store, modelId)
  const { storeId } = stored
  const model = draft === undefined ? stored.model : loadModel(lowerModel(validJsonModel(draft, limits)))
  const assertions = body["assertions"] === undefined ? stored.assertions : assertionsOf(body, limits)
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

function resultBody(assertion: Assertion, result: BatchResult | CheckError): ResultBody {
  const asserted = assertionBody(assertion)
  if (result instanceof CheckError)
    return { ...asserted, actual: null, passed: false, error: itemError(result) }
  const passed = result.allowed === assertion.expectation
  const why = passed ? undefined : resultFields(result, { explain: true })
  return { ...asserted, actual: result.allowed, passed, ...why }
}
