import type { StoreGraph } from "./store-graph.ts"

/** So many stores in a row that can't be asked, and it is the source that is away. */
const failuresMax = 3

export interface PollSettings {
  /** 0 is never. */
  readonly pollMs: number
  readonly now: () => number
}

/** Asks the source again and again whether stores have changed. */
export class Poll {
  readonly #stores: Map<string, StoreGraph>
  readonly #settings: PollSettings
  #timer: ReturnType<typeof setTimeout> | undefined
  #closed = false

  constructor(stores: Map<string, StoreGraph>, settings: PollSettings) {
    this.#stores = stores
    this.#settings = settings
  }

  /** There are stores: the next round comes. */
  soon(): void {
    const { pollMs } = this.#settings
    if (this.#timer !== undefined || this.#closed || pollMs === 0) return
    this.#timer = setTimeout(() => {
      void this.#all()
    }, pollMs)
    this.#timer.unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /**
   * Store after store, so that a thousand stores do not put a thousand questions at once. A store that can't be asked grows stale; after some
   * in a row it is the source that is away, and the round ends: each of its answers may take a second not to come.
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
        // To the end of the line, so that the next round begins with others.
        if (this.#stores.delete(storeId)) this.#stores.set(storeId, store)
      }
    }
    this.#timer = undefined
    if (this.#stores.size > 0) this.soon()
  }
}
