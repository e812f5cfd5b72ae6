import { hash, randomBytes } from "node:crypto"
import { incrementBase32, monotonicFactory } from "ulid"

/** A new ULID, greater than every earlier one of this process. */
export const newId: () => string = monotonicFactory()

const bytesMax = 512

/** A new ULID greater than `previous`, which another process with a faster clock may have made. */
export function newIdAfter(previous: string | null): string {
  const id = newId()
  return previous === null || id > previous ? id : incrementBase32(previous)
}

/** The stamp of a new commit, see `Commit`: 72 random bits in 12 characters. */
export function newStamp(): string {
  return randomBytes(9).toString("base64url")
}

/** A text of a caller's making as the database's indexes can keep it: itself, or its digest (SHA-256) where it is longer than 512 bytes or has a NUL. */
export function storedKey(key: string): string {
  const isPlain = key.length <= bytesMax && Buffer.byteLength(key) <= bytesMax
  return isPlain && !key.includes("\u0000") ? key : `digest:${hash("sha256", key, "base64url")}`
}
