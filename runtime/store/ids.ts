import { incrementBase32, monotonicFactory } from "ulid"

/** A new ULID, greater than every earlier one of this process. */
export const newId: () => string = monotonicFactory()

/** A new ULID greater than `previous`, which another process with a faster clock may have made. */
export function newIdAfter(previous: string | null): string {
  const id = newId()
  return previous === null || id > previous ? id : incrementBase32(previous)
}
