import { hash } from "node:crypto"

const bytesMax = 512

/** A text of a caller's making as the database's indexes can keep it: itself, or its digest (SHA-256) where it is longer than 512 bytes or has a NUL. */
export function storedKey(key: string): string {
  const isPlain = key.length <= bytesMax && Buffer.byteLength(key) <= bytesMax
  return isPlain && !key.includes("\u0000") ? key : `digest:${hash("sha256", key, "base64url")}`
}
