import { CheckError } from "../ports.ts"

/** A user of memory: a store's graph. */
export interface Tenant {
  /** Time of the last question, by the engine's clock. */
  readonly usedMs: number
  /** Evicts the least used page; false when it has none to evict. */
  evict(): boolean
  /** Turns a whole graph into one of pages, without pages yet; false when it already is one. */
  giveWay(): boolean
  /** Drops everything; the next question loads it again. */
  forget(): void
}

/** The pages of a question do not fit in memory next to those in use by others. */
export class NoRoom extends CheckError {}

/** A graph without questions for this long gives way to an active one. */
const idleMs = 60_000

/** The memory of all graphs of a process. Each one is counted where it grows. */
export class Memory {
  /** Maximum bytes of all together. */
  limit: number
  /** The first to be dropped, because nothing needs it. */
  spare: Tenant | undefined
  readonly #now: () => number
  readonly #taken = new Map<Tenant, number>()
  #total = 0

  constructor(limit: number, now: () => number) {
    this.limit = limit
    this.#now = now
  }

  /** Bytes of all. */
  get total(): number {
    return this.#total
  }

  /** Bytes of one tenant. */
  of(tenant: Tenant): number {
    return this.#taken.get(tenant) ?? 0
  }

  /** Bytes available to one tenant next to the needs of the others. */
  roomFor(tenant: Tenant): number {
    const spare = this.spare === undefined ? 0 : this.of(this.spare)
    return this.limit - this.#total + spare + this.of(tenant)
  }

  report(tenant: Tenant, bytes: number): void {
    this.#total += bytes - this.of(tenant)
    if (bytes === 0) this.#taken.delete(tenant)
    else this.#taken.set(tenant, bytes)
  }

  /**
   * Frees memory until all fit: first the spare results, then idle graphs, then pages. With `urgent` also whole graphs of others, the
   * largest first. Returns false when that was not enough.
   */
  makeRoom(asking: Tenant, urgent = false): boolean {
    while (this.#total > this.limit) if (this.spare?.evict() !== true) break
    if (this.#total <= this.limit) return true
    const idleSince = this.#now() - idleMs
    const idle = [...this.#taken.keys()].filter((tenant) => tenant !== asking && tenant.usedMs < idleSince)
    idle.sort((one, other) => one.usedMs - other.usedMs)
    for (const tenant of idle) {
      tenant.forget()
      if (this.#total <= this.limit) return true
    }
    for (const tenant of [asking, ...this.#taken.keys()])
      while (tenant.evict()) if (this.#total <= this.limit) return true
    const others = urgent ? [...this.#taken].filter(([tenant]) => tenant !== asking) : []
    for (const [tenant] of others.sort(([, one], [, other]) => other - one))
      if (tenant.giveWay() && this.#total <= this.limit) return true
    return this.#total <= this.limit
  }
}
