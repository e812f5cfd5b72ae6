import { packedUsers } from "../check/list-users.ts"
import type { JsonForm, ListUsersRequest } from "../check/questions.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError } from "./api-error.ts"
import {
  arrayField,
  idField,
  invalid,
  type JsonFields,
  objectField,
  pick,
  relationField,
  stringField,
  typeField,
} from "./fields.ts"
import { listAnswer } from "./list-answer.ts"
import { modelOfPage, pageWanted, termsOfPage } from "./list-cursor.ts"
import { endingOf } from "./list-objects.ts"
import type { AuthzLimits } from "./ports.ts"
import { plainCircumstancesOf, termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { askEngine, revisionHeaders, withModel } from "./with-model.ts"

const message = "ListUsersRequest"
type Question = Pick<ListUsersRequest, "object" | "relation" | "filter" | "contextualTuples" | "context">

/**
 * `POST /stores/{store}/list-users` → `{users}`: objects, usersets and wildcards of the filter's type. `excluded_users` contains the users
 * that a wildcard in the list does not cover. Complete or in pages, like list-objects.
 */
export function postListUsers(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const limits = api.limits()
  const { body } = request
  const question = questionOf(body, limits)
  const { modelId, freshness } = termsOf(body, message, request.headers)
  const page = pageWanted(body, message, limits.listPageSizeMax, question)
  const { object, relation, filter } = question
  request.question = { object, relation, type: filter.type }
  return withModel(api, request.store, modelOfPage(page, modelId), (asked) => {
    const terms = termsOfPage(page, asked.storeId, freshness)
    const bounds = { resultsMax: limits.listUsersMax ?? undefined, deadlineMs: limits.listUsersMs }
    const list = { ...question, ...terms.paging, ...bounds }
    const work = packedUsers(asked.model, list, api.engine.bounds, formOf(question.filter))
    return askEngine(api, request, asked.storeId, { work, freshness: terms.freshness }, (found) => {
      if (found.truncated !== undefined) request.outcome = "truncated"
      const excluded_users = found.excluded.length === 0 ? undefined : found.excluded
      return {
        status: 200,
        ...listAnswer({ users: found.users, excluded_users }, endingOf(found, question, asked)),
        headers: revisionHeaders(asked.storeId, asked.modelId, found.revision),
      }
    })
  })
}

function questionOf(body: JsonFields, limits: AuthzLimits): Question {
  const object = objectField(body["object"], "object", '{"type": …, "id": …}')
  if (object === undefined) throw invalid(message, "Object", "value is required")
  const type = typeField(object["type"], "Object")
  const id = idField(object["id"], "Object")
  const contextual = { field: `${message}.ContextualTuples`, max: limits.contextualTuplesMax }
  return {
    object: `${type}:${id}`,
    relation: relationField(body["relation"], message),
    filter: filterOf(body),
    ...plainCircumstancesOf(body, limits, contextual),
  }
}

function filterOf(body: JsonFields): Question["filter"] {
  const [first, ...others] = arrayField(pick(body, "user_filters", "userFilters"), "user_filters")
  const filter = objectField(first, "user_filters")
  if (filter === undefined || others.length > 0)
    throw new ApiError(
      "validation_error",
      `invalid ${message}.UserFilters: value must contain exactly 1 item(s)`,
    )
  const type = typeField(filter["type"], "UserTypeFilter")
  const relation = stringField(filter["relation"], "relation")
  return relation === "" ? { type } : { type, relation: relationField(relation, "UserTypeFilter") }
}

/** Users (`type:id`, `type:*` or `type:id#relation`; all of one filter) in OpenFGA's form: `object`, `wildcard` or `userset`. */
function formOf({ type, relation }: Question["filter"]): JsonForm {
  const skip = Buffer.byteLength(type) + 1
  const typeText = JSON.stringify(type)
  if (relation !== undefined) {
    const behind = `","relation":${JSON.stringify(relation)}}}`
    return { before: `{"userset":{"type":${typeText},"id":"`, behind, skip, bare: true }
  }
  const wildcard = `{"wildcard":{"type":${typeText}}}`
  return { before: `{"object":{"type":${typeText},"id":"`, behind: '"}}', skip, wildcard }
}
