import type { LoadedModel } from "../check/loaded-model.ts"
import type { Commit } from "../check/ports.ts"
import type { Freshness } from "../check/questions.ts"
import type { EngineWork, Progress, View } from "../check/work.ts"
import type { StoreRecord } from "../store/stores.ts"
import type { AnswerHeaders, ApiResponse } from "./answer.ts"
import { type AuthzApi, modelHeaders } from "./api.ts"
import { ApiError } from "./api-error.ts"
import type { ApiRequest } from "./route.ts"

/** The store and model of a question. */
export interface RequestedModel {
  readonly storeId: string
  readonly modelId: string
  readonly model: LoadedModel
}

/** The client that waits for the answer. */
type Client = Pick<ApiRequest, "isGone">

/**
 * Finds the store and the model of a question (`named`, or the model in use when that is empty) and calls `ask`. Synchronous when both are
 * cached, because this runs before every check.
 * @throws ApiError for an unknown store or model · SourceUnavailable
 */
export function withModel(
  api: AuthzApi,
  storeName: string,
  named: string,
  ask: (asked: RequestedModel) => ApiResponse | Promise<ApiResponse>,
): ApiResponse | Promise<ApiResponse> {
  const store = api.stores.find(storeName)
  if (store instanceof Promise) return store.then((found) => inStore(api, found, named, ask))
  return inStore(api, store, named, ask)
}

function inStore(
  api: AuthzApi,
  store: StoreRecord,
  named: string,
  ask: (asked: RequestedModel) => ApiResponse | Promise<ApiResponse>,
): ApiResponse | Promise<ApiResponse> {
  const modelId = api.modelId(store, named)
  const model = api.model(store, modelId)
  if (model instanceof Promise)
    return model.then((loaded) => ask({ storeId: store.id, modelId, model: loaded }))
  return ask({ storeId: store.id, modelId, model })
}

/** Headers with the store, the model and the revision of the answer. */
export function revisionHeaders(storeId: string, modelId: string, revision: number): AnswerHeaders {
  return [...modelHeaders(storeId, modelId), "Sallyport-Revision", String(revision)]
}

/** Asks the engine; its work ends when the client has closed the connection. Synchronous when the engine has the answer at once. */
export function askEngine<Found>(
  api: AuthzApi,
  request: ApiRequest,
  storeId: string,
  { work, freshness }: { readonly work: EngineWork<Found>; readonly freshness: Freshness },
  answer: (found: Found) => ApiResponse,
): ApiResponse | Promise<ApiResponse> {
  const found = api.engine.ask(storeId, whileWanted(work, request), freshness, request.work)
  return found instanceof Promise ? found.then(answer) : answer(found)
}

/** The same work, but it ends when the client has closed the connection. */
function whileWanted<Found>(work: EngineWork<Found>, request: Client): EngineWork<Found> {
  return new WantedWork(work, request)
}

class WantedWork<Found> implements EngineWork<Found> {
  readonly stepsMax: number | undefined
  readonly deadlineMs: number | undefined
  readonly #work: EngineWork<Found>
  readonly #client: Client

  constructor(work: EngineWork<Found>, client: Client) {
    this.stepsMax = work.stepsMax
    this.deadlineMs = work.deadlineMs
    this.#work = work
    this.#client = client
  }

  get steps(): number {
    return this.#work.steps
  }

  begin(view: View): void {
    this.#work.begin(view)
  }

  run(isLate: () => boolean): Progress {
    if (this.#client.isGone()) throw new ApiError("cancelled", "Request Cancelled")
    return this.#work.run(isLate)
  }

  answer(at: Commit): Found {
    return this.#work.answer(at)
  }

  cut(at: Commit): Found | undefined {
    return this.#work.cut?.(at)
  }

  release(): void {
    this.#work.release()
  }
}
