import { packedObjects } from "../../check/list-objects.ts"
import { listRelations } from "../../check/list-relations.ts"
import { packedUsers } from "../../check/list-users.ts"
import type { LoadedModel } from "../../check/loaded-model.ts"
import type { ListEnd, Paging } from "../../check/questions.ts"
import type { ApiResponse } from "../answer.ts"
import type { AuthzApi } from "../api.ts"
import { ApiError } from "../api-error.ts"
import { type JsonFields, objectField } from "../fields.ts"
import { listAnswer, type PackedLists } from "../list-answer.ts"
import { cursorToken, modelOfPage, type PageWanted, pageWanted, termsOfPage } from "../list-cursor.ts"
import type { AskedAbout } from "../observed.ts"
import type { ApiRequest } from "../route.ts"
import { askEngine, type RequestedModel, revisionHeaders, withModel } from "../with-model.ts"
import { contextOf, type Properties } from "./circumstances.ts"
import {
  actionOf,
  entityFields,
  entityOf,
  objectOf,
  relationOf,
  resourceForm,
  soughtOf,
  subjectForm,
  userOf,
} from "./entities.ts"
import { type AuthzenOptions, jsonBody, optionsOf } from "./request.ts"

/** The common part of the three searches. */
interface Search {
  readonly api: AuthzApi
  readonly request: ApiRequest
  readonly body: JsonFields
  readonly options: AuthzenOptions
  readonly page: PageWanted
  /** The request has a page size or token. */
  readonly paged: boolean
  /** The search itself, which the tokens of its pages identify. */
  readonly question: object
}

/**
 * `POST …/access/v1/search/subject` `{subject {type}, action, resource}` → `{results: [{type, id}]}`: the subjects that may do the action.
 * The id `*` represents all subjects of the type, except those in `context.excluded`.
 */
export function postSearchSubject(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const body = jsonBody(request)
  const sought = soughtOf(entityFields(body["subject"], undefined, "subject", []), "subject")
  const action = actionOf(entityFields(body["action"], undefined, "action", []))
  const resource = entityOf(entityFields(body["resource"], undefined, "resource", []), "resource")
  const object = objectOf(resource)
  const relation = relationOf(action)
  const search = searchOf(api, request, body, { type: sought.type, relation, object })
  const properties = propertiesOf({ subject: sought, resource, action })
  return inModel(search, (asked, terms) => {
    const { model } = asked
    if (!model.types.has(sought.type) || model.relationIndex(resource.type, relation) < 0)
      return nothing(search, asked)
    const limits = api.limits()
    const bounds = { resultsMax: limits.listUsersMax ?? undefined, deadlineMs: limits.listUsersMs }
    const filter = { type: sought.type }
    const list = {
      object,
      relation,
      filter,
      ...terms.paging,
      ...bounds,
      ...circumstances(search, model, properties),
    }
    const work = packedUsers(model, list, api.engine.bounds, subjectForm(sought.type))
    return askEngine(api, request, asked.storeId, { work, freshness: terms.freshness }, (found) => {
      const context = found.excluded.length === 0 ? undefined : { excluded: found.excluded }
      return results(search, asked, found, { results: found.users, context })
    })
  })
}

/**
 * `POST …/access/v1/search/resource` `{subject, action, resource {type}}` → `{results: [{type, id}]}`: the resources on which the subject
 * may do it.
 */
export function postSearchResource(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const body = jsonBody(request)
  const subject = entityOf(entityFields(body["subject"], undefined, "subject", []), "subject")
  const action = actionOf(entityFields(body["action"], undefined, "action", []))
  const sought = soughtOf(entityFields(body["resource"], undefined, "resource", []), "resource")
  const user = userOf(subject)
  const relation = relationOf(action)
  const search = searchOf(api, request, body, { user, relation, type: sought.type })
  const properties = propertiesOf({ subject, resource: sought, action })
  return inModel(search, (asked, terms) => {
    const { model } = asked
    if (!model.types.has(subject.type) || model.relationIndex(sought.type, relation) < 0)
      return nothing(search, asked)
    const limits = api.limits()
    const bounds = { resultsMax: limits.listObjectsMax ?? undefined, deadlineMs: limits.listObjectsMs }
    const list = {
      user,
      relation,
      type: sought.type,
      ...terms.paging,
      ...bounds,
      ...circumstances(search, model, properties),
    }
    const work = packedObjects(model, list, api.engine.bounds, resourceForm(sought.type))
    return askEngine(api, request, asked.storeId, { work, freshness: terms.freshness }, (found) =>
      results(search, asked, found, { results: found.json }),
    )
  })
}

/**
 * `POST …/access/v1/search/action` `{subject, resource}` → `{results: [{name}]}`: the permitted actions in order of name. Undecidable
 * actions are not results; `context.undecided` contains their names.
 */
export function postSearchAction(api: AuthzApi, request: ApiRequest): ApiResponse | Promise<ApiResponse> {
  const body = jsonBody(request)
  const subject = entityOf(entityFields(body["subject"], undefined, "subject", []), "subject")
  const resource = entityOf(entityFields(body["resource"], undefined, "resource", []), "resource")
  const user = userOf(subject)
  const object = objectOf(resource)
  const search = searchOf(api, request, body, { user, object })
  const properties = propertiesOf({ subject, resource })
  return inModel(search, (asked, terms) => {
    const { model } = asked
    if (!model.types.has(subject.type) || !model.types.has(resource.type)) return nothing(search, asked)
    const work = listRelations(
      model,
      { user, object, ...circumstances(search, model, properties) },
      api.engine.bounds,
    )
    return askEngine(api, request, asked.storeId, { work, freshness: terms.freshness }, (found) => {
      const { names, next } = pageOf([...found.relations].sort(), terms.paging)
      const { revision, stamp } = found
      const end = { revision, stamp, next, count: names.length }
      const undecided = found.errors.map(({ relation }) => relation).sort()
      return results(search, asked, end, {
        results: packed(names.map((name) => ({ name }))),
        context: undecided.length === 0 ? undefined : { undecided: packed(undecided) },
      })
    })
  })
}

function searchOf(api: AuthzApi, request: ApiRequest, body: JsonFields, names: AskedAbout): Search {
  const limits = api.limits()
  request.question = names
  const given = objectField(body["page"], "page")
  const token = given?.["token"] ?? given?.["next_token"]
  const { subject, resource, action, context, options } = body
  const question = { names, subject, resource, action, context, options }
  const size = given?.["limit"] ?? undefined
  if (size !== undefined && (typeof size !== "number" || !Number.isInteger(size) || size < 1))
    throw new ApiError("validation_error", "page.limit: a whole number above 0 is expected")
  const fields = {
    page_size: size === undefined ? undefined : Math.min(size as number, limits.listPageSizeMax),
    continuation_token: token,
  }
  return {
    api,
    request,
    body,
    options: optionsOf(body, request, limits),
    page: pageWanted(fields, "AuthZEN", limits.listPageSizeMax, question),
    paged: given !== undefined,
    question,
  }
}

function propertiesOf(
  entities: {
    readonly [Name in keyof Properties]: { readonly properties: JsonFields | undefined }
  },
): Properties {
  return Object.fromEntries(Object.entries(entities).map(([name, entity]) => [name, entity?.properties]))
}

function circumstances({ body, options }: Search, model: LoadedModel, properties: Properties) {
  return {
    context: contextOf(model, properties, body["context"]),
    contextualTuples: options.contextualTuples,
  }
}

function inModel(
  { api, request, options, page }: Search,
  ask: (asked: RequestedModel, terms: ReturnType<typeof termsOfPage>) => ApiResponse | Promise<ApiResponse>,
): ApiResponse | Promise<ApiResponse> {
  return withModel(api, request.store, modelOfPage(page, options.modelId), (asked) =>
    ask(asked, termsOfPage(page, asked.storeId, options.freshness)),
  )
}

/** An empty result for a type or action that the model does not contain. */
function nothing(search: Search, { storeId, modelId }: RequestedModel): ApiResponse {
  const headers = revisionHeaders(storeId, modelId, 0).slice(0, 4)
  return {
    status: 200,
    body: { results: [], ...(search.paged ? { page: { next_token: "" } } : {}) },
    headers,
  }
}

/** `page` is present when the request has a page, or when there is another one. */
function results(
  { request, paged, question }: Search,
  { storeId, modelId }: RequestedModel,
  { revision, stamp, next, count, truncated }: ListEnd & { readonly count: number },
  found: PackedLists,
): ApiResponse {
  if (truncated !== undefined) request.outcome = "truncated"
  const token = next === undefined ? "" : cursorToken({ storeId, modelId, revision, stamp }, next, question)
  const page = paged || token !== "" ? { next_token: token, count } : undefined
  return {
    status: 200,
    ...listAnswer(found, { page }),
    headers: revisionHeaders(storeId, modelId, revision),
  }
}

/** A few items as a list of finished JSON. */
function packed(items: readonly unknown[]): readonly Uint8Array[] {
  return items.length === 0 ? [] : [Buffer.from(JSON.stringify(items).slice(1, -1))]
}

/** There are few names, so the page is cut from the whole list. */
function pageOf(
  names: readonly string[],
  { pageSize, after }: Pick<Paging, "pageSize" | "after">,
): { readonly names: readonly string[]; readonly next: string | undefined } {
  const rest = after === undefined ? names : names.filter((name) => name > after)
  const page = rest.slice(0, pageSize ?? rest.length)
  return { names: page, next: page.length < rest.length ? page.at(-1) : undefined }
}
