import type { DeclaredStore } from "../store/declared-stores.ts"

/** The label of stores that no plan declares: their number has no bound, and callers choose their names. */
export const otherStores = "other"

/**
 * The names of declared stores by id. A name stays known after its store has left the plan, so that a metric never moves from one label to
 * another.
 */
export class StoreNames {
  readonly #byId = new Map<string, string>()
  readonly #labels = new Map<string, string>()

  /** A plan with these stores is served from now on. */
  learn(stores: ReadonlyMap<string, DeclaredStore>): void {
    for (const [name, { storeId }] of stores) {
      this.#byId.set(storeId, name)
      this.#labels.set(storeId, name)
      this.#labels.set(name, name)
    }
  }

  /** The name of a declared store, else its id. */
  nameOf(storeId: string): string {
    return this.#byId.get(storeId) ?? storeId
  }

  /** The label of a store by its id or declared name; empty for no store. */
  labelOf(store: string): string {
    return this.#labels.get(store) ?? (store === "" ? "" : otherStores)
  }
}
