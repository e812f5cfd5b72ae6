import { type LoadedModel, loadModel } from "../check/loaded-model.ts"
import { type CheckAnswer, CheckError, type CheckRequest } from "../check/ports.ts"
import { type EngineCors, type EngineLimits, engineLimitDefaults, memoryBytesDefault } from "../plan/authz.ts"
import { canonicalJson } from "../plan/canonical.ts"
import type { ModelPlan } from "../plan/model.ts"
import type { Plan } from "../plan/plan.ts"
import type { Authorizer } from "../policies/policy.ts"
import type { DeclaredStore } from "../store/declared-stores.ts"

/** The part of the engine that answers `require`. */
export interface Checks {
  check(storeId: string, model: LoadedModel, request: CheckRequest): CheckAnswer | Promise<CheckAnswer>
}

const noOrigins: EngineCors = { origins: [], headers: [] }

/** The stores of one plan by name. Two plans with the same stores and models share one, so that steps are carried over. */
class StoresOfPlan implements Authorizer {
  readonly #checks: Checks
  readonly #entries = new Map<string, { readonly storeId: string; readonly model: LoadedModel }>()

  constructor(checks: Checks) {
    this.#checks = checks
  }

  add(name: string, storeId: string, model: LoadedModel): void {
    this.#entries.set(name, { storeId, model })
  }

  check(store: string, request: CheckRequest): CheckAnswer | Promise<CheckAnswer> {
    const entry = this.#entries.get(store)
    if (entry === undefined) throw new CheckError("unavailable", `the store \`${store}\` is not in service`)
    return this.#checks.check(entry.storeId, entry.model, request)
  }
}

interface Loaded {
  readonly plan: Plan | undefined
  /** What decides whether two plans mean the same stores. */
  readonly key: string
  readonly models: ReadonlyMap<string, LoadedModel>
  readonly authorizer: StoresOfPlan
}

/**
 * What gateway and engine listener need to know of a plan: its stores by name, its models by digest. A request that began under one plan asks by that
 * plan's models to its end, whatever is activated meanwhile.
 */
export class PlanStores {
  readonly #checks: Checks
  #current: Loaded
  #next: Loaded | undefined

  constructor(checks: Checks) {
    this.#checks = checks
    this.#current = { plan: undefined, key: "", models: new Map(), authorizer: new StoresOfPlan(checks) }
  }

  /** Null: no bound. */
  get maxStalenessMs(): number | null {
    return this.#current.plan?.plan.authz?.maxStalenessMs ?? null
  }

  get memoryBytes(): number {
    return this.#current.plan?.plan.authz?.memoryBytes ?? memoryBytesDefault
  }

  get limits(): EngineLimits {
    return this.#current.plan?.plan.authz?.limits ?? engineLimitDefaults
  }

  get cors(): EngineCors {
    return this.#current.plan?.plan.authz?.cors ?? noOrigins
  }

  /** The store that AuthZEN's paths without a store mean: the one the plan says, else the only one. */
  get authzenStore(): string | undefined {
    const authz = this.#current.plan?.plan.authz
    const names = Object.keys(authz?.stores ?? {})
    return authz?.authzen.store ?? (names.length === 1 ? names[0] : undefined)
  }

  modelPlan(digest: string): ModelPlan | undefined {
    return this.#current.plan?.plan.models[digest]
  }

  /** Who answers `require` for the steps of this plan: the one loaded last, or the running one. */
  authorizerOf(plan: Plan): Authorizer {
    return this.#next?.plan === plan ? this.#next.authorizer : this.#current.authorizer
  }

  /** Asks a store of the running plan by its name. @throws CheckError, or rejects with it. */
  check(store: string, request: CheckRequest): CheckAnswer | Promise<CheckAnswer> {
    return this.#current.authorizer.check(store, request)
  }

  /** Loads the models of a plan that is being prepared; those the running plan has as well are taken over. */
  load(plan: Plan): void {
    const { models: running, key: runningKey, authorizer } = this.#current
    const key = canonicalJson(plan.plan.authz?.stores ?? {})
    const models = new Map(
      Object.entries(plan.plan.models).map(([digest, model]) => [
        digest,
        running.get(digest) ?? loadModel(model),
      ]),
    )
    this.#next = {
      plan,
      key,
      models,
      authorizer: key === runningKey ? authorizer : new StoresOfPlan(this.#checks),
    }
  }

  /** Makes the plan that was loaded last the running one. */
  activate(stores: ReadonlyMap<string, DeclaredStore>): void {
    if (this.#next === undefined) throw new Error("no plan was loaded")
    const { models, authorizer } = this.#next
    for (const [name, { storeId, modelDigest }] of stores) {
      const model = models.get(modelDigest)
      if (model !== undefined) authorizer.add(name, storeId, model)
    }
    this.#current = this.#next
    this.#next = undefined
  }
}
