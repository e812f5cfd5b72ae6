import { storedKey } from "../store/stored-key.ts"
import { unnamedUsers, userMark } from "../store/usage.ts"

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
