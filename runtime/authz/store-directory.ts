import { LRUCache } from "lru-cache"
import type { Database } from "../store/database.ts"
import { findStore, type StoreRecord } from "../store/stores.ts"
import { storeNotFound } from "./api-error.ts"

interface Entry {
  store: StoreRecord
  confirmedMs: number
  refreshing: boolean
}

/** Younger than this it is taken as it is; older, a request asks the database again. */
const freshMs = 1_000
/** Neither id nor declared name looks otherwise, and what does is nothing to trouble the database with. */
const nameForm = /^[A-Za-z0-9_-]{1,128}$/
const entriesMax = 10_000

/**
 * Stores by id or declared name, so that a check needs no query. What another process changes (a new model, a deletion, another plan) is
 * seen about a second later, what this one changes at once.
 */
export class StoreDirectory {
  readonly #database: Database
  readonly #maxStalenessMs: () => number | null
  readonly #entries = new LRUCache<string, Entry>({ max: entriesMax })
  /** Raised by every change of ours: an answer that was asked for before it is not kept. */
  #changes = 0

  constructor(database: Database, maxStalenessMs: () => number | null) {
    this.#database = database
    this.#maxStalenessMs = maxStalenessMs
  }

  /** Without a promise when it is known. @throws ApiError `store_id_not_found` · SourceUnavailable */
  find(idOrName: string): StoreRecord | Promise<StoreRecord> {
    const entry = this.#entries.get(idOrName)
    if (entry === undefined) {
      if (!nameForm.test(idOrName)) throw storeNotFound()
      return this.#ask(idOrName)
    }
    const ageMs = performance.now() - entry.confirmedMs
    if (ageMs < freshMs) return entry.store
    const maxMs = this.#maxStalenessMs()
    if (maxMs !== null && ageMs >= maxMs) return this.#ask(idOrName)
    if (!entry.refreshing) this.#refresh(idOrName, entry)
    return entry.store
  }

  /** After a change of this process. */
  forget(store: { readonly id: string; readonly declaredName: string | null }): void {
    this.#changes += 1
    this.#entries.delete(store.id)
    if (store.declaredName !== null) this.#entries.delete(store.declaredName)
  }

  /** After a new plan. */
  forgetAll(): void {
    this.#changes += 1
    this.#entries.clear()
  }

  #refresh(idOrName: string, entry: Entry): void {
    entry.refreshing = true
    this.#ask(idOrName).catch(() => {
      // Away, or gone: until the bound the entry serves in the one case, and is removed in the other.
      entry.refreshing = false
    })
  }

  async #ask(idOrName: string): Promise<StoreRecord> {
    const askedMs = performance.now()
    const changes = this.#changes
    const store = await findStore(this.#database, idOrName)
    if (changes !== this.#changes) return this.#ask(idOrName)
    this.#entries.delete(idOrName)
    if (store === undefined) throw storeNotFound()
    this.#entries.set(idOrName, { store, confirmedMs: askedMs, refreshing: false })
    return store
  }
}
