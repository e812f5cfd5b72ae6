/** A session in a list of sessions with one name. */
export interface ListedSession {
  readonly session: string
  /** The wall clock, and when the session ends; milliseconds. */
  readonly now: number
  readonly untilMs: number
  /** `iat` of its ID token. */
  readonly issuedSeconds: number
}

/** What keeps sessions for all processes of a gateway: texts by key, each until its time is over, and lists of sessions. Methods reject while it is unavailable. */
export interface SessionStore {
  /** Null: there is no text. */
  get(key: string): Promise<string | null>
  /** Keeps a text for so many milliseconds. False: it was not kept, because there is one (`absent`) or none (`present`). */
  set(key: string, text: string, ms: number, only?: "absent" | "present"): Promise<boolean>
  /** Removes a text; returns how many there were. */
  remove(key: string): Promise<number>
  /** Adds a session to a list. False: a logout has ended the list, not before the ID token of the session. */
  list(key: string, session: ListedSession): Promise<boolean>
  /** Remembers a logout for so many milliseconds, and returns the sessions of the list. They stay in it, so that a logout that failed half-way can be repeated. */
  end(key: string, issuedSeconds: number, rememberedMs: number): Promise<readonly string[]>
  /** Removes a session from a list. */
  unlist(key: string, session: string): Promise<void>
}
