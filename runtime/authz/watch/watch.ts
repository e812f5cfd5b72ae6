import { admit } from "../admission.ts"
import type { AnswerHeaders, ApiResponse } from "../answer.ts"
import type { AuthzApi } from "../api.ts"
import { typeParameter } from "../changes.ts"
import { invalid } from "../fields.ts"
import type { ApiRequest } from "../route.ts"
import { EventStream } from "./event-stream.ts"
import { placeOf, watchToken } from "./feed-commit.ts"
import { pollChanges } from "./long-poll.ts"

const message = "WatchRequest"
const waitMsDefault = 30_000
const waitMsMax = 60_000
/** Changes of one response, rounded up to whole commits. */
const changesMax = 1_000

/**
 * `GET /stores/{store}/watch?after&type&wait`: the changes of a store as they are committed, each exactly once and in order. `after` is
 * `now` (the default) or a token of an earlier response; the header `Last-Event-ID` has precedence. With `Accept: text/event-stream` it
 * streams Server-Sent Events, one for each commit. Else it waits up to `wait` for changes, and answers `{changes, continuation_token}`.
 */
export async function getWatch(api: AuthzApi, request: ApiRequest): Promise<ApiResponse> {
  const { headers, query } = request
  const type = typeParameter(query.get("type")) ?? ""
  const waitMs = waitParameter(query.get("wait"))
  const token = headers["last-event-id"]?.toString() || query.get("after") || "now"
  const store = await api.stores.find(request.store)
  const asked = token === "now" ? undefined : placeOf(store.id, token)
  const watch = api.watches.join(store.id, request.listener)
  const { feed } = watch
  try {
    // A feed that nobody has watched for a time does not know what is newest.
    if (!feed.isRead || feed.users === 1) await feed.refresh()
    const place = asked ?? feed.head
    const first = await feed.older(place)
    const own: AnswerHeaders = ["Openfga-Store-Id", store.id, "Cache-Control", "no-store"]
    if (headers.accept?.includes("text/event-stream")) {
      const parts = {
        ...{ watch, place, type, onFault: (error: unknown) => api.logFault(error, "watch") },
        admit: () => admit(api, "read", request.store, headers.authorization),
      }
      const events = (response: ConstructorParameters<typeof EventStream>[1]) =>
        void new EventStream(parts, response, first)
      return { status: 200, events, headers: own }
    }
    const terms = { place, type, waitMs, changesMax }
    const found = await pollChanges(watch, terms, first, (callback) => request.whenGone(callback))
    watch.release()
    const next = JSON.stringify(watchToken(store.id, found.place))
    const body = `{"changes":[${found.changes.join(",")}],"continuation_token":${next}}`
    return { status: 200, body, headers: own }
  } catch (error) {
    watch.release()
    throw error
  }
}

/** `30s`, `500ms`, from 0 to 60 seconds. */
function waitParameter(text: string | null): number {
  if (text === null) return waitMsDefault
  const [, number = "", unit] = /^(\d{1,5})(ms|s)$/.exec(text) ?? []
  const ms = Number(number) * (unit === "s" ? 1_000 : 1)
  if (unit === undefined || ms > waitMsMax)
    throw invalid(message, "Wait", "value must be 0s to 60s, like 30s")
  return ms
}
