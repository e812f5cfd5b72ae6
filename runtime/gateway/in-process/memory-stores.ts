import { batchCheck } from "../../check/batch-check.ts"
import { Engine } from "../../check/engine.ts"
import { type LoadedModel, loadModel } from "../../check/loaded-model.ts"
import { MemorySource } from "../../check/memory-source.ts"
import { CheckError, type Explanation, type TupleKey } from "../../check/ports.ts"
import { validateTuple } from "../../check/tuple.ts"
import { engineLimitDefaults } from "../../plan/authz.ts"
import type { Plan } from "../../plan/plan.ts"
import type { AccessAnswer, AccessAnswers, AccessRequest, Authorizer } from "../../policies/policy.ts"
import type { VirtualClock } from "./virtual-clock.ts"

/** A question to the engine, its answer, and how to get the reasons. */
export interface StoreDecision {
  readonly store: string
  readonly user: string
  readonly relation: string
  readonly object: string
  /** Undefined: the question has no answer. */
  readonly allowed: boolean | undefined
  /** Why, by the tuples of this moment. */
  explain(): Promise<Explanation | undefined>
  /** The same question by another model, and the tuples of this moment; undefined: no answer. */
  allowedBy(model: LoadedModel): Promise<boolean | undefined>
}

interface StoreInMemory {
  readonly model: LoadedModel
  source: MemorySource
  engine: Engine
  /** The tuples it began with; undefined after a change. */
  tuples: readonly TupleKey[] | undefined
}

const none: readonly TupleKey[] = []

/** The stores of a plan with tuples in memory, answered by the engine. */
export class MemoryStores implements Authorizer {
  readonly #clock: VirtualClock
  readonly #stores = new Map<string, StoreInMemory>()
  readonly #models: ReadonlyMap<string, LoadedModel>
  readonly #bounds: { readonly depthMax: number; readonly deadlineMs: number }
  #decided: (decision: StoreDecision) => void = () => undefined

  constructor({ plan }: Plan, clock: VirtualClock) {
    this.#clock = clock
    const { depthMax, requestMs } = plan.authz?.limits ?? engineLimitDefaults
    this.#bounds = { depthMax: depthMax ?? Number.POSITIVE_INFINITY, deadlineMs: requestMs }
    const models = new Map<string, LoadedModel>()
    for (const [name, { model }] of Object.entries(plan.authz?.stores ?? {})) {
      const found = plan.models[model]
      if (found !== undefined) models.set(name, loadModel(found))
    }
    this.#models = models
  }

  /** `models`: replace those of the plan, by store. */
  restart(
    tuples: Readonly<Record<string, readonly TupleKey[]>>,
    decided: (decision: StoreDecision) => void,
    models: ReadonlyMap<string, LoadedModel> = this.#models,
  ): void {
    this.#decided = decided
    for (const [name, own] of this.#models) {
      const model = models.get(name) ?? own
      const wanted = tuples[name] ?? none
      const present = this.#stores.get(name)
      // Most tests of a file share the list, and loading it again would be most of their time.
      if (present !== undefined && present.tuples === wanted) {
        if (present.model !== model) this.#stores.set(name, { ...present, model })
        continue
      }
      present?.engine.close()
      const source = new MemorySource()
      if (wanted.length > 0) source.write(...wanted)
      this.#stores.set(name, { model, source, engine: this.#engineOf(source), tuples: wanted })
    }
  }

  check(name: string, request: AccessRequest): AccessAnswer | Promise<AccessAnswer> {
    try {
      const { engine, model } = this.#store(name)
      const answer = engine.check(name, model, request)
      const noted = (found: AccessAnswer): AccessAnswer => {
        this.#note(name, request, found.allowed)
        return found
      }
      if (!(answer instanceof Promise)) return noted(answer)
      return this.#clock.during(answer).then(noted, (error: unknown) => this.#failed(name, request, error))
    } catch (error) {
      return this.#failed(name, request, error)
    }
  }

  async batch(name: string, requests: readonly AccessRequest[]): Promise<AccessAnswers> {
    const { engine, model } = this.#store(name)
    const answers = await this.#clock.during(
      Promise.resolve(engine.ask(name, batchCheck(model, requests, engine.bounds))),
    )
    answers.results.forEach((result, at) => {
      const request = requests[at]
      if (request !== undefined)
        this.#note(name, request, result instanceof CheckError ? undefined : result.allowed)
    })
    return answers
  }

  async change(name: string, action: "write" | "delete", tuple: TupleKey): Promise<void> {
    const store = this.#store(name)
    const wrong = action === "write" ? validateTuple(store.model, tuple) : undefined
    if (wrong !== undefined) throw wrong
    store.source[action](tuple)
    // The graph was loaded before the change, and nobody tells the engine.
    store.engine.close()
    store.engine = this.#engineOf(store.source)
    store.tuples = undefined
  }

  close(): void {
    for (const { engine } of this.#stores.values()) engine.close()
    this.#stores.clear()
  }

  #failed(name: string, request: AccessRequest, error: unknown): never {
    this.#note(name, request, undefined)
    throw error
  }

  #note(name: string, request: AccessRequest, allowed: boolean | undefined): void {
    const { engine, model } = this.#store(name)
    const { user, relation, object } = request
    const explain = async () => (await engine.check(name, model, { ...request, explain: true })).explanation
    const allowedBy = async (other: LoadedModel) => {
      try {
        return (await engine.check(name, other, request)).allowed
      } catch (error) {
        if (error instanceof CheckError) return undefined
        throw error
      }
    }
    this.#decided({ store: name, user, relation, object, allowed, explain, allowedBy })
  }

  #engineOf(source: MemorySource): Engine {
    // No other process changes the tuples, so polling is off.
    return new Engine(source, { pollMs: 0, ...this.#bounds })
  }

  #store(name: string): StoreInMemory {
    const store = this.#stores.get(name)
    if (store === undefined) throw new CheckError("unavailable", `the plan has no store \`${name}\``)
    return store
  }
}
