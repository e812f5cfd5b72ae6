/** Claims of a verified token: plain JSON. */
export type Claims = Readonly<Record<string, unknown>>

/**
 * Outcome of verifying a token. `invalid`: the client's fault (401); `reason` is fixed text fit for `error_description` (RFC 6750 §3), never the token;
 * `claim` names the claim it is about, when it is about one.
 * `unavailable`: the issuer's keys are not to be had (503).
 */
export type Verification =
  | { readonly kind: "verified"; readonly claims: Claims }
  | { readonly kind: "invalid"; readonly reason: string; readonly claim?: string | undefined }
  | { readonly kind: "unavailable"; readonly retryAfterSeconds: number }

/** Verifies compact JWS access tokens of one issuer. Answers synchronously when the token was verified before (bounded cache), so the hot path makes no promise. */
export interface TokenVerifier {
  verify(token: string): Verification | Promise<Verification>
  /** For status and readiness: whether keys are at hand, and the last trouble in getting them. */
  state(): { readonly ready: boolean; readonly lastError: string | undefined }
  close(): void
}
