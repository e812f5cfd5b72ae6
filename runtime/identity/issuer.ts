import { hash } from "node:crypto"
import { compactVerify, errors as joseErrors } from "jose"
import { LRUCache } from "lru-cache"
import { HttpClient, type RequestSender } from "../http/client/http-client.ts"
import type { IssuerKey } from "./inline-keys.ts"
import { invalid, type JudgedBy, judgeClaims } from "./judge-claims.ts"
import { KeyRing } from "./key-ring.ts"
import type { VerificationKey } from "./key-set.ts"
import { discoverySource, fileSource, type IssuerKeys, inlineSource, type KeySource } from "./key-source.ts"
import type { Claims, KeyState, TokenHeader, TokenRules, TokenVerifier, Verification } from "./verifier.ts"

/** An issuer of the plan with its texts resolved. `audiences` and `issuer` null: any; `exact` as in `DiscoverySettings`. */
export interface IssuerSettings {
  readonly name: string
  readonly source:
    | { readonly discovery: string; readonly exact?: boolean }
    | { readonly keysFile: string; readonly issuer: string | null }
    | { readonly keys: readonly IssuerKey[]; readonly issuer: string | null }
  readonly audiences: readonly string[] | null
  readonly clockSkewSeconds: number
  readonly algorithms: readonly string[]
}

/** Clocks and the source of keys, replaced in tests. `onChange` is called when getting keys starts to fail, and when it works again. */
export interface VerifierOptions {
  /** Wall clock in milliseconds, for `exp` and `nbf`. */
  readonly now?: () => number
  /** Monotonic clock in milliseconds, for refreshes and the cache. */
  readonly monotonic?: () => number
  readonly source?: KeySource
  /** Gets discovery documents and key sets. Default: the verifier's own client. */
  readonly http?: RequestSender
  readonly onChange?: (state: { readonly ready: boolean; readonly error: string | undefined }) => void
}

/** Longer tokens are rejected before any computation. */
const tokenLengthMax = 8 * 1024
const cacheEntriesMax = 10_000
const cacheMsMax = 60_000
const keysTriedMax = 8

/** A token with a valid signature: its claims are checked each time. */
interface Signed {
  readonly claims: Claims
  readonly header: TokenHeader
  /** The `iss` of the keys that verified it. */
  readonly issuer: string | null
}

interface Cached {
  readonly signed: Signed
  readonly untilMs: number
}

const noRules: TokenRules = {}

/** Makes the verifier of one issuer and starts getting its keys. Does not throw if the issuer is unavailable. */
export function createVerifier(settings: IssuerSettings, options: VerifierOptions = {}): TokenVerifier {
  return new IssuerVerifier(settings, options)
}

/**
 * Verifies JWTs by RFC 7519 and the advice of RFC 8725. The configuration, never the token alone, determines the algorithms. Keys are bound to one
 * algorithm. `iss` must match exactly, `aud` and `exp` are required. Keys from the header (`jwk`, `jku`, `x5u`) are ignored. Only the canonical spelling
 * is accepted.
 */
class IssuerVerifier implements TokenVerifier {
  readonly #settings: IssuerSettings
  readonly #ring: KeyRing
  readonly #now: () => number
  readonly #monotonic: () => number
  // `maxSize` with size 1 limits the number of entries; `max` would reserve 200 KiB for an empty cache.
  readonly #cache = new LRUCache<string, Cached>({ maxSize: cacheEntriesMax, sizeCalculation: () => 1 })
  #cacheVersion = 0

  /** Keys are fetched at once, so that the first request need not wait. */
  constructor(settings: IssuerSettings, options: VerifierOptions) {
    this.#settings = settings
    this.#now = options.now ?? Date.now
    this.#monotonic = options.monotonic ?? (() => performance.now())
    this.#ring = new KeyRing(options.source ?? sourceOf(settings, options.http ?? new HttpClient()), {
      now: this.#monotonic,
      ...(options.onChange === undefined ? {} : { onChange: options.onChange }),
    })
    this.#ring.start()
  }

  verify(token: string, rules: TokenRules = noRules): Verification | Promise<Verification> {
    if (token.length > tokenLengthMax) return invalid("the token is too long", "JwtInvalid")
    // The key is the digest and not the token, so that a heap dump contains no usable token.
    const key = hash("sha256", token, "base64")
    const cached = this.#cached(key)
    return cached === undefined ? this.#verify(token, key, rules) : this.#judge(cached, rules)
  }

  issuer(): string | undefined {
    return this.#ring.current()?.issuer ?? undefined
  }

  state(): KeyState {
    return this.#ring.state
  }

  close(): void {
    this.#cache.clear()
  }

  /** A verified token of the cache; undefined if it is too old or the keys are. */
  #cached(key: string): Signed | undefined {
    this.#forgetOldKeys()
    const found = this.#cache.get(key)
    if (found === undefined) return undefined
    // `current()` starts due refreshes and returns undefined for outdated keys: cache hits must not prevent either.
    if (this.#monotonic() < found.untilMs && this.#ring.current() !== undefined) return found.signed
    this.#cache.delete(key)
    return undefined
  }

  /** Tokens verified with old keys of the issuer must be verified again. */
  #forgetOldKeys(): void {
    if (this.#cacheVersion === this.#ring.version) return
    this.#cache.clear()
    this.#cacheVersion = this.#ring.version
  }

  /** Verifies a token. An unknown `kid` may mean rotated keys, so they are fetched again, at a limited rate. */
  async #verify(token: string, key: string, rules: TokenRules): Promise<Verification> {
    const header = readHeader(token)
    if (header === undefined) return invalid("the token is malformed", "JwtInvalid")
    if (!this.#settings.algorithms.includes(header.alg))
      return invalid("the token is signed with an algorithm that is not allowed", "TokenSignatureInvalid")
    const { mayFetch = true } = rules
    let keys = this.#ring.current() ?? (mayFetch ? await this.#ring.first() : undefined)
    if (keys === undefined) return this.#unavailable()
    let candidates = candidatesFor(keys, header)
    if (candidates.length === 0 && mayFetch && (await this.#ring.refetchForUnknownKid())) {
      keys = this.#ring.current()
      if (keys === undefined) return this.#unavailable()
      candidates = candidatesFor(keys, header)
    }
    if (candidates.length === 0)
      return invalid("the token is signed with an unknown key", "TokenSignatureKeyNotFound")
    const version = this.#ring.version
    const signed = await this.#tryKeys(token, keys, candidates)
    if ("kind" in signed) return signed
    const verification = this.#judge(signed, rules)
    if (verification.kind === "verified" && version === this.#ring.version) this.#remember(key, signed)
    return verification
  }

  #unavailable(): Verification {
    return { kind: "unavailable", retryAfterSeconds: this.#ring.retryAfterSeconds }
  }

  /** Tries the keys that fit. Their number is limited: a key set may be large, and each signature costs time. */
  async #tryKeys(
    token: string,
    keys: IssuerKeys,
    candidates: readonly VerificationKey[],
  ): Promise<Signed | Verification> {
    for (const candidate of candidates.slice(0, keysTriedMax)) {
      try {
        const { payload, protectedHeader } = await compactVerify(token, candidate.key, {
          algorithms: [...candidate.algorithms],
        })
        const claims = readClaims(payload)
        if (claims === undefined) return invalid("the token is malformed", "JwtInvalid")
        return { claims, header: { ...protectedHeader }, issuer: keys.issuer }
      } catch (error) {
        if (error instanceof joseErrors.JWSSignatureVerificationFailed) continue
        return invalid("the token is malformed", "JwtInvalid")
      }
    }
    return invalid("the signature of the token is wrong", "TokenSignatureInvalid")
  }

  /** Judges the claims by the issuer's settings and those of the check. */
  #judge({ claims, header, issuer }: Signed, rules: TokenRules): Verification {
    const { audiences, clockSkewSeconds } = this.#settings
    const demanded: JudgedBy = {
      audiences: rules.audiences === undefined ? audiences : rules.audiences,
      issuers: rules.issuers === undefined ? (issuer === null ? null : [issuer]) : rules.issuers,
      clockSkewSeconds: rules.clockSkewSeconds ?? clockSkewSeconds,
      requireExpiration: rules.requireExpiration ?? true,
    }
    return judgeClaims(claims, demanded, this.#now()) ?? { kind: "verified", claims, header }
  }

  #remember(key: string, signed: Signed): void {
    this.#forgetOldKeys()
    this.#cache.set(key, { signed, untilMs: this.#monotonic() + cacheMsMax })
  }
}

function sourceOf(settings: IssuerSettings, http: RequestSender): KeySource {
  const { source, algorithms } = settings
  if ("discovery" in source)
    return discoverySource({ url: source.discovery, exact: source.exact === true, algorithms, http })
  return "keys" in source
    ? inlineSource(source.keys, source.issuer, algorithms)
    : fileSource(source.keysFile, source.issuer, algorithms)
}

/** The keys for an algorithm and `kid`. Keys without an id fit every token if they come from the plan. */
function candidatesFor(
  keys: IssuerKeys,
  header: { alg: string; kid: string | undefined },
): VerificationKey[] {
  const { fixed = false } = keys
  return keys.keys.filter(
    (key) =>
      key.algorithms.has(header.alg) &&
      (header.kid === undefined || key.kid === header.kid || (fixed && key.kid === undefined)),
  )
}

/**
 * Algorithm and key id of a compact JWS whose three parts are canonical base64url without padding. jose and Node decode lax spellings, which would give
 * one token many texts. Everything beyond a signed token (`b64`, `crit`, encryption) is rejected.
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

/** The claims; undefined if the payload is not a JSON object. */
function readClaims(payload: Uint8Array): Claims | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload).toString("utf8"))
    return typeof claims === "object" && claims !== null && !Array.isArray(claims)
      ? (claims as Claims)
      : undefined
  } catch {
    return undefined
  }
}
