import { randomBytes } from "node:crypto"
import { incrementBase32, monotonicFactory } from "ulid"

/** A new ULID, greater than every earlier one of this process. */
export const newId: () => string = monotonicFactory()

/** A new ULID greater than `previous`, which another process with a faster clock may have made. */
export function newIdAfter(previous: string | null): string {
  const id = newId()
  return previous === null || id > previous ? id : incrementBase32(previous)
}

/** The stamp of a new commit, see `Commit`: 72 random bits in 12 characters. */
export function newStamp(): string {
  return randomBytes(9).toString("base64url")
}
