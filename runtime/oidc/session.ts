import type { Claims } from "../identity/verifier.ts"

/** What one login has given. Times are in milliseconds since the epoch. */
export interface OidcSession {
  readonly idToken: string
  /** Kept only if a route forwards it. */
  readonly accessToken: string | undefined
  readonly refreshToken: string | undefined
  /** When the access token expires, and its lifetime; undefined: the provider did not say. */
  readonly expires: { readonly atMs: number; readonly afterMs: number } | undefined
  readonly startedMs: number
  /** The id by which a session in Redis is found. */
  readonly handle: string | undefined
}

/** The session as text. */
export function sessionText({ idToken, accessToken, refreshToken, expires, startedMs }: OidcSession): string {
  return JSON.stringify({
    ...{ i: idToken, a: accessToken, r: refreshToken },
    ...(expires === undefined ? {} : { e: expires.atMs, l: expires.afterMs }),
    s: startedMs,
  })
}

/** The inverse of `sessionText`; undefined for a text of another version. */
export function sessionOf(text: string, handle?: string): OidcSession | undefined {
  try {
    const { i, a, r, e, l, s } = JSON.parse(text) as Readonly<Record<string, unknown>>
    if (typeof i !== "string" || typeof s !== "number") return undefined
    return {
      idToken: i,
      accessToken: typeof a === "string" ? a : undefined,
      refreshToken: typeof r === "string" ? r : undefined,
      expires: typeof e === "number" && typeof l === "number" ? { atMs: e, afterMs: l } : undefined,
      startedMs: s,
      handle,
    }
  } catch {
    return undefined
  }
}

/** The claims of an ID token that was verified when the session got it; undefined if it is no JWT. */
export function claimsIn(idToken: string): Claims | undefined {
  try {
    const claims: unknown = JSON.parse(
      Buffer.from(idToken.split(".", 2)[1] ?? "", "base64url").toString("utf8"),
    )
    return typeof claims === "object" && claims !== null ? (claims as Claims) : undefined
  } catch {
    return undefined
  }
}
