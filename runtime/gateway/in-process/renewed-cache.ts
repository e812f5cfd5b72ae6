import type { Cache, Cached, CacheStats } from "../../cache/cache.ts"
import { createMemoryCache } from "../../cache/memory.ts"
import type { VirtualClock } from "./virtual-clock.ts"

/** A cache that each world finds empty; steps keep the port. */
export class RenewedCache implements Cache {
  readonly #clock: VirtualClock
  #cache: Cache
  /** It may have entries: making a cache costs more than asking whether there are any. */
  #isUsed = false

  constructor(clock: VirtualClock) {
    this.#clock = clock
    this.#cache = createMemoryCache({ now: clock.now })
  }

  restart(): void {
    if (this.#isUsed) this.#cache = createMemoryCache({ now: this.#clock.now })
    this.#isUsed = false
  }

  get(key: string): Cached | undefined | Promise<Cached | undefined> {
    this.#isUsed = true
    return this.#cache.get(key)
  }

  set(key: string, bytes: Buffer, forMs: number): boolean | Promise<boolean> {
    this.#isUsed = true
    return this.#cache.set(key, bytes, forMs)
  }

  remove(key: string): void | Promise<void> {
    return this.#cache.remove(key)
  }

  get flights(): Cache["flights"] {
    this.#isUsed = true
    return this.#cache.flights
  }

  get vectors(): Cache["vectors"] {
    this.#isUsed = true
    return this.#cache.vectors
  }

  stats(): CacheStats {
    return this.#cache.stats()
  }
}
