import { CheckError } from "../ports.ts"

/** One that uses memory: a store's graph. */
export interface Tenant {
  /** When it was asked last, by the engine's clock. */
  readonly usedMs: number
  /** Gives the least used page up; false when it has none to give. */
  evict(): boolean
  /** A whole graph becomes one of pages, with none yet; false when it is one. */
  giveWay(): boolean
  /** Gives all up; what is asked next is loaded again. */
  forget(): void
}

/** The pages a question needs do not fit beside what others need at the same time. */
export class NoRoom extends CheckError {}

/** A graph that was not asked for so long gives way to one that is. */
const idleMs = 60_000

/** The memory of all graphs of a process together. What each takes is counted where it grows. */
export class Memory {
  /** Bytes all may take together. */
  limit: number
  /** The first to give way, because nothing needs it. */
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

  /** What one may take beside what the others need. */
  roomFor(tenant: Tenant): number {
    const spare = this.spare === undefined ? 0 : (this.#taken.get(this.spare) ?? 0)
    return this.limit - this.#total + spare + (this.#taken.get(tenant) ?? 0)
  }

  report(tenant: Tenant, bytes: number): void {
    this.#total += bytes - (this.#taken.get(tenant) ?? 0)
    if (bytes === 0) this.#taken.delete(tenant)
    else this.#taken.set(tenant, bytes)
  }

  /**
   * Makes all fit together again: what is spare goes, then graphs nobody asks, then pages; with `urgent`, also graphs of others that were whole, the largest first.
   * False when that was not enough.
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
