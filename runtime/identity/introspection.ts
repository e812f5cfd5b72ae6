import { hash } from "node:crypto"
import { LRUCache } from "lru-cache"
import type { RequestSender } from "../http/client/http-client.ts"
import { judgeClaims } from "./judge-claims.ts"
import { clientAuthorization } from "./token-client.ts"

import type { Claims, Verification } from "./verifier.ts"

/** An introspection endpoint of the plan with its texts resolved. */
export interface IntrospectionSettings {
  readonly name: string
  readonly url: string
  readonly client: string
  readonly secret: string
  /** Maximum time for which a result is cached. */
  readonly cacheMs: number
}

const tokenLengthMax = 16 * 1024
const entriesMax = 10_000
const timeoutMs = 5_000

interface Known {
  /** Null: not active. */
  readonly claims: Claims | null
  readonly untilMs: number
}

/** Clocks in milliseconds, replaced in tests. */
interface Clocks {
  readonly now: () => number
  readonly monotonic: () => number
}

/** Verifies opaque tokens. */
export interface OpaqueTokens {
  /** `audiences` undefined: any. Returns synchronously for a cached token. */
  verify(token: string, audiences: readonly string[] | undefined): Verification | Promise<Verification>
  /** Like `verify`, but undefined if it would need a request. */
  known(token: string, audiences: readonly string[] | undefined): Verification | undefined
}

/**
 * Introspects opaque tokens (RFC 7662). Concurrent callers with the same token share one request. Results are cached by the digest of the token, so that
 * a heap dump contains no tokens; `exp` and `nbf` are checked each time. Without a response the result is `unavailable`, never access.
 */
export class Introspection implements OpaqueTokens {
  readonly #settings: IntrospectionSettings
  readonly #http: RequestSender
  readonly #clocks: Clocks
  // `maxSize` with size 1 limits the number of entries; `max` would reserve 200 KiB for an empty cache.
  readonly #known = new LRUCache<string, Known>({ maxSize: entriesMax, sizeCalculation: () => 1 })
  readonly #asking = new Map<string, Promise<Claims | null | undefined>>()

  /** Clocks are given in tests. */
  constructor(
    settings: IntrospectionSettings,
    http: RequestSender,
    clocks: Clocks = { now: Date.now, monotonic: () => performance.now() },
  ) {
    this.#settings = settings
    this.#http = http
    this.#clocks = clocks
  }

  /** Asks the endpoint once for all requests with the same token. */
  verify(token: string, audiences: readonly string[] | undefined): Verification | Promise<Verification> {
    const known = this.known(token, audiences)
    if (known !== undefined) return known
    const key = hash("sha256", token, "base64")
    this.#known.delete(key)
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      asking = this.#ask(token, key).finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    return asking.then((claims) => this.#judge(claims, audiences))
  }

  known(token: string, audiences: readonly string[] | undefined): Verification | undefined {
    if (token.length > tokenLengthMax || !/^[\x21-\x7e]+$/.test(token))
      return { kind: "invalid", reason: "the token is malformed", fault: "JwtInvalid" }
    const known = this.#known.get(hash("sha256", token, "base64"))
    return known !== undefined && this.#clocks.monotonic() < known.untilMs
      ? this.#judge(known.claims, audiences)
      : undefined
  }

  /** Judges the claims of an active token. The endpoint has checked the dates, so expiration is not required here. */
  #judge(claims: Claims | null | undefined, audiences: readonly string[] | undefined): Verification {
    if (claims === undefined) return { kind: "unavailable", retryAfterSeconds: 1 }
    if (claims === null) return { kind: "invalid", reason: "the token is not active", fault: "TokenExpired" }
    const rules = {
      audiences: audiences ?? null,
      issuers: null,
      clockSkewSeconds: 0,
      requireExpiration: false,
    }
    return judgeClaims(claims, rules, this.#clocks.now()) ?? { kind: "verified", claims, header: {} }
  }

  /** Undefined: no usable response. */
  async #ask(token: string, key: string): Promise<Claims | null | undefined> {
    const { url, client, secret, cacheMs } = this.#settings
    const form = new URLSearchParams({ token, token_type_hint: "access_token" })
    const headers = [
      "accept",
      "application/json",
      "content-type",
      "application/x-www-form-urlencoded",
      "authorization",
      clientAuthorization(client, secret),
    ]
    let claims: Claims | null | undefined
    try {
      const body = Buffer.from(form.toString())
      claims = claimsOf(await this.#http.send({ url, method: "POST", headers, body, timeoutMs }))
    } catch {
      return undefined
    }
    if (claims !== undefined && cacheMs > 0)
      this.#known.set(key, { claims, untilMs: this.#clocks.monotonic() + cacheMs })
    return claims
  }
}

/** RFC 7662 section 2.2: only `active` is required. */
function claimsOf({ status, body }: { status: number; body: Buffer }): Claims | null | undefined {
  if (status !== 200) return undefined
  try {
    const json: unknown = JSON.parse(body.toString("utf8"))
    if (typeof json !== "object" || json === null || !("active" in json)) return undefined
    if (json.active === false) return null
    return json.active === true ? (json as Claims) : undefined
  } catch {
    return undefined
  }
}
