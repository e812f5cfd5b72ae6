/** Claims of a verified token: plain JSON. */
export type Claims = Readonly<Record<string, unknown>>

/** The JOSE header of a verified token: `alg`, optionally `kid`, `typ` and others. Plain JSON. */
export type TokenHeader = Readonly<Record<string, unknown>>

/** Why a token is refused, as a stable code. The codes are those of Azure API Management's `LastError.Reason`. */
export type TokenFault =
  | "JwtInvalid"
  | "TokenSignatureKeyNotFound"
  | "TokenSignatureInvalid"
  | "TokenIssuerNotAllowed"
  | "TokenAudienceNotAllowed"
  | "TokenExpired"

/**
 * Requirements on a token that replace those of its issuer. An absent field is the issuer's own. `audiences` and `issuers` null: any.
 * `requireExpiration` is true by default. `mayFetch` false: only the cached keys are used, without requests and waiting (default: true).
 */
export interface TokenRules {
  readonly audiences?: readonly string[] | null | undefined
  readonly issuers?: readonly string[] | null | undefined
  readonly clockSkewSeconds?: number | undefined
  readonly requireExpiration?: boolean | undefined
  readonly mayFetch?: boolean | undefined
}

/**
 * The result of verifying a token. `invalid`: the client's fault (401); `reason` is a fixed text for `error_description` (RFC 6750 §3), never the token;
 * `claim` names the affected claim, if any; `detail` has values of the token and is for the log alone. `unavailable`: the issuer's keys are unavailable (503).
 */
export type Verification =
  | { readonly kind: "verified"; readonly claims: Claims; readonly header: TokenHeader }
  | {
      readonly kind: "invalid"
      readonly reason: string
      readonly fault: TokenFault
      readonly claim?: string | undefined
      readonly detail?: string | undefined
    }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number }

/** The keys of an issuer at this moment. */
export interface KeyState {
  /** Whether there are keys that may be used. */
  readonly ready: boolean
  /** Why the last attempt to get keys failed; undefined: it did not. */
  readonly lastError: string | undefined
  /** The keys in use, with the algorithms that each one may verify. `id` undefined: the key has none. */
  readonly keys: readonly { readonly id: string | undefined; readonly algorithms: readonly string[] }[]
  /** Since their source last confirmed the keys, in milliseconds; undefined: there are none. */
  readonly ageMs: number | undefined
}

/** Verifies compact JWS access tokens of one issuer. Returns synchronously for a token in its bounded cache, so that the hot path creates no promise. */
export interface TokenVerifier {
  verify(token: string, rules?: TokenRules): Verification | Promise<Verification>
  /** The `iss` of its tokens; undefined while it is unknown, or if any is accepted. */
  issuer(): string | undefined
  /** For status and readiness. */
  state(): KeyState
  close(): void
}
