import { LRUCache } from "lru-cache"
import { ClientAddresses } from "../gateway/exchange/client-address.ts"

/** Failures that one address may have at once, and how fast they are forgotten. A script with an old token tries a few times a minute. */
const perAddress = { burst: 10, everyMs: 6_000 }
/** The same of all addresses together, so that many addresses cannot guess faster. */
const together = { burst: 200, everyMs: 200 }
const addressesMax = 10_000
/** An address that authenticated in this time is not slowed by the failures of others. */
const trustedMs = 3_600_000

/** Failures of one address or of all: when the bucket is empty of them again. */
class Bucket {
  #emptyAtMs = 0

  add(nowMs: number, everyMs: number): void {
    this.#emptyAtMs = Math.max(this.#emptyAtMs, nowMs) + everyMs
  }

  /** Milliseconds until another attempt is allowed; 0: now. */
  waitMs(nowMs: number, { burst, everyMs }: { readonly burst: number; readonly everyMs: number }): number {
    return Math.max(0, this.#emptyAtMs - nowMs - (burst - 1) * everyMs)
  }
}

/** Slows guesses of credentials, by address and of all addresses together. It uses bounded memory: the least recent addresses are forgotten. */
export class Attempts {
  readonly #now: () => number
  readonly #failed = new LRUCache<string, Bucket>({ max: addressesMax })
  readonly #trusted = new LRUCache<string, number>({ max: addressesMax })
  readonly #all = new Bucket()
  readonly #addresses = new ClientAddresses([])

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Seconds after which an address may try again; 0: now. */
  waitSeconds(address: string): number {
    const now = this.#now()
    const key = this.#networkOf(address)
    const own = this.#failed.get(key)?.waitMs(now, perAddress) ?? 0
    const isTrusted = now - (this.#trusted.get(key) ?? Number.NEGATIVE_INFINITY) < trustedMs
    const others = isTrusted ? 0 : this.#all.waitMs(now, together)
    return Math.ceil(Math.max(own, others) / 1000)
  }

  failed(address: string): void {
    const now = this.#now()
    const key = this.#networkOf(address)
    const bucket = this.#failed.get(key) ?? new Bucket()
    bucket.add(now, perAddress.everyMs)
    this.#failed.set(key, bucket)
    this.#all.add(now, together.everyMs)
  }

  succeeded(address: string): void {
    this.#trusted.set(this.#networkOf(address), this.#now())
  }

  /** Counts as one what the limits of the gateway count as one by default. */
  #networkOf(address: string): string {
    return this.#addresses.countedAs(this.#addresses.of(address, undefined).ip)
  }
}
