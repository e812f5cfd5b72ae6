import { createHash, randomBytes, timingSafeEqual } from "node:crypto"

/** A new control token: 256 bits, base64url. */
export function newControlToken(): string {
  return randomBytes(32).toString("base64url")
}

/**
 * Makes the guard of the control API: true only for `Authorization: Bearer TOKEN` with exactly this token. It compares digests, so that
 * timing reveals neither the length nor a common prefix.
 * @throws Error for a token under 16 characters, which could be guessed
 */
export function bearerGuard(token: string): (authorization: string | undefined) => boolean {
  if (token.length < 16) throw new Error("the control token has fewer than 16 characters")
  const expected = digestOf(token)
  return (authorization) => {
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1]
    return given !== undefined && timingSafeEqual(digestOf(given), expected)
  }
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}
