import { setBackgroundTimer } from "#platform"
import type { StoreGraph } from "./store-graph.ts"

/** After this many failed stores in a row, the source itself counts as unavailable. */
const failuresMax = 3

export interface PollSettings {
  /** 0: never. */
  readonly pollMs: number
  readonly now: () => number
}

/** Polls the source for changes of stores. */
export class Poll {
  readonly #stores: Map<string, StoreGraph>
  readonly #settings: PollSettings
  #timer: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor(stores: Map<string, StoreGraph>, settings: PollSettings) {
    this.#stores = stores
    this.#settings = settings
  }

  /** Schedules the next round, when there are stores. */
  soon(): void {
    const { pollMs } = this.#settings
    if (this.#timer !== undefined || this.#closed || pollMs === 0) return
    this.#timer = setBackgroundTimer(() => {
      void this.#all()
    }, pollMs)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /**
   * Polls one store after the other, so that a thousand stores do not send a thousand requests at once. Several failures in a row mean that
   * the source is unavailable. Then the round ends, because each further request may take a second to fail.
   */
  async #all(): Promise<void> {
    let failures = 0
    for (const [storeId, store] of [...this.#stores]) {
      if (this.#closed) return
      if (!store.ready) continue
      if (store.used) store.usedMs = this.#settings.now()
      store.used = false
      try {
        await store.refresh()
        failures = 0
      } catch {
        if (++failures >= failuresMax) break
        // Move the store to the end of the queue, so that the next round starts with others.
        if (this.#stores.delete(storeId)) this.#stores.set(storeId, store)
      }
    }
    this.#timer = undefined
    if (this.#stores.size > 0) this.soon()
  }
}
