import type { Claims, TokenHeader } from "../../identity/verifier.ts"

/** The variable a step sets to a verified token: plain data for expressions, with everything that a C# `Jwt` has. */
export interface VerifiedToken {
  readonly claims: Claims
  /** Header of the JWT, with `alg`; empty for an opaque token. */
  readonly header: TokenHeader
}

// Kept outside the values, because variables go into caches, logs and bodies.
const texts = new WeakMap<object, string>()

/** The value for a verified token; `text` is for expressions that show the token again. */
export function verifiedToken(text: string, { claims, header }: VerifiedToken): VerifiedToken {
  const token = { claims, header }
  texts.set(token, text)
  return token
}

const accessTokens = new WeakSet<object>()

/** The value for a token that the gateway requested: `AccessToken` of a C# `Authorization`. */
export function accessToken(text: string): { readonly accessToken: string } {
  const token = { accessToken: text }
  accessTokens.add(token)
  return token
}

/** The token the gateway requested; undefined for any other value. */
export function accessTokenText(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && accessTokens.has(value)
    ? (value as { readonly accessToken: string }).accessToken
    : undefined
}

/** The token as the client sent it; undefined for a value that is not a verified token. */
export function tokenText(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? texts.get(value) : undefined
}
