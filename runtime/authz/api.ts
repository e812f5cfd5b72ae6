import type { LoadedModel } from "../check/loaded-model.ts"
import type { Database } from "../store/database.ts"
import { schemaState } from "../store/migrate.ts"
import type { StoreRecord } from "../store/stores.ts"
import { TupleWriter } from "../store/tuple-writer.ts"
import type { Tracer } from "../tracing/tracer.ts"
import type { Access } from "./access.ts"
import type { AnswerHeaders, LogFault } from "./answer.ts"
import { noModel } from "./api-error.ts"
import { ModelDirectory } from "./model-directory.ts"
import type { ApiObserver } from "./observed.ts"
import {
  type AuthzCors,
  type AuthzenSettings,
  type AuthzLimits,
  type AuthzParts,
  authzLimits,
  type CheckEngine,
  type ModelText,
  type Reports,
} from "./ports.ts"
import { StoreDirectory } from "./store-directory.ts"
import { Watches } from "./watch/watches.ts"

const stalenessDefaultMs = 10_000
const noAuthzen: AuthzenSettings = { store: undefined, url: undefined }
const noOrigins: AuthzCors = { origins: [], headers: [] }

/** The API of one process, independent of its listeners: what the resources share. Made once; its watches end with `watches.close`. */
export class AuthzApi {
  readonly database: Database
  readonly engine: CheckEngine
  readonly stores: StoreDirectory
  readonly models: ModelDirectory
  readonly writer: TupleWriter
  readonly watches: Watches
  readonly limits: () => AuthzLimits
  readonly cors: () => AuthzCors
  readonly authzen: () => AuthzenSettings
  readonly #startedWith: readonly string[]
  #hosts: readonly string[]
  #hostsOfUrl: string | undefined
  readonly access: () => Access | undefined
  readonly modelText: ModelText | undefined
  readonly logFault: LogFault
  readonly logRefusal: Reports["logRefusal"]
  readonly observer: ApiObserver | undefined
  readonly tracer: () => Tracer | undefined
  readonly healthy: () => Promise<boolean>

  constructor(parts: AuthzParts) {
    this.database = parts.database
    this.engine = parts.engine
    this.stores = new StoreDirectory(parts.database, parts.maxStalenessMs ?? (() => stalenessDefaultMs))
    this.models = new ModelDirectory(parts.database, parts.planModel ?? (() => undefined))
    this.writer = new TupleWriter(parts.database, (storeId, changes) =>
      parts.engine.applied(storeId, changes),
    )
    this.limits = parts.limits ?? (() => authzLimits)
    this.cors = parts.cors ?? (() => noOrigins)
    this.authzen = parts.authzen ?? (() => noAuthzen)
    this.#startedWith = parts.hosts ?? []
    this.#hosts = this.#startedWith
    this.access = parts.access ?? (() => undefined)
    this.modelText = parts.modelText
    this.logFault = parts.onFault ?? (() => undefined)
    this.logRefusal = parts.onRefusal ?? (() => undefined)
    this.observer = parts.observer
    this.tracer = parts.tracer ?? (() => undefined)
    this.watches = new Watches({
      database: parts.database,
      limits: this.limits,
      onFault: (error) => this.logFault(error, "watch"),
    })
    this.healthy = parts.healthy ?? (() => isUsable(parts.database))
  }

  /**
   * The host names from the start of the process, and that of the URL by which clients reach this API. The same array until they change.
   */
  get hosts(): readonly string[] {
    const { url } = this.authzen()
    if (url !== this.#hostsOfUrl) {
      this.#hostsOfUrl = url
      const own = url !== undefined && URL.canParse(url) ? [new URL(url).hostname] : []
      this.#hosts = [...this.#startedWith, ...own]
    }
    return this.#hosts
  }

  /** Call it when a plan was activated: from then on, stores and their models may differ. */
  planChanged(): void {
    this.stores.forgetAll()
  }

  /**
   * The id of the requested model: the named one, else the one in use.
   * @throws ApiError when there is none
   */
  modelId(store: StoreRecord, named: string): string {
    if (named !== "") return named
    if (store.modelId === null) throw noModel(store.id)
    return store.modelId
  }

  model(store: StoreRecord, modelId: string): LoadedModel | Promise<LoadedModel> {
    return this.models.find(store.id, modelId)
  }
}

/** Headers with the store and model that were used. */
export function modelHeaders(storeId: string, modelId: string): AnswerHeaders {
  return ["Openfga-Store-Id", storeId, "Openfga-Authorization-Model-Id", modelId]
}

async function isUsable(database: Database): Promise<boolean> {
  try {
    return (await schemaState(database)).state === "ok"
  } catch {
    return false
  }
}
