import { decodeToken, encodeToken } from "../store/continuation.ts"
import {
  type ChangeFilter,
  type ChangePosition,
  feedStart,
  type LoggedChange,
  positionBefore,
  prunedFeed,
  readChanges,
} from "../store/read-changes.ts"
import type { ApiResponse } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import { ApiError } from "./api-error.ts"
import { consistencyTokenOf, requireCommit } from "./consistency.ts"
import { continuationField, invalid, invalidToken, pageSizeField } from "./fields.ts"
import type { ApiRequest } from "./route.ts"
import { changeBody } from "./tuple-keys.ts"

const message = "ReadChangesRequest"
const tokenKind = "changes-1"
/** Share of the request's time that a search of the feed for one type may take. */
const searchShare = 0.5

/**
 * `GET /stores/{store}/changes?type&page_size&continuation_token&start_time&consistency_token`: writes and deletions in order of commit.
 * After the first change the token is never empty, and it stays the same while there is nothing new. `start_time` applies only without a
 * token. When changes of a type are rare, a page may be short or empty although there are more; its token then differs from the previous
 * one.
 */
export async function getChanges(
  api: AuthzApi,
  { store: name, query, headers }: ApiRequest,
): Promise<ApiResponse> {
  const { changesHorizonMs, changesPageSizeMax, requestMs } = api.limits()
  const type = typeParameter(query.get("type"))
  const pageSize = pageSizeParameter(query.get("page_size"), changesPageSizeMax)
  const token = continuationField(query.get("continuation_token"), message)
  const startTime = startTimeParameter(query.get("start_time"))
  const atLeast = consistencyTokenOf(headers, { consistency_token: query.get("consistency_token") })
  const store = await api.stores.find(name)
  await requireCommit(api.database, store.id, atLeast)
  const from = token === "" ? undefined : positionOf(token, store.id, type)
  const since = from === undefined ? startTime : undefined
  let position =
    from ?? (since === undefined ? feedStart : await positionBefore(api.database, store.id, since))
  await refusePruned(api, store.id, type, since ?? position)
  const filter: ChangeFilter = { type, since, horizonMs: changesHorizonMs }
  const changes: LoggedChange[] = []
  const endMs = performance.now() + requestMs * searchShare
  for (;;) {
    const wanted = { after: position, pageSize: pageSize - changes.length }
    const page = await readChanges(api.database, store.id, filter, wanted)
    changes.push(...page.changes)
    position = page.position
    if (!page.more || changes.length === pageSize || performance.now() >= endMs) break
  }
  const moved = changes.length > 0 || (from !== undefined && position.revision > from.revision)
  return {
    status: 200,
    body: {
      changes: changes.map(changeBody),
      continuation_token: moved ? tokenOf(store.id, type, position) : token,
    },
    headers: ["Openfga-Store-Id", store.id],
  }
}

/**
 * A reader that would miss pruned changes gets 410 with the way to go on: the tuples as they are now, and then the changes after them.
 */
async function refusePruned(
  api: AuthzApi,
  storeId: string,
  type: string | undefined,
  from: Date | ChangePosition,
): Promise<void> {
  const { newest, revision, before } = await prunedFeed(api.database, storeId)
  if (before === null || ("revision" in from ? from.revision > revision : from >= before)) return
  const token = tokenOf(storeId, type, { revision: newest, ordinal: 2 ** 31 - 1 })
  throw new ApiError(
    "changes_pruned",
    `the changes of this store from before ${before.toISOString()} were pruned; read its tuples as they are now (POST /stores/${storeId}/read), then continue with continuation_token=${token}`,
  )
}

function tokenOf(storeId: string, type: string | undefined, { revision, ordinal }: ChangePosition): string {
  return encodeToken(tokenKind, [storeId, type ?? "", String(revision), String(ordinal)])
}

function positionOf(token: string, storeId: string, type: string | undefined): ChangePosition {
  const [ofStore, ofType, revision = "", ordinal = ""] = decodeToken(tokenKind, token, 4) ?? []
  if (ofStore !== storeId || !isWhole(revision) || !isWhole(ordinal)) throw invalidToken()
  if (ofType !== (type ?? ""))
    throw new ApiError(
      "query_string_type_continuation_token_mismatch",
      "The type in the querystring and the continuation token don't match",
    )
  return { revision: Number(revision), ordinal: Math.min(Number(ordinal), 2 ** 31 - 1) }
}

/** Only numbers in the form of our tokens, so that no other text reaches the database. */
function isWhole(text: string): boolean {
  return /^\d{1,15}$/.test(text)
}

/** Here the lower bound is a rule of its own. */
function pageSizeParameter(text: string | null, max: number): number {
  if (text !== null && /^-\d{1,9}$|^0{1,9}$/.test(text))
    throw invalid(message, "PageSize", "value must be greater than or equal to 1")
  return pageSizeField(text, message, max)
}

/** `type` of the query: the type of the changed tuples' objects; undefined: any. */
export function typeParameter(text: string | null): string | undefined {
  if (text === null || text === "") return undefined
  if (/^[^:#\s\p{Surrogate}]{1,254}$/u.test(text) && !text.includes("\0")) return text
  throw invalid(
    message,
    "Type",
    'value does not match regex pattern "^[^:#\\\\s]{1,254}$"',
    "type_invalid_pattern",
  )
}

const timeForm = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

/** RFC 3339, not before 1970 and not in the future. */
function startTimeParameter(text: string | null): Date | undefined {
  if (text === null) return undefined
  // An unencoded `+` arrives as a space.
  const time = new Date(text.replace(" ", "+").toUpperCase())
  const day = new Date(text.slice(0, 10))
  // `Date` turns a day that the month does not have into one of the next month.
  const isDay = day.getUTCDate() === Number(text.slice(8, 10))
  if (!timeForm.test(text.replace(" ", "+")) || Number.isNaN(time.getTime()) || !isDay)
    throw new ApiError("invalid_start_time", `Invalid start time: '${text.slice(0, 64)}' is not of RFC 3339`)
  if (time.getTime() < 0) throw new ApiError("invalid_start_time", "Invalid start time")
  if (time.getTime() >= Date.now()) throw invalid(message, "StartTime", "value must be less than now")
  return time
}
