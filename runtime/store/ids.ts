import { hash, randomBytes } from "node:crypto"
import { incrementBase32, monotonicFactory } from "ulid"

/** A new ULID, greater than every earlier one of this process. */
export const newId: () => string = monotonicFactory()

const bytesMax = 512

/** A new ULID greater than `previous`, which a process with a faster clock may have made. */
export function newIdAfter(previous: string | null): string {
  const id = newId()
  return previous === null || id > previous ? id : incrementBase32(previous)
}

/** The stamp of a new commit (see `Commit`): 72 random bits in 12 characters. */
export function newStamp(): string {
  return randomBytes(9).toString("base64url")
}

/** A caller's text in a form that the database can index: the text itself, or its SHA-256 when it has more than 512 bytes or a NUL. */
export function storedKey(key: string): string {
  const isPlain = key.length <= bytesMax && Buffer.byteLength(key) <= bytesMax
  return isPlain && !key.includes("\u0000") ? key : `digest:${hash("sha256", key, "base64url")}`
}
