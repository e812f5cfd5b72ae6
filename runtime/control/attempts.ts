import { LRUCache } from "lru-cache"

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

  /** `now`: a monotonic clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Seconds after which an address may try again; 0: now. */
  waitSeconds(address: string): number {
    const now = this.#now()
    const key = networkOf(address)
    const own = this.#failed.get(key)?.waitMs(now, perAddress) ?? 0
    const isTrusted = now - (this.#trusted.get(key) ?? Number.NEGATIVE_INFINITY) < trustedMs
    const others = isTrusted ? 0 : this.#all.waitMs(now, together)
    return Math.ceil(Math.max(own, others) / 1000)
  }

  failed(address: string): void {
    const now = this.#now()
    const key = networkOf(address)
    const bucket = this.#failed.get(key) ?? new Bucket()
    bucket.add(now, perAddress.everyMs)
    this.#failed.set(key, bucket)
    this.#all.add(now, together.everyMs)
  }

  succeeded(address: string): void {
    this.#trusted.set(networkOf(address), this.#now())
  }
}

/** The /64 of an IPv6 address, because a caller can use all addresses of it (RFC 6177); an IPv4 address itself. */
function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, "")
  if (!mapped.includes(":")) return mapped
  const [head = "", tail] = mapped.split("::")
  const left = head === "" ? [] : head.split(":")
  const right = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array<string>(Math.max(0, zeros)).fill("0"), ...right].slice(0, 4).join(":")
}
