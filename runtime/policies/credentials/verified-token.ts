import type { Claims, TokenHeader } from "../../identity/verifier.ts"

/** What a verified token leaves in the variable of its step: plain data for expressions, all that a `Jwt` of C# shows. */
export interface VerifiedToken {
  readonly claims: Claims
  /** Header of the JWT, with `alg`; empty for an opaque token. */
  readonly header: TokenHeader
}

// Beside the values and not in them: what stands in a variable goes into caches, logs and bodies.
const texts = new WeakMap<object, string>()

/** What a step leaves of a token that was verified, and `text` for expressions that show it again. */
export function verifiedToken(text: string, { claims, header }: VerifiedToken): VerifiedToken {
  const token = { claims, header }
  texts.set(token, text)
  return token
}

const accessTokens = new WeakSet<object>()

/** What a step leaves of a token we got for ourselves: `AccessToken` of an `Authorization` of C#. */
export function accessToken(text: string): { readonly accessToken: string } {
  const token = { accessToken: text }
  accessTokens.add(token)
  return token
}

/** The token we got; undefined for a value that is none. */
export function accessTokenText(value: unknown): string | undefined {
  return typeof value === "object" && value !== null && accessTokens.has(value)
    ? (value as { readonly accessToken: string }).accessToken
    : undefined
}

/** The token as it was sent; undefined for a value that no verification left. */
export function tokenText(value: unknown): string | undefined {
  return typeof value === "object" && value !== null ? texts.get(value) : undefined
}
