import { setTimeout as sleep } from "node:timers/promises"
import type { Engine } from "../check/engine.ts"
import type { StatusAnswer } from "../control/api.ts"
import type { DeclaredStore } from "../store/declared-stores.ts"
import type { Log } from "../telemetry/log.ts"
import { StoreNames } from "./store-names.ts"

const retryMs = 1_000

/**
 * Loads the stores of a plan with `ready when warm`, one after the other. The process is not ready until those of the first plan are in
 * memory, or it is known that they do not fit. Later plans do not make it unready again: other stores are answered from pages meanwhile.
 */
export class WarmStores {
  readonly #engine: Pick<Engine, "warm" | "state" | "stores">
  readonly #log: Log
  readonly #names: StoreNames
  /** Stores to load. */
  readonly #cold = new Set<string>()
  /** Stores for which the process is not ready yet. */
  #awaited = new Set<string>()
  #hasServed = false
  #isRunning = false
  readonly #closed = new AbortController()

  constructor(engine: Pick<Engine, "warm" | "state" | "stores">, log: Log, names = new StoreNames()) {
    this.#engine = engine
    this.#log = log
    this.#names = names
  }

  /** Why the process is not ready; empty when it is. */
  get reasons(): readonly string[] {
    const parts = new Map(this.#engine.state.loading.map(({ storeId, part }) => [storeId, part]))
    return [...this.#awaited].map((storeId) => {
      const part = parts.get(storeId)
      const read = part === undefined ? "" : `: ${Math.floor(100 * part)} % of its tuples are read`
      return `store \`${this.#names.nameOf(storeId)}\` is not in memory yet${read}`
    })
  }

  /** Where the tuples of all stores are, with the names of declared stores. */
  get status(): StatusAnswer["engine"] {
    const { loading, ...state } = this.#engine.state
    const named = loading.map(({ storeId, part = null }) => ({ store: this.#names.nameOf(storeId), part }))
    const stores = this.#engine.stores.map(({ storeId, staleMs, loadedPart: _, ...store }) => ({
      ...store,
      store: this.#names.nameOf(storeId),
      staleMs: Math.round(staleMs),
    }))
    return { ...state, loading: named, stores: stores.sort((one, other) => other.bytes - one.bytes) }
  }

  /** A plan with these stores is served from now on. */
  served(stores: ReadonlyMap<string, DeclaredStore>, whenWarm: boolean): void {
    this.#names.learn(stores)
    const ids = whenWarm ? [...stores.values()].map(({ storeId }) => storeId) : []
    this.#awaited = new Set(this.#hasServed ? ids.filter((id) => this.#awaited.has(id)) : ids)
    this.#hasServed = true
    this.#cold.clear()
    for (const id of ids) this.#cold.add(id)
    void this.#loadAll()
  }

  close(): void {
    this.#closed.abort()
    this.#cold.clear()
    this.#awaited.clear()
  }

  /** One at a time, because each load uses a connection and all of the process's time. A store that fails holds up no other. */
  async #loadAll(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const { signal } = this.#closed
    for (let round = 0; this.#cold.size > 0; round++) {
      if (round > 0) await sleep(retryMs, undefined, { signal }).catch(() => undefined)
      for (const storeId of this.#cold) {
        try {
          await this.#engine.warm(storeId)
          this.#cold.delete(storeId)
          this.#awaited.delete(storeId)
        } catch (error) {
          if (round > 0 || signal.aborted) continue
          this.#log.warn(
            { err: error },
            `loading store ${this.#names.nameOf(storeId)} failed; it is tried again`,
          )
        }
      }
    }
    this.#isRunning = false
  }
}
