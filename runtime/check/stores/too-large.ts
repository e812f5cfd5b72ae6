import type { Memory, Tenant } from "./memory.ts"

const firstWaitMs = 60_000
const longestWaitMs = 3_600_000
/** So much more room than before is worth another try at once. */
const roomWorth = 1.25

/** A store that did not fit into the memory whole: when to try again. Each try reads as much of it as there is room. */
export class TooLarge {
  readonly #memory: Memory
  readonly #tenant: Tenant
  #waitMs = firstWaitMs / 2
  #again = Number.POSITIVE_INFINITY
  #room = Number.POSITIVE_INFINITY

  constructor(memory: Memory, tenant: Tenant) {
    this.#memory = memory
    this.#tenant = tenant
  }

  /** It was found not to fit. */
  found(now: number): void {
    this.#room = this.#memory.roomFor(this.#tenant)
    this.#waitMs = Math.min(2 * this.#waitMs, longestWaitMs)
    this.#again = now + this.#waitMs
  }

  /** Others have gone, there is more memory, or it may have become smaller. */
  mayFit(now: number): boolean {
    return now >= this.#again || this.#memory.roomFor(this.#tenant) > roomWorth * this.#room
  }
}
