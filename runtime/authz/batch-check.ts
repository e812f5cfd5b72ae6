import { batchCheck } from "../check/batch-check.ts"
import { CheckError } from "../check/ports.ts"
import type { BatchItem, BatchResult } from "../check/questions.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError } from "./api-error.ts"
import { itemError, resultFields } from "./check-result.ts"
import {
  arrayField,
  booleanField,
  invalid,
  type JsonFields,
  objectField,
  pick,
  stringField,
} from "./fields.ts"
import { observeBatch } from "./observed.ts"
import type { AuthzLimits } from "./ports.ts"
import { circumstancesOf, questionKeyOf, termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { askEngine, revisionHeaders, withModel } from "./with-model.ts"

/**
 * `POST /stores/{store}/batch-check` `{checks}` → `{result {<correlation_id>}}`: each `{allowed}` or `{error {input_error | internal_error,
 * message}}`, all at one revision. `explain` and `ternary` apply to all checks, or to the one that contains them.
 */
export function postBatchCheck(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const { body } = request
  const { ids, items } = parse(body, api.limits())
  const { modelId: named, freshness } = termsOf(body, "BatchCheckRequest", request.headers)
  return withModel(api, request.store, named, ({ storeId, modelId, model }) => {
    const work = batchCheck(model, items, api.engine.bounds)
    return askEngine(api, request, storeId, { work, freshness }, ({ results, revision }) => {
      observeBatch(api, request, items, results)
      let json = '{"result":{'
      for (let at = 0; at < results.length; at += 1) {
        const result = results[at] as BatchResult | CheckError
        // The allowed characters of ids need no escaping. Written as text, because `__proto__` is a valid id.
        json += `${at === 0 ? "" : ","}"${ids[at]}":${resultJson(result, items[at] as BatchItem)}`
      }
      return { status: 200, body: `${json}}}`, headers: revisionHeaders(storeId, modelId, revision) }
    })
  })
}

function resultJson(result: BatchResult | CheckError, item: BatchItem): string {
  if (result instanceof CheckError) return JSON.stringify({ error: itemError(result) })
  const extra = resultFields(result, item)
  if (extra === undefined) return result.allowed ? '{"allowed":true}' : '{"allowed":false}'
  return JSON.stringify({ allowed: result.allowed, ...extra })
}

interface ParsedBatch {
  readonly ids: readonly string[]
  readonly items: readonly BatchItem[]
}

function parse(body: JsonFields, limits: AuthzLimits): ParsedBatch {
  const checks = arrayField(body["checks"], "checks")
  if (checks.length === 0)
    throw invalid("BatchCheckRequest", "Checks", "value must contain at least 1 item(s)")
  const max = limits.checksPerBatchMax
  if (checks.length > max)
    throw new ApiError(
      "validation_error",
      `batchCheck received ${checks.length} checks, the maximum allowed is ${max}`,
    )
  const defaults = {
    explain: booleanField(body["explain"], "explain"),
    ternary: booleanField(body["ternary"], "ternary"),
  }
  const seen = new Set<string>()
  const ids: string[] = []
  const items: BatchItem[] = []
  for (const check of checks) {
    const fields = objectField(check, "checks") ?? {}
    const item = itemOf(fields, defaults, limits)
    const id = correlationIdField(pick(fields, "correlation_id", "correlationId"))
    if (seen.has(id)) throw new ApiError("validation_error", `received duplicate correlation id: ${id}`)
    seen.add(id)
    ids.push(id)
    items.push(item)
  }
  return { ids, items }
}

function itemOf(
  fields: JsonFields,
  defaults: { readonly explain: boolean; readonly ternary: boolean },
  limits: AuthzLimits,
): BatchItem {
  const { user, relation, object } = questionKeyOf(fields, "BatchCheckItem", "CheckRequestTupleKey")
  const { contextualTuples, context } = circumstancesOf(fields, limits)
  const explain =
    fields["explain"] === undefined ? defaults.explain : booleanField(fields["explain"], "explain")
  const ternary =
    fields["ternary"] === undefined ? defaults.ternary : booleanField(fields["ternary"], "ternary")
  return { user, relation, object, contextualTuples, context, explain, ternary }
}

function correlationIdField(value: unknown): string {
  const text = stringField(value, "correlation_id")
  if (/^[\w-]{1,36}$/.test(text)) return text
  throw invalid(
    "BatchCheckItem",
    "CorrelationId",
    'value does not match regex pattern "^[\\\\w\\\\d-]{1,36}$"',
  )
}
