import { isUtf8 } from "node:buffer"
import type { ModelFinding } from "../model/finding.ts"
import { readModel } from "../model/read.ts"
import { validateModel } from "../model/validate.ts"
import type {
  AuthorizationModel,
  ConditionParameter,
  RelationReference,
  TypeDefinition,
  Userset,
} from "../plan/authorization-model.ts"
import { decodeToken, encodeToken } from "../store/continuation.ts"
import { findModel, findModelSource, insertModel, listModels, type ModelRecord } from "../store/models.ts"
import type { ApiResponse } from "./answer.ts"
import { type AuthzApi, modelHeaders } from "./api.ts"
import { ApiError, type ApiErrorCode, managedByPlan, modelNotFound, storeNotFound } from "./api-error.ts"
import { continuationField, invalidToken, modelIdField, pageSizeField } from "./fields.ts"
import type { AuthzLimits, ModelText } from "./ports.ts"
import type { ApiRequest } from "./route.ts"

const tokenKind = "models-1"

/**
 * `POST /stores/{store}/authorization-models` → 201 `{authorization_model_id}`; always a new one, as in OpenFGA. The body is JSON, or the
 * model as text with `Content-Type: text/plain`.
 */
export async function postModel(api: AuthzApi, request: ApiRequest): Promise<ApiResponse> {
  const store = await api.stores.find(request.store)
  if (store.managed) throw managedByPlan(store.declaredName ?? store.name)
  const { model, source } = isText(request) ? textModel(api, request) : { model: jsonModel(request.body) }
  judge(model, api.limits())
  const inserted = await insertModel(api.database, store.id, model, source)
  api.stores.forget(store)
  if (inserted === "absent") throw storeNotFound()
  if (inserted === "managed") throw managedByPlan(store.declaredName ?? store.name)
  return {
    status: 201,
    body: { authorization_model_id: inserted.id },
    headers: modelHeaders(store.id, inserted.id),
  }
}

/** `GET /stores/{store}/authorization-models?page_size&continuation_token` → newest first. */
export async function getModels(api: AuthzApi, { store: name, query }: ApiRequest): Promise<ApiResponse> {
  const limit = pageSizeField(query.get("page_size"), "ReadAuthorizationModelsRequest")
  const token = continuationField(query.get("continuation_token"), "ReadAuthorizationModelsRequest")
  const before = token === "" ? "" : decodeToken(tokenKind, token, 1)?.[0]
  if (before === undefined) throw invalidToken()
  const store = await api.stores.find(name)
  const found = await listModels(api.database, store.id, { before, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    status: 200,
    body: {
      authorization_models: page.map(modelBody),
      continuation_token: last === undefined ? "" : encodeToken(tokenKind, [last.id]),
    },
    headers: ["Openfga-Store-Id", store.id],
  }
}

/**
 * `GET /stores/{store}/authorization-models/{id}?format`: JSON, or the model as text with `format=dsl`. A model that was sent as text is
 * returned unchanged, with its comments.
 */
export async function getModel(api: AuthzApi, { store: name, id, query }: ApiRequest): Promise<ApiResponse> {
  const format = formatParameter(query.get("format"))
  const modelId = modelIdField(id, "ReadAuthorizationModelRequest", "Id")
  const store = await api.stores.find(name)
  const found = await findModel(api.database, store.id, modelId)
  if (found === undefined) throw modelNotFound(modelId)
  const headers = modelHeaders(store.id, found.id)
  if (format === "dsl") {
    if (api.modelText === undefined) throw noText()
    const source = await findModelSource(api.database, store.id, modelId)
    return { status: 200, text: source ?? printed(api.modelText, found.model), headers }
  }
  return { status: 200, body: { authorization_model: modelBody(found) }, headers }
}

function formatParameter(text: string | null): "json" | "dsl" {
  if (text === null || text === "" || text === "json") return "json"
  if (text === "dsl") return "dsl"
  throw new ApiError("validation_error", "format: json or dsl is expected")
}

const noText = () =>
  new ApiError("unsupported_media_type", "this server accepts and returns models only as JSON")

function printed(modelText: ModelText, model: AuthorizationModel): string {
  const text = modelText.print(model)
  if ("problem" in text) throw new ApiError("validation_error", `the model has no text: ${text.problem}`)
  return text.text
}

/** `text/plain` without JSON in it; browsers' `fetch` sends any text as `text/plain`. */
function isText({ headers, bytes }: ApiRequest): boolean {
  if (!/^text\/plain\s*(;|$)/i.test(headers["content-type"] ?? "")) return false
  return !/^\s*\{/.test(bytes.toString("latin1"))
}

function textModel(
  { modelText }: AuthzApi,
  { bytes }: ApiRequest,
): { readonly model: AuthorizationModel; readonly source: string } {
  if (modelText === undefined) throw noText()
  if (!isUtf8(bytes)) throw new ApiError("invalid_authorization_model", "the text is not UTF-8")
  const source = bytes.toString("utf8")
  // PostgreSQL cannot store NUL, which a comment may contain.
  if (source.includes("\0"))
    throw new ApiError("invalid_authorization_model", "the text contains a NUL character")
  const read = modelText.read(source)
  if ("model" in read) return { model: read.model, source }
  const lines = read.problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)
  throw new ApiError("invalid_authorization_model", listed(lines))
}

function jsonModel(body: unknown): AuthorizationModel {
  const read = readModel(body, "snake_case")
  if ("findings" in read) throw refusal(read.findings)
  return read.model
}

/**
 * A model of a request, in canonical form.
 * @throws ApiError with all errors of the model
 */
export function validJsonModel(body: unknown, limits: AuthzLimits): AuthorizationModel {
  const model = jsonModel(body)
  judge(model, limits)
  return model
}

/** Refuses a model with all of its errors. */
function judge(model: AuthorizationModel, { typesPerModelMax, modelBytesMax }: AuthzLimits): void {
  if (model.type_definitions.length === 0)
    throw new ApiError(
      "type_definitions_too_few_items",
      "invalid WriteAuthorizationModelRequest.TypeDefinitions: value must contain at least 1 item(s)",
    )
  const limits = { typesMax: typesPerModelMax, bytesMax: modelBytesMax }
  const findings = validateModel(model, { limits })
  if (findings.length > 0) throw refusal(findings)
}

function refusal(findings: readonly ModelFinding[]): ApiError {
  const code = findings[0] === undefined ? undefined : codeOf(findings[0])
  return new ApiError(code ?? "invalid_authorization_model", listed(findings.map(({ message }) => message)))
}

/**
 * A violated rule on request fields is OpenFGA's `validation_error`, a violated rule on the model's meaning `invalid_authorization_model`.
 */
function codeOf({ kind, path, symbol }: ModelFinding): ApiErrorCode | undefined {
  if (kind === "limit-exceeded") return "exceeded_entity_limit"
  // The field itself may contain 1.0; the error is that the model uses an unsupported version.
  if (kind === "invalid-schema" && symbol === "1.0") return undefined
  if (kind === "invalid-name" && path.at(-1) === "type") return "type_invalid_pattern"
  if (kind === "invalid-name" && path.at(-2) === "relations") return "relations_invalid_pattern"
  if (kind === "invalid-shape" && symbol === "base") return "difference_base_missing_value"
  if (kind === "invalid-shape" && symbol === "subtract") return "subtract_base_missing_value"
  const isOfFields =
    kind === "invalid-shape" ||
    kind === "invalid-name" ||
    kind === "invalid-schema" ||
    kind === "schema-version-required"
  return isOfFields ? "validation_error" : undefined
}

const messagesMax = 20

function listed(messages: readonly string[]): string {
  return [...new Set(messages)].slice(0, messagesMax).join("\n")
}

/** All fields are present, also the empty ones, as in OpenFGA's response. */
function modelBody({ id, model }: ModelRecord): object {
  return {
    id,
    schema_version: model.schema_version,
    type_definitions: model.type_definitions.map(typeBody),
    conditions: Object.fromEntries(
      Object.entries(model.conditions ?? {}).map(([name, condition]) => [
        name,
        {
          name: condition.name,
          expression: condition.expression,
          parameters: Object.fromEntries(
            Object.entries(condition.parameters ?? {}).map(([parameter, type]) => [
              parameter,
              parameterBody(type),
            ]),
          ),
          metadata: condition.metadata ?? null,
        },
      ]),
    ),
  }
}

function parameterBody({ type_name, generic_types = [] }: ConditionParameter): object {
  return { type_name, generic_types: generic_types.map(parameterBody) }
}

function typeBody({ type, relations, metadata }: TypeDefinition): object {
  return {
    type,
    relations: Object.fromEntries(
      Object.entries(relations ?? {}).map(([name, rewrite]) => [name, rewriteBody(rewrite)]),
    ),
    metadata:
      metadata === undefined
        ? null
        : {
            relations: Object.fromEntries(
              Object.entries(metadata.relations ?? {}).map(([name, each]) => [
                name,
                {
                  directly_related_user_types: (each.directly_related_user_types ?? []).map(referenceBody),
                  module: each.module ?? "",
                  source_info: each.source_info ?? null,
                },
              ]),
            ),
            module: metadata.module ?? "",
            source_info: metadata.source_info ?? null,
          },
  }
}

/** References have an `object`, which is always empty. The recursion depth is limited by the limit on models. */
function rewriteBody(rewrite: Userset): object {
  if ("computedUserset" in rewrite) return { computedUserset: relationBody(rewrite.computedUserset) }
  if ("tupleToUserset" in rewrite) {
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    return {
      tupleToUserset: { tupleset: relationBody(tupleset), computedUserset: relationBody(computedUserset) },
    }
  }
  if ("union" in rewrite) return { union: { child: rewrite.union.child.map(rewriteBody) } }
  if ("intersection" in rewrite)
    return { intersection: { child: rewrite.intersection.child.map(rewriteBody) } }
  if ("difference" in rewrite) {
    const { base, subtract } = rewrite.difference
    return { difference: { base: rewriteBody(base), subtract: rewriteBody(subtract) } }
  }
  return rewrite
}

function relationBody({ object = "", relation }: { object?: string | undefined; relation: string }): object {
  return { object, relation }
}

function referenceBody({ type, relation, wildcard, condition }: RelationReference): object {
  return {
    type,
    ...(relation === undefined ? {} : { relation }),
    ...(wildcard === undefined ? {} : { wildcard }),
    condition: condition ?? "",
  }
}
