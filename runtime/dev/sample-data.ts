/** A JSON object with an `id`. */
export interface Resource {
  readonly id?: string
  readonly [name: string]: unknown
}

/** When a collection is full, a new resource replaces the oldest one. */
const resourcesMax = 1000

/** Resources by id, in memory. */
export class Collection {
  readonly #resources = new Map<string, Resource>()
  #lastId = 0

  constructor(resources: readonly Resource[]) {
    for (const resource of resources) this.add(resource)
  }

  all(): Resource[] {
    return [...this.#resources.values()]
  }

  get(id: string): Resource | undefined {
    return this.#resources.get(id)
  }

  /** Adds a resource with the next number as its id. */
  add(resource: Resource): Resource & { id: string } {
    this.#lastId += 1
    const made = { ...resource, id: String(this.#lastId) }
    this.#resources.set(made.id, made)
    const oldest = this.#resources.keys().next().value
    if (this.#resources.size > resourcesMax && oldest !== undefined) this.#resources.delete(oldest)
    return made
  }

  replace(id: string, resource: Resource): Resource {
    const made = { ...resource, id }
    this.#resources.set(id, made)
    return made
  }

  remove(id: string): void {
    this.#resources.delete(id)
  }
}

/** Orders 1 to 3. */
export const ordersV1: readonly Resource[] = [
  { item: "lantern", quantity: 2, customer: "ann" },
  { item: "rope, 20 m", quantity: 1, customer: "ann" },
  { item: "map of the coast", quantity: 1, customer: "bob" },
]

/** The same orders in the format of the second version. */
export const ordersV2: readonly Resource[] = [
  { customer: "ann", lines: [{ sku: "lantern", quantity: 2 }], total: { amount: "39.80", currency: "EUR" } },
  { customer: "ann", lines: [{ sku: "rope-20", quantity: 1 }], total: { amount: "17.50", currency: "EUR" } },
  { customer: "bob", lines: [{ sku: "map-coast", quantity: 1 }], total: { amount: "8.00", currency: "EUR" } },
]

/** The items of the shop. */
export const catalogItems: readonly Resource[] = [
  { sku: "lantern", name: "Lantern", price: { amount: "19.90", currency: "EUR" } },
  { sku: "rope-20", name: "Rope, 20 m", price: { amount: "17.50", currency: "EUR" } },
  { sku: "map-coast", name: "Map of the coast", price: { amount: "8.00", currency: "EUR" } },
]

/** Documents, each in a folder. */
export const documents: readonly Resource[] = [
  { title: "Roadmap", folder: "product" },
  { title: "Salaries", folder: "company" },
  { title: "Lunch menu", folder: "company" },
]
