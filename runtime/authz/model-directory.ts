import { type LoadedModel, loadModel } from "../check/loaded-model.ts"
import { lowerModel } from "../model/lower.ts"
import type { ModelPlan } from "../plan/model.ts"
import type { Database } from "../store/database.ts"
import { findModel } from "../store/models.ts"
import { modelNotFound } from "./api-error.ts"

const modelsMax = 1_000

/** Models ready for questions. A stored model never changes, so nothing here gets old. */
export class ModelDirectory {
  readonly #database: Database
  readonly #planModel: (digest: string) => ModelPlan | undefined
  readonly #models = new Map<string, LoadedModel | Promise<LoadedModel>>()

  constructor(database: Database, planModel: (digest: string) => ModelPlan | undefined) {
    this.#database = database
    this.#planModel = planModel
  }

  /** Without a promise when it is known. @throws ApiError `authorization_model_not_found` · SourceUnavailable */
  find(storeId: string, modelId: string): LoadedModel | Promise<LoadedModel> {
    const key = storeId + modelId
    const known = this.#models.get(key)
    if (known !== undefined) return known
    const loading = this.#load(storeId, modelId)
    const oldest = this.#models.keys().next()
    if (this.#models.size >= modelsMax && !oldest.done) this.#models.delete(oldest.value)
    this.#models.set(key, loading)
    loading.then(
      (model) => {
        if (this.#models.get(key) === loading) this.#models.set(key, model)
      },
      () => this.#models.delete(key),
    )
    return loading
  }

  async #load(storeId: string, modelId: string): Promise<LoadedModel> {
    const record = await findModel(this.#database, storeId, modelId)
    if (record === undefined) throw modelNotFound(modelId)
    const planned = record.digest === null ? undefined : this.#planModel(record.digest)
    return loadModel(planned ?? lowerModel(record.model))
  }
}
