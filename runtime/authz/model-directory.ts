import { type LoadedModel, loadModel } from "../check/loaded-model.ts"
import { lowerModel } from "../model/lower.ts"
import type { ModelPlan } from "../plan/authorization-model.ts"
import type { Database } from "../store/database.ts"
import { findModel } from "../store/models.ts"
import { modelNotFound } from "./api-error.ts"

const modelsMax = 1_000

/** Models ready for questions. A stored model never changes, so nothing here gets old, unless the database loses what it had: then they are forgotten. */
export class ModelDirectory {
  readonly #database: Database
  readonly #planModel: (digest: string) => ModelPlan | undefined
  /** By store, then by id: a check must not have to put a key together. */
  readonly #models = new Map<string, Map<string, LoadedModel | Promise<LoadedModel>>>()
  #size = 0

  constructor(database: Database, planModel: (digest: string) => ModelPlan | undefined) {
    this.#database = database
    this.#planModel = planModel
  }

  /** Without a promise when it is known. @throws ApiError `authorization_model_not_found` · SourceUnavailable */
  find(storeId: string, modelId: string): LoadedModel | Promise<LoadedModel> {
    const known = this.#models.get(storeId)?.get(modelId)
    if (known !== undefined) return known
    const loading = this.#load(storeId, modelId)
    const models = this.#room(storeId)
    models.set(modelId, loading)
    this.#size += 1
    loading.then(
      (model) => {
        if (models.get(modelId) === loading) models.set(modelId, model)
      },
      () => {
        if (models.get(modelId) === loading && models.delete(modelId)) this.#size -= 1
      },
    )
    return loading
  }

  /** What comes next is read again. */
  forget(): void {
    // Those that are being loaded find no place any more.
    for (const models of this.#models.values()) models.clear()
    this.#models.clear()
    this.#size = 0
  }

  /** The store's models, with room for one more: where there is none, those of the store that came first give way. */
  #room(storeId: string): Map<string, LoadedModel | Promise<LoadedModel>> {
    if (this.#size >= modelsMax)
      for (const [first, models] of this.#models) {
        this.#models.delete(first)
        this.#size -= models.size
        models.clear()
        break
      }
    const models = this.#models.get(storeId) ?? new Map<string, LoadedModel | Promise<LoadedModel>>()
    this.#models.set(storeId, models)
    return models
  }

  async #load(storeId: string, modelId: string): Promise<LoadedModel> {
    const record = await findModel(this.#database, storeId, modelId)
    if (record === undefined) throw modelNotFound(modelId)
    const planned = record.digest === null ? undefined : this.#planModel(record.digest)
    return loadModel(planned ?? lowerModel(record.model))
  }
}
