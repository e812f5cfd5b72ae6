/** Claims of a verified token: plain JSON. */
export type Claims = Readonly<Record<string, unknown>>

/** The JOSE header of a verified token: `alg`, perhaps `kid`, `typ` and others. Plain JSON. */
export type TokenHeader = Readonly<Record<string, unknown>>

/** Why a token is refused, as a stable word. The words are those Azure API Management gives as `LastError.Reason`. */
export type TokenFault =
  | "JwtInvalid"
  | "TokenSignatureKeyNotFound"
  | "TokenSignatureInvalid"
  | "TokenIssuerNotAllowed"
  | "TokenAudienceNotAllowed"
  | "TokenExpired"

/**
 * What a place demands of a token otherwise than its issuer says. What is not given is the issuer's own. `audiences` and `issuers` null: any.
 * `requireExpiration` is true unless said. `mayFetch` false: the keys that are there decide, nothing is asked for or waited for (default true).
 */
export interface TokenRules {
  readonly audiences?: readonly string[] | null | undefined
  readonly issuers?: readonly string[] | null | undefined
  readonly clockSkewSeconds?: number | undefined
  readonly requireExpiration?: boolean | undefined
  readonly mayFetch?: boolean | undefined
}

/**
 * Outcome of verifying a token. `invalid`: the client's fault (401); `reason` is fixed text fit for `error_description` (RFC 6750 §3), never the token;
 * `claim` names the claim it is about, when it is about one.
 * `unavailable`: the issuer's keys are not to be had (503).
 */
export type Verification =
  | { readonly kind: "verified"; readonly claims: Claims; readonly header: TokenHeader }
  | {
      readonly kind: "invalid"
      readonly reason: string
      readonly fault: TokenFault
      readonly claim?: string | undefined
    }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number }

/** Verifies compact JWS access tokens of one issuer. Answers synchronously when the token was verified before (bounded cache), so the hot path makes no promise. */
export interface TokenVerifier {
  verify(token: string, rules?: TokenRules): Verification | Promise<Verification>
  /** The `iss` its tokens have; undefined while it is not known, or when any will do. */
  issuer(): string | undefined
  /** For status and readiness: whether keys are at hand, and the last trouble in getting them. */
  state(): { readonly ready: boolean; readonly lastError: string | undefined }
  close(): void
}
