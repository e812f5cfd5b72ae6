import { type ObjectStream, streamObjects } from "../check/list-objects.ts"
import type { ListEnd, ListObjectsRequest } from "../check/questions.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError, streamError } from "./api-error.ts"
import { type JsonFields, relationField, typeField, userBytesField } from "./fields.ts"
import { listAnswer } from "./list-answer.ts"
import { cursorToken, modelOfPage, pageWanted, termsOfPage } from "./list-cursor.ts"
import type { AuthzLimits } from "./ports.ts"
import { circumstancesOf, termsOf } from "./question-fields.ts"
import type { ApiRequest } from "./route.ts"
import { askEngine, type RequestedModel, revisionHeaders, withModel } from "./with-model.ts"

type Question = Pick<ListObjectsRequest, "type" | "relation" | "user" | "contextualTuples" | "context">

/**
 * `POST /stores/{store}/list-objects` → `{objects}`: complete, unless `page_size`, a limit or the deadline ends it. Then it is in order of
 * name, has a `continuation_token` for the rest, and has `truncated` ("limit", "deadline") unless `page_size` ended it. All pages have one
 * revision.
 */
export function postListObjects(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  return list(api, request, "ListObjectsRequest", (found, question, asked) => ({
    status: 200,
    ...listAnswer({ objects: found.json }, endingOf(found, question, asked)),
    headers: revisionHeaders(asked.storeId, asked.modelId, found.revision),
  }))
}

/**
 * `POST /stores/{store}/streamed-list-objects` → lines of `{"result":{"object"}}`, taken from the engine as fast as the client reads. The
 * last line of an incomplete list contains the position to continue from; it is an error when a limit or deadline cut the list.
 */
export function postStreamedListObjects(
  api: AuthzApi,
  request: ApiRequest,
): ApiResponse | Promise<ApiResponse> {
  return list(api, request, "StreamedListObjectsRequest", (found, question, asked) => ({
    status: 200,
    lines: linesOf(found, endingOf(found, question, asked)),
    headers: revisionHeaders(asked.storeId, asked.modelId, found.revision),
  }))
}

function list(
  api: AuthzApi,
  request: ApiRequest,
  message: string,
  answer: (found: ObjectStream, question: Question, asked: RequestedModel) => ApiResponse,
): ApiResponse | Promise<ApiResponse> {
  const limits = api.limits()
  const { body } = request
  const question = questionOf(body, message, limits)
  const { modelId, freshness } = termsOf(body, message, request.headers)
  const page = pageWanted(body, message, limits.listPageSizeMax, question)
  request.question = question
  return withModel(api, request.store, modelOfPage(page, modelId), (asked) => {
    const terms = termsOfPage(page, asked.storeId, freshness)
    const bounds = { resultsMax: limits.listObjectsMax ?? undefined, deadlineMs: limits.listObjectsMs }
    const work = streamObjects(asked.model, { ...question, ...terms.paging, ...bounds }, api.engine.bounds)
    return askEngine(api, request, asked.storeId, { work, freshness: terms.freshness }, (found) => {
      if (found.truncated !== undefined) request.outcome = "truncated"
      return answer(found, question, asked)
    })
  })
}

function questionOf(body: JsonFields, message: string, limits: AuthzLimits): Question {
  return {
    type: typeField(body["type"], message),
    relation: relationField(body["relation"], message),
    user: userBytesField(body["user"], message),
    ...circumstancesOf(body, limits),
  }
}

/** The fields about a list's end; a complete list has OpenFGA's fields only. */
export function endingOf(
  { next, truncated, revision, stamp }: ListEnd,
  question: object,
  { storeId, modelId }: RequestedModel,
): { readonly continuation_token?: string | undefined; readonly truncated?: string | undefined } {
  const token =
    next === undefined ? undefined : cursorToken({ storeId, modelId, revision, stamp }, next, question)
  return { continuation_token: token, truncated }
}

function* linesOf(found: ObjectStream, ending: ReturnType<typeof endingOf>): Generator<string> {
  for (const batch of found.batches())
    yield batch.map((object) => `{"result":{"object":${JSON.stringify(object)}}}\n`).join("")
  if (ending.continuation_token === undefined) return
  const error =
    found.truncated === "deadline"
      ? new ApiError("deadline_exceeded", "Request Deadline Exceeded: the list has more entries")
      : new ApiError("resource_exhausted", "the list is longer than this server returns in one response")
  yield `${JSON.stringify(found.truncated === undefined ? ending : { ...streamError(error), ...ending })}\n`
}
