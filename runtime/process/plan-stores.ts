import { observeBatch, type RequestOrigin } from "../authz/observed.ts"
import { batchCheck } from "../check/batch-check.ts"
import type { QuestionWork } from "../check/counts.ts"
import { type LoadedModel, loadModel } from "../check/loaded-model.ts"
import { type CheckAnswer, CheckError, type CheckRequest, type TupleKey } from "../check/ports.ts"
import type { BatchCheckAnswer, Freshness } from "../check/questions.ts"
import { validateTuple } from "../check/tuple.ts"
import type { EngineWork } from "../check/work.ts"
import type { EngineDoor } from "../control/ports.ts"
import type { RequestSender } from "../http/client/http-client.ts"
import type { ModelPlan } from "../plan/authorization-model.ts"
import { type EngineCors, type EngineLimits, engineLimitDefaults, memoryBytesDefault } from "../plan/authz.ts"
import { canonicalJson } from "../plan/canonical.ts"
import type { Plan } from "../plan/plan.ts"
import type { AskedFor, Authorizer } from "../policies/policy.ts"
import type { Database } from "../store/database.ts"
import { type DeclaredStore, declaredStores } from "../store/declared-stores.ts"
import { rowOfTuple } from "../store/read-tuples.ts"
import { createTupleSource } from "../store/tuple-source.ts"
import type { WriteConflict, WriteRequest, WriteResult } from "../store/write-tuples.ts"
import type { EngineObserver } from "./engine-observer.ts"

/** The part of the engine that answers `require`. */
export interface Checks {
  check(
    storeId: string,
    model: LoadedModel,
    request: CheckRequest,
    counted?: QuestionWork,
  ): CheckAnswer | Promise<CheckAnswer>
  ask<Answer>(
    storeId: string,
    work: EngineWork<Answer>,
    freshness?: Freshness,
    counted?: QuestionWork,
  ): Answer | Promise<Answer>
  readonly bounds: Parameters<typeof batchCheck>[2]
  catchUp(storeId: string): Promise<void>
}

/** Writes tuples of a store; undefined: there is no such store. */
export interface Writes {
  write(storeId: string, request: WriteRequest): Promise<WriteResult | WriteConflict | undefined>
}

/** Whose trace gets what the engine reads. */
type Asker = Pick<AskedFor, "id" | "trace">

const noOrigins: EngineCors = { origins: [], headers: [] }

/** The stores of one plan by name. Two plans with the same stores and models share one object, so that steps are carried over. */
class StoresOfPlan implements Authorizer {
  readonly #checks: Checks
  readonly #writes: Writes
  readonly #observer: EngineObserver
  readonly #entries = new Map<string, { readonly storeId: string; readonly model: LoadedModel }>()

  constructor({ checks, writes, observer }: PlanStoresParts) {
    this.#checks = checks
    this.#writes = writes
    this.#observer = observer
  }

  add(name: string, storeId: string, model: LoadedModel): void {
    this.#entries.set(name, { storeId, model })
  }

  /** The store that questions by this name use, with its model; undefined: none. */
  find(name: string): { readonly storeId: string; readonly model: LoadedModel } | undefined {
    return this.#entries.get(name)
  }

  check(store: string, request: CheckRequest, asker?: Asker): CheckAnswer | Promise<CheckAnswer> {
    const { storeId, model } = this.#entry(store)
    // Explanations are asked for by logs and operators, and decide nothing.
    if (request.explain === true) return this.#checks.check(storeId, model, request)
    return this.#observer.asked(
      { method: "Require", store, question: request, trace: asker?.trace, origin: originOf(asker) },
      (work) => this.#checks.check(storeId, model, request, work),
      ({ allowed }) => (allowed ? "allowed" : "denied"),
    )
  }

  batch(
    store: string,
    requests: readonly CheckRequest[],
    asker?: Asker,
  ): BatchCheckAnswer | Promise<BatchCheckAnswer> {
    const { storeId, model } = this.#entry(store)
    const observer = this.#observer
    const origin = originOf(asker)
    return observer.asked(
      { method: "RequireBatch", store, question: undefined, trace: asker?.trace, origin },
      (work) => this.#checks.ask(storeId, batchCheck(model, requests, this.#checks.bounds), undefined, work),
      ({ results }) => {
        observeBatch({ observer }, { store, origin }, requests, results)
        return "ok"
      },
    )
  }

  /** Writes or deletes a tuple for `grant` and `revoke`. A tuple that exists already is a success: a request may be repeated. */
  async change(store: string, action: "write" | "delete", tuple: TupleKey): Promise<void> {
    const { storeId, model } = this.#entry(store)
    const wrong = action === "write" ? validateTuple(model, tuple) : undefined
    if (wrong !== undefined) throw wrong
    const rows = [rowOfTuple(tuple)]
    const outcome = await this.#writes.write(storeId, {
      writes: action === "write" ? rows : [],
      deletes: action === "delete" ? rows : [],
      onDuplicate: "ignore",
      onMissing: "ignore",
    })
    if (outcome === undefined) throw new CheckError("unavailable", `the store \`${store}\` no longer exists`)
    if ("conflict" in outcome)
      throw new CheckError("unavailable", "the tuple already exists with another condition")
  }

  #entry(store: string): { readonly storeId: string; readonly model: LoadedModel } {
    const entry = this.#entries.get(store)
    if (entry === undefined) throw new CheckError("unavailable", `the store \`${store}\` is not in service`)
    return entry
  }
}

function originOf(asker: Asker | undefined): RequestOrigin | undefined {
  return asker === undefined ? undefined : { requestId: asker.id }
}

/** What `PlanStores` needs: the engine, the writer of tuples, and who counts the questions. */
export interface PlanStoresParts {
  readonly checks: Checks
  readonly writes: Writes
  readonly observer: EngineObserver
}

interface Loaded {
  readonly plan: Plan | undefined
  /** Equal for two plans with the same stores and models. */
  readonly key: string
  readonly models: ReadonlyMap<string, LoadedModel>
  readonly authorizer: StoresOfPlan
}

/**
 * What gateway and engine listener need from a plan: its stores by name, its models by digest. A request uses the models of the plan under
 * which it began, even when another plan is activated meanwhile.
 */
export class PlanStores {
  readonly #parts: PlanStoresParts
  #current: Loaded
  #next: Loaded | undefined

  constructor(parts: PlanStoresParts) {
    this.#parts = parts
    const authorizer = new StoresOfPlan(parts)
    this.#current = { plan: undefined, key: "", models: new Map(), authorizer }
  }

  /** Null: no bound. */
  get maxStalenessMs(): number | null {
    return this.#current.plan?.plan.authz?.maxStalenessMs ?? null
  }

  get memoryBytes(): number {
    return this.#current.plan?.plan.authz?.memoryBytes ?? memoryBytesDefault
  }

  get readyWhenWarm(): boolean {
    return this.#current.plan?.plan.authz?.readyWhenWarm ?? false
  }

  get limits(): EngineLimits {
    return this.#current.plan?.plan.authz?.limits ?? engineLimitDefaults
  }

  get cors(): EngineCors {
    return this.#current.plan?.plan.authz?.cors ?? noOrigins
  }

  /** The store of AuthZEN paths without a store: the one that the plan declares, else the only one. */
  get authzenStore(): string | undefined {
    const authz = this.#current.plan?.plan.authz
    const names = Object.keys(authz?.stores ?? {})
    return authz?.authzen.store ?? (names.length === 1 ? names[0] : undefined)
  }

  modelPlan(digest: string): ModelPlan | undefined {
    return this.#current.plan?.plan.models[digest]
  }

  /** Answers `require` for the steps of this plan, which is the last loaded or the running one. */
  authorizerOf(plan: Plan): Authorizer {
    return this.#next?.plan === plan ? this.#next.authorizer : this.#current.authorizer
  }

  /**
   * Checks in a store of the running plan, by name.
   * @throws CheckError, or rejects with it
   */
  check(store: string, request: CheckRequest): CheckAnswer | Promise<CheckAnswer> {
    return this.#current.authorizer.check(store, request)
  }

  /** Loads the models of a plan that is being prepared. Models of the running plan are reused. */
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
      authorizer: key === runningKey ? authorizer : new StoresOfPlan(this.#parts),
    }
  }

  /**
   * Before `activate`: reads the newest tuples of each store whose model changes. A model that leaves out a moved relation is right only with the
   * tuples that were copied before it was applied, and this process hears of the last of them a moment later. Does not reject: without the
   * database, questions are as stale as before.
   */
  async catchUp(stores: ReadonlyMap<string, DeclaredStore>): Promise<void> {
    const { authorizer } = this.#current
    const changed = [...stores].filter(([name, { storeId, modelDigest }]) => {
      const running = authorizer.find(name)
      return running?.storeId === storeId && running.model !== this.#next?.models.get(modelDigest)
    })
    await Promise.allSettled(changed.map(([, { storeId }]) => this.#parts.checks.catchUp(storeId)))
  }

  /** Makes the last loaded plan the running one. */
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

/**
 * Writes the first tuples of a declared store, through the engine's own API so that they are checked. Skips a store that was ever written
 * to.
 * @throws Error with the API's message when a tuple does not fit the model
 */
export async function seedStore(
  database: Database,
  engine: EngineDoor | undefined,
  store: string,
  tuples: readonly TupleKey[],
  http: RequestSender,
): Promise<number> {
  const declared = (await declaredStores(database)).get(store)
  if (declared === undefined || engine === undefined || tuples.length === 0) return 0
  if ((await createTupleSource(database).newest(declared.storeId)).revision > 0) return 0
  const { status, body } = await http.send({
    url: `${engine.url}/stores/${store}/write`,
    method: "POST",
    headers: ["content-type", "application/json", "authorization", engine.authorization],
    body: Buffer.from(JSON.stringify({ writes: { tuple_keys: tuples } })),
    timeoutMs: 10_000,
    // See `EngineDoor.url`.
    trust: { ca: undefined, insecure: true },
  })
  if (status !== 200) {
    const { message } = JSON.parse(body.toString("utf8")) as { message?: string }
    throw new Error(`the tuples of store \`${store}\` cannot be written: ${message ?? `status ${status}`}`)
  }
  return tuples.length
}
