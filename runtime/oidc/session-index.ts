import type { SessionStore } from "./session-store.ts"

/** How a provider names what ends: its own session, or its user, or both. Texts of a verified token. */
export interface ProviderNames {
  readonly sid: string | undefined
  readonly sub: string | undefined
}

/** A logout is remembered this long, for a login that is being finished at the same time. */
const rememberedMs = 60_000

/** Finds the shared sessions that a provider means. `digests`: of a text, one for each key; the first one is for new entries. */
export class SessionIndex {
  readonly #store: SessionStore
  readonly #prefix: string
  readonly #digests: (text: string) => readonly string[]

  constructor(store: SessionStore, prefix: string, digests: (text: string) => readonly string[]) {
    this.#store = store
    this.#prefix = prefix
    this.#digests = digests
  }

  /** Adds a session. False: the provider has ended it meanwhile. `issuedSeconds`: `iat` of its ID token. Rejects while the store is unavailable. */
  async add(
    { sid, sub }: ProviderNames,
    session: string,
    { now, untilMs, issuedSeconds }: { now: number; untilMs: number; issuedSeconds: number },
  ): Promise<boolean> {
    // A logout that names a session of the provider must also end those whose ID token does not name theirs.
    const texts = [sid === undefined ? `without sid ${sub}` : `sid ${sid}`, `sub ${sub}`]
    for (const text of texts) {
      const key = this.#keyOf(this.#digests(text)[0] ?? "")
      if (!(await this.#store.list(key, { session, now, untilMs, issuedSeconds }))) return false
    }
    return true
  }

  /**
   * The sessions of a logout, each with the places where it is listed. `sid` alone determines them if it is given: the same user may have sessions in other
   * browsers. Rejects while the store is unavailable.
   */
  async find({ sid, sub }: ProviderNames, issuedSeconds: number): Promise<Map<string, string[]>> {
    const texts =
      sid === undefined
        ? [`sub ${sub}`]
        : [`sid ${sid}`, ...(sub === undefined ? [] : [`without sid ${sub}`])]
    const found = new Map<string, string[]>()
    for (const place of texts.flatMap((text) => this.#digests(text)).map((each) => this.#keyOf(each))) {
      const sessions = await this.#store.end(place, issuedSeconds, rememberedMs)
      for (const session of sessions) found.set(session, [...(found.get(session) ?? []), place])
    }
    return found
  }

  /** Removes an ended session from the places where `find` has found it. */
  async forget(session: string, places: readonly string[]): Promise<void> {
    for (const place of places) await this.#store.unlist(place, session)
  }

  #keyOf(digest: string): string {
    return `${this.#prefix}of/${digest}`
  }
}
