import { createHash, randomBytes } from "node:crypto"
import { LRUCache } from "lru-cache"

/** How long a link can be used. */
const lifeMs = 10 * 60_000
const linksMax = 1_000

/** Links that sign a browser in once, with the credential of the operator who asked for them. They are kept in memory, by their digest. */
export class ConsoleLinks {
  readonly #links: LRUCache<string, string>

  /** `now`: a monotonic clock in milliseconds; replaced in tests. */
  constructor(now: () => number = () => performance.now()) {
    this.#links = new LRUCache({ max: linksMax, ttl: lifeMs, ttlResolution: 0, perf: { now } })
  }

  /** A new code of 256 bits for a credential, and the number of seconds for which it can be used. */
  make(authorization: string): { readonly code: string; readonly seconds: number } {
    const code = randomBytes(32).toString("base64url")
    this.#links.set(digestOf(code), authorization)
    return { code, seconds: lifeMs / 1000 }
  }

  /** The credential of a code, once; undefined: the code was used, is too old, or was never made here. */
  take(code: string): string | undefined {
    const digest = digestOf(code)
    const found = this.#links.get(digest)
    this.#links.delete(digest)
    return found
  }
}

function digestOf(code: string): string {
  return createHash("sha256").update(code).digest("base64url")
}
