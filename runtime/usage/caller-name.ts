import { hash } from "node:crypto"
import { unnamedUsers, userMark } from "../store/usage.ts"

const bytesMax = 512

/** A text of a caller's making as the database's indexes can keep it: itself, or its digest (SHA-256) where it is longer than 512 bytes or has a NUL. */
export function storedKey(key: string): string {
  const isPlain = key.length <= bytesMax && Buffer.byteLength(key) <= bytesMax
  return isPlain && !key.includes("\u0000") ? key : `digest:${hash("sha256", key, "base64url")}`
}

/**
 * Under which name a call is counted: its subscription's, or that of its user, who is known by a token. At most `usersMax` users get a line of their own in one hour, so that nobody fills the database with users; those who come
 * after them are counted together.
 */
export class CallerNames {
  readonly #usersMax: number
  #hour = 0
  #users = new Set<string>()

  constructor(usersMax: number) {
    this.#usersMax = usersMax
  }

  /** `hour` is any number that stands for the hour of the call. */
  of(subscription: string, user: string, hour: number): string {
    if (subscription !== "" || user === "") return subscription
    if (hour !== this.#hour) {
      this.#hour = hour
      this.#users = new Set()
    }
    if (!this.#users.has(user)) {
      if (this.#users.size >= this.#usersMax) return `${userMark}${unnamedUsers}`
      this.#users.add(user)
    }
    return `${userMark}${storedKey(user)}`
  }
}
