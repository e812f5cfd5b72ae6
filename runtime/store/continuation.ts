/**
 * A continuation token for clients: opaque, from the alphabet `[A-Za-z0-9_-]`. `kind` names the listing, so that one listing refuses the
 * token of another.
 */
export function encodeToken(kind: string, position: readonly string[]): string {
  return Buffer.from(JSON.stringify([kind, ...position]), "utf8").toString("base64url")
}

/** The position in a token of that kind with `length` parts; undefined for a text that `encodeToken` did not make. */
export function decodeToken(kind: string, token: string, length: number): readonly string[] | undefined {
  if (!/^[A-Za-z0-9_-]{1,5120}$/.test(token)) return undefined
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, "base64url").toString("utf8"))
    if (!Array.isArray(parts) || parts.length !== length + 1 || parts[0] !== kind) return undefined
    // PostgreSQL cannot store NUL in a text.
    if (!parts.every((part) => typeof part === "string" && !part.includes("\0"))) return undefined
    return parts.slice(1) as string[]
  } catch {
    return undefined
  }
}
