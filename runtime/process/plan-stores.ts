import { type LoadedModel, loadModel } from "../check/loaded-model.ts"
import { type CheckAnswer, CheckError, type CheckRequest } from "../check/ports.ts"
import type { ModelPlan } from "../plan/model.ts"
import type { Plan } from "../plan/plan.ts"
import type { Authorizer } from "../policies/policy.ts"
import type { DeclaredStore } from "../store/declared-stores.ts"

/** The part of the engine that answers `require`. */
export interface Checks {
  check(storeId: string, model: LoadedModel, request: CheckRequest): CheckAnswer | Promise<CheckAnswer>
}

interface Entry {
  readonly storeId: string
  readonly model: LoadedModel
}

/** What gateway and engine listener need to know of the running plan: its stores by name, and its models by digest. Swapped as one when a plan is activated. */
export class PlanStores implements Authorizer {
  readonly #checks: Checks
  #models: ReadonlyMap<string, LoadedModel> = new Map()
  #plan: Plan | undefined
  #entries: ReadonlyMap<string, Entry> = new Map()

  constructor(checks: Checks) {
    this.#checks = checks
  }

  /** Null: no bound. */
  get maxStalenessMs(): number | null {
    return this.#plan?.plan.authz?.maxStalenessMs ?? null
  }

  modelPlan(digest: string): ModelPlan | undefined {
    return this.#plan?.plan.models[digest]
  }

  check(store: string, request: CheckRequest): CheckAnswer | Promise<CheckAnswer> {
    const entry = this.#entries.get(store)
    if (entry === undefined) throw new CheckError("unavailable", `the store \`${store}\` is not in service`)
    return this.#checks.check(entry.storeId, entry.model, request)
  }

  /** Loads the models of a plan; those the running plan has as well are taken over. Throws nothing for a plan that was read. */
  load(plan: Plan): ReadonlyMap<string, LoadedModel> {
    return new Map(
      Object.entries(plan.plan.models).map(([digest, model]) => [
        digest,
        this.#models.get(digest) ?? loadModel(model),
      ]),
    )
  }

  activate(
    plan: Plan,
    models: ReadonlyMap<string, LoadedModel>,
    stores: ReadonlyMap<string, DeclaredStore>,
  ): void {
    const entries = new Map<string, Entry>()
    for (const [name, { storeId, modelDigest }] of stores) {
      const model = models.get(modelDigest)
      if (model !== undefined) entries.set(name, { storeId, model })
    }
    this.#plan = plan
    this.#models = models
    this.#entries = entries
  }
}
