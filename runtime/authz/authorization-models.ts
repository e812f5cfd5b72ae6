import type { ModelFinding } from "../model/finding.ts"
import { readModel } from "../model/read.ts"
import { validateModel } from "../model/validate.ts"
import type { AuthorizationModel, RelationReference, TypeDefinition } from "../plan/authorization-model.ts"
import { decodeToken, encodeToken } from "../store/continuation.ts"
import { findModel, insertModel, listModels, type ModelRecord } from "../store/models.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, type ApiErrorCode, managedByPlan, modelNotFound, storeNotFound } from "./api-error.ts"
import { modelIdField, pageSizeField } from "./fields.ts"
import type { Answer, ApiRequest } from "./route.ts"

const tokenKind = "models-1"

/** `POST /stores/{store}/authorization-models` → 201 `{authorization_model_id}`; always a new one, as with OpenFGA. */
export async function postModel(api: AuthzApi, request: ApiRequest): Promise<Answer> {
  const store = await api.stores.find(request.store)
  if (store.managed) throw managedByPlan(store.declaredName ?? store.name)
  const model = judge(request.body)
  const inserted = await insertModel(api.database, store.id, model)
  api.stores.forget(store)
  if (inserted === "absent") throw storeNotFound()
  if (inserted === "managed") throw managedByPlan(store.declaredName ?? store.name)
  return {
    status: 201,
    body: { authorization_model_id: inserted.id },
    headers: ["Openfga-Authorization-Model-Id", inserted.id],
  }
}

/** `GET /stores/{store}/authorization-models?page_size&continuation_token` → newest first. */
export async function getModels(api: AuthzApi, { store: name, query }: ApiRequest): Promise<Answer> {
  const limit = pageSizeField(query.get("page_size"), "ReadAuthorizationModelsRequest")
  const token = query.get("continuation_token") ?? ""
  const before = token === "" ? "" : decodeToken(tokenKind, token, 1)?.[0]
  if (before === undefined) throw new ApiError("invalid_continuation_token", "Invalid continuation token")
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
  }
}

/** `GET /stores/{store}/authorization-models/{id}` */
export async function getModel(api: AuthzApi, { store: name, id }: ApiRequest): Promise<Answer> {
  const modelId = modelIdField(id, "ReadAuthorizationModelRequest")
  const store = await api.stores.find(name)
  const found = await findModel(api.database, store.id, modelId)
  if (found === undefined) throw modelNotFound(modelId)
  return {
    status: 200,
    body: { authorization_model: modelBody(found) },
    headers: ["Openfga-Authorization-Model-Id", found.id],
  }
}

/** The model in a body, or everything that is wrong with it. */
function judge(body: unknown): AuthorizationModel {
  const read = readModel(body)
  if ("findings" in read) throw refusal(read.findings)
  if (read.model.type_definitions.length === 0)
    throw new ApiError(
      "type_definitions_too_few_items",
      "invalid WriteAuthorizationModelRequest.TypeDefinitions: value must contain at least 1 item(s)",
    )
  const findings = validateModel(read.model)
  if (findings.length > 0) throw refusal(findings)
  return read.model
}

/** A rule on the shape of the request is OpenFGA's `validation_error`, a rule on what the model says `invalid_authorization_model`. */
const codes: Partial<Record<ModelFinding["kind"], ApiErrorCode>> = {
  "invalid-shape": "validation_error",
  "limit-exceeded": "exceeded_entity_limit",
  "invalid-schema": "unsupported_schema_version",
}

function refusal(findings: readonly ModelFinding[]): ApiError {
  const code = findings[0] === undefined ? undefined : codes[findings[0].kind]
  const messages = [...new Set(findings.map(({ message }) => message))].slice(0, 20)
  return new ApiError(code ?? "invalid_authorization_model", messages.join("\n"))
}

/** Every field is there, also the empty ones, as OpenFGA answers. */
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
          parameters: condition.parameters ?? {},
          metadata: condition.metadata ?? null,
        },
      ]),
    ),
  }
}

function typeBody({ type, relations, metadata }: TypeDefinition): object {
  return {
    type,
    relations: relations ?? {},
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

function referenceBody({ type, relation, wildcard, condition }: RelationReference): object {
  return {
    type,
    ...(relation === undefined ? {} : { relation }),
    ...(wildcard === undefined ? {} : { wildcard }),
    condition: condition ?? "",
  }
}
