import { type LoadedModel, loadModel } from "../check/loaded-model.ts"
import { lowerModel } from "../model/lower.ts"
import type { ModelPlan } from "../plan/authorization-model.ts"
import type { Database } from "../store/database.ts"
import { findModel } from "../store/models.ts"
import { modelNotFound } from "./api-error.ts"

const modelsMax = 1_000

/** Caches loaded models. A stored model never changes, so entries do not expire; they are dropped when the database loses commits. */
export class ModelDirectory {
  readonly #database: Database
  readonly #planModel: (digest: string) => ModelPlan | undefined
  /** By store, then by id, so that a check need not build a combined key. */
  readonly #models = new Map<string, Map<string, LoadedModel | Promise<LoadedModel>>>()
  #size = 0

  constructor(database: Database, planModel: (digest: string) => ModelPlan | undefined) {
    this.#database = database
    this.#planModel = planModel
  }

  /**
   * Synchronous when the model is cached.
   * @throws ApiError `authorization_model_not_found` · SourceUnavailable
   */
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

  /** Drops all models; they are read again when needed. */
  forget(): void {
    // Models that are still loading must not enter the cache afterwards.
    for (const models of this.#models.values()) models.clear()
    this.#models.clear()
    this.#size = 0
  }

  /** The cached models of a store, with room for one more. When the cache is full, the models of the oldest store are dropped. */
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
