import { hash } from "node:crypto"
import { errors as joseErrors, jwtVerify } from "jose"
import { KeyRing } from "./key-ring.ts"
import type { VerificationKey } from "./key-set.ts"
import { discoverySource, fileSource, type IssuerKeys, type KeySource } from "./key-source.ts"
import type { Claims, TokenVerifier, Verification } from "./verifier.ts"

/** An issuer of the plan with its texts resolved. `audiences` null: any. */
export interface IssuerSettings {
  readonly name: string
  readonly source: { readonly discovery: string } | { readonly keysFile: string; readonly issuer: string }
  readonly audiences: readonly string[] | null
  readonly clockSkewSeconds: number
  readonly algorithms: readonly string[]
}

/** Clocks and the source of keys, replaced in tests; `onChange` is told when getting keys begins to fail, and when it works again. */
export interface VerifierOptions {
  /** Wall clock in milliseconds, for `exp` and `nbf`. */
  readonly now?: () => number
  /** Monotonic clock in milliseconds, for refreshes and the cache. */
  readonly monotonic?: () => number
  readonly source?: KeySource
  readonly onChange?: (state: { readonly ready: boolean; readonly error: string | undefined }) => void
}

/** Longer tokens are refused before anything is computed from them. */
const tokenLengthMax = 8 * 1024
const cacheEntriesMax = 10_000
const cacheMsMax = 60_000
/** A date beyond this (year 9999) is no date; it would outlive every bound that is computed from it. */
const dateSecondsMax = 253_402_300_799
const keysTriedMax = 8

interface Cached {
  readonly verification: Verification
  readonly untilMs: number
}

/** Makes the verifier of one issuer and starts getting its keys; never throws for an issuer that is away. */
export function createVerifier(settings: IssuerSettings, options: VerifierOptions = {}): TokenVerifier {
  return new IssuerVerifier(settings, options)
}

/**
 * Verifies JWTs by RFC 7519 and the advice of RFC 8725: algorithms by configuration and never by the token alone, keys bound to one
 * algorithm, exact `iss`, `aud`, `exp` required, keys named in the header (`jwk`, `jku`, `x5u`) never looked at, one canonical spelling.
 */
class IssuerVerifier implements TokenVerifier {
  readonly #settings: IssuerSettings
  readonly #ring: KeyRing
  readonly #now: () => number
  readonly #monotonic: () => number
  readonly #cache = new Map<string, Cached>()
  #cacheVersion = 0

  constructor(settings: IssuerSettings, options: VerifierOptions) {
    this.#settings = settings
    this.#now = options.now ?? Date.now
    this.#monotonic = options.monotonic ?? (() => performance.now())
    this.#ring = new KeyRing(options.source ?? sourceOf(settings), {
      now: this.#monotonic,
      ...(options.onChange === undefined ? {} : { onChange: options.onChange }),
    })
    this.#ring.start()
  }

  verify(token: string): Verification | Promise<Verification> {
    if (token.length > tokenLengthMax) return invalid("the token is too long")
    // The digest and not the token is the key, so that a heap dump holds no usable token.
    const key = hash("sha256", token, "base64")
    const cached = this.#cached(key)
    return cached ?? this.#verify(token, key)
  }

  state(): { readonly ready: boolean; readonly lastError: string | undefined } {
    return this.#ring.state
  }

  close(): void {
    this.#cache.clear()
  }

  #cached(key: string): Verification | undefined {
    this.#forgetOldKeys()
    const found = this.#cache.get(key)
    if (found === undefined) return undefined
    // Asked for its side: a busy cache must not keep keys from being refreshed, nor outlive them.
    if (this.#monotonic() < found.untilMs && this.#ring.current() !== undefined) return found.verification
    this.#cache.delete(key)
    return undefined
  }

  /** What keys verified that are no longer the issuer's must be verified anew. */
  #forgetOldKeys(): void {
    if (this.#cacheVersion === this.#ring.version) return
    this.#cache.clear()
    this.#cacheVersion = this.#ring.version
  }

  async #verify(token: string, key: string): Promise<Verification> {
    const header = readHeader(token)
    if (header === undefined) return invalid("the token is malformed")
    if (!this.#settings.algorithms.includes(header.alg))
      return invalid("the token is signed with an algorithm that is not allowed")
    let keys = this.#ring.current() ?? (await this.#ring.first())
    if (keys === undefined) return this.#unavailable()
    let candidates = candidatesFor(keys, header)
    if (candidates.length === 0 && (await this.#ring.refetchForUnknownKid())) {
      keys = this.#ring.current()
      if (keys === undefined) return this.#unavailable()
      candidates = candidatesFor(keys, header)
    }
    if (candidates.length === 0) return invalid("the token is signed with an unknown key")
    const version = this.#ring.version
    const verification = await this.#tryKeys(token, keys, candidates)
    if (verification.kind === "verified" && version === this.#ring.version) this.#remember(key, verification)
    return verification
  }

  #unavailable(): Verification {
    return { kind: "unavailable", retryAfterSeconds: this.#ring.retryAfterSeconds }
  }

  async #tryKeys(
    token: string,
    keys: IssuerKeys,
    candidates: readonly VerificationKey[],
  ): Promise<Verification> {
    for (const candidate of candidates.slice(0, keysTriedMax)) {
      try {
        const { payload } = await jwtVerify(token, candidate.key, {
          algorithms: [...candidate.algorithms],
          issuer: keys.issuer,
          clockTolerance: this.#settings.clockSkewSeconds,
          currentDate: new Date(this.#now()),
          requiredClaims: ["exp", "iss"],
          ...(this.#settings.audiences === null ? {} : { audience: [...this.#settings.audiences] }),
        })
        return this.#checkDates(payload) ?? { kind: "verified", claims: payload }
      } catch (error) {
        if (error instanceof joseErrors.JWSSignatureVerificationFailed) continue
        return invalid(reasonOf(error), claimOf(error))
      }
    }
    return invalid("the signature of the token is wrong")
  }

  /** What jose leaves to the application: dates beyond reason, and tokens from the future. */
  #checkDates(claims: Claims): Verification | undefined {
    const { exp, iat } = claims
    if (typeof exp !== "number" || exp > dateSecondsMax)
      return invalid("the token's `exp` is not a date", "exp")
    if (iat === undefined) return undefined
    const latest = this.#now() / 1000 + this.#settings.clockSkewSeconds
    return typeof iat !== "number" || iat > latest
      ? invalid("the token's `iat` is in the future", "iat")
      : undefined
  }

  #remember(key: string, verification: Verification & { readonly kind: "verified" }): void {
    const leftMs =
      ((verification.claims["exp"] as number) + this.#settings.clockSkewSeconds) * 1000 - this.#now()
    if (leftMs <= 0) return
    this.#forgetOldKeys()
    if (this.#cache.size >= cacheEntriesMax) {
      // Oldest first: entries live at most a minute, so order of arrival is nearly order of expiry.
      const oldest = this.#cache.keys().next().value
      if (oldest !== undefined) this.#cache.delete(oldest)
    }
    this.#cache.set(key, { verification, untilMs: this.#monotonic() + Math.min(leftMs, cacheMsMax) })
  }
}

function sourceOf(settings: IssuerSettings): KeySource {
  const { source, algorithms } = settings
  return "discovery" in source
    ? discoverySource({ url: source.discovery, algorithms })
    : fileSource(source.keysFile, source.issuer, algorithms)
}

function candidatesFor(
  keys: IssuerKeys,
  header: { alg: string; kid: string | undefined },
): VerificationKey[] {
  return keys.keys.filter(
    (key) => key.algorithms.has(header.alg) && (header.kid === undefined || key.kid === header.kid),
  )
}

/**
 * Algorithm and key id of a compact JWS whose three parts are canonical base64url without padding: jose and Node decode lax spellings,
 * which would give one token many texts. Anything that is more than a signed token (`b64`, `crit`, encryption) is refused.
 */
function readHeader(token: string): { alg: string; kid: string | undefined } | undefined {
  const parts = token.split(".")
  if (parts.length !== 3 || !parts.every((part) => part !== "" && isCanonicalBase64Url(part)))
    return undefined
  try {
    const header: unknown = JSON.parse(Buffer.from(parts[0] as string, "base64url").toString("utf8"))
    if (
      typeof header !== "object" ||
      header === null ||
      "crit" in header ||
      "b64" in header ||
      "enc" in header
    )
      return undefined
    const { alg, kid } = header as Record<string, unknown>
    if (typeof alg !== "string" || (kid !== undefined && typeof kid !== "string")) return undefined
    return { alg, kid }
  } catch {
    return undefined
  }
}

function isCanonicalBase64Url(part: string): boolean {
  return Buffer.from(part, "base64url").toString("base64url") === part
}

/** Fixed texts only: nothing of the token goes into an answer. */
function reasonOf(error: unknown): string {
  if (error instanceof joseErrors.JWTExpired) return "the token has expired"
  if (error instanceof joseErrors.JWTClaimValidationFailed) {
    if (error.reason === "missing") return `the token's \`${error.claim}\` is missing`
    if (error.claim === "nbf") return "the token is not valid yet"
    if (error.claim === "aud") return "the token is for another audience"
    if (error.claim === "iss") return "the token is from another issuer"
    return `the token's \`${error.claim}\` is not acceptable`
  }
  return "the token is malformed"
}

function claimOf(error: unknown): string | undefined {
  if (error instanceof joseErrors.JWTExpired) return "exp"
  return error instanceof joseErrors.JWTClaimValidationFailed ? error.claim : undefined
}

function invalid(reason: string, claim?: string): Verification {
  return claim === undefined ? { kind: "invalid", reason } : { kind: "invalid", reason, claim }
}
