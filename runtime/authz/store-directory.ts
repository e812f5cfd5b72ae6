import { LRUCache } from "lru-cache"
import type { Database } from "../store/database.ts"
import { findStore, type StoreRecord } from "../store/stores.ts"
import { storeNameNotFound, storeNotFound } from "./api-error.ts"

interface Entry {
  store: StoreRecord
  confirmedMs: number
  refreshing: boolean
}

/** An entry younger than this is used as it is; for an older one the database is asked again. */
const freshMs = 1_000
/** Ids and declared names have this form. Other texts cannot exist, so they need no query. */
const nameForm = /^[A-Za-z0-9_-]{1,128}$/
/** The form of an id (a ULID). Names cannot have it: they begin with a letter or `_`, and ids with a digit. */
export const storeIdForm = /^[0-7][0-9A-Z]{25}$/
const entriesMax = 10_000

/**
 * Caches stores by id or declared name, so that a check needs no query. Changes of other processes (a new model, a deletion, another plan)
 * become visible after about a second, changes of this process at once.
 */
export class StoreDirectory {
  readonly #database: Database
  readonly #maxStalenessMs: () => number | null
  readonly #entries = new LRUCache<string, Entry>({ max: entriesMax })
  /** Raised by each change of this process: a result that was requested before it is not cached. */
  #changes = 0

  constructor(database: Database, maxStalenessMs: () => number | null) {
    this.#database = database
    this.#maxStalenessMs = maxStalenessMs
  }

  /**
   * Synchronous when the store is cached.
   * @throws ApiError `store_id_not_found` · SourceUnavailable
   */
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

  /** Call it after a change by this process. */
  forget(store: { readonly id: string; readonly declaredName: string | null }): void {
    this.#changes += 1
    this.#entries.delete(store.id)
    if (store.declaredName !== null) this.#entries.delete(store.declaredName)
  }

  /** Call it after a new plan. */
  forgetAll(): void {
    this.#changes += 1
    this.#entries.clear()
  }

  #refresh(idOrName: string, entry: Entry): void {
    entry.refreshing = true
    this.#ask(idOrName).catch(() => {
      // The database is unavailable or the store is deleted. Until the maximum age the entry stays in use in the first case; it is removed
      // in the second.
      entry.refreshing = false
    })
  }

  async #ask(idOrName: string): Promise<StoreRecord> {
    const askedMs = performance.now()
    const changes = this.#changes
    const store = await findStore(this.#database, idOrName)
    if (changes !== this.#changes) return this.#ask(idOrName)
    this.#entries.delete(idOrName)
    if (store === undefined) throw storeIdForm.test(idOrName) ? storeNotFound() : storeNameNotFound(idOrName)
    this.#entries.set(idOrName, { store, confirmedMs: askedMs, refreshing: false })
    return store
  }
}
