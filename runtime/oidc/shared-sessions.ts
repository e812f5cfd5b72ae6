import { createHash, randomBytes } from "node:crypto"
import { setTimeout as wait } from "node:timers/promises"
import { type OwnCookies, removedCookie, setCookie } from "./own-cookies.ts"
import type { SealingKeys } from "./sealed-text.ts"
import { claimsIn, type OidcSession, sessionOf, sessionText } from "./session.ts"
import { type ProviderNames, SessionIndex } from "./session-index.ts"
import {
  type RefreshTurn,
  SessionEnded,
  type SessionPlace,
  type SessionRead,
  SessionsUnavailable,
} from "./session-place.ts"
import type { SessionStore } from "./session-store.ts"

const handlePattern = /^[A-Za-z0-9_-]{43}$/
/** Longer than a refresh can take: requests to the provider end after ten seconds. */
const turnMs = 15_000
const pollMs = 100
const waitMs = 5_000
/** A user may have many sessions. */
const endedTogether = 50

/**
 * Sessions in a store of all processes (Redis); the browser has only a random id. The store has the digest of the id and the encrypted session, so neither its contents nor a backup of
 * them can be used without the keys. While it is unavailable there are no sessions: requests get 503.
 */
export class SharedSessions implements SessionPlace {
  readonly #client: string
  readonly #keys: SealingKeys
  readonly #store: SessionStore
  readonly #prefix: string
  readonly #index: SessionIndex
  readonly #now: () => number

  /** `prefix`: of all keys on the server, the same in all processes that share the sessions. */
  constructor(
    client: string,
    keys: SealingKeys,
    { store, prefix, now }: { store: SessionStore; prefix: string; now: () => number },
  ) {
    this.#client = client
    this.#keys = keys
    this.#store = store
    this.#prefix = `${prefix}oidc/${client}/`
    this.#index = new SessionIndex(store, this.#prefix, (text) => keys.digests(text))
    this.#now = now
  }

  async read(cookies: OwnCookies): Promise<SessionRead> {
    const found = cookies.get(this.#client)
    if (found === undefined) return { kind: "none" }
    const [handle = ""] = found
    if (found.length > 1 || !handlePattern.test(handle))
      return { kind: "damaged", cause: "the id of the session is malformed, or there are two" }
    return this.#read(handle)
  }

  /** A session that was removed meanwhile, by a logout, must not come back with its refreshed tokens. */
  async keep(
    session: OidcSession,
    forMs: number,
    previous: OidcSession | undefined,
  ): Promise<OidcSession | undefined> {
    const handle = previous?.handle ?? randomBytes(32).toString("base64url")
    const key = this.#keyOf(handle)
    const sealed = this.#keys.seal(this.#purpose(key), sessionText(session))
    const ms = Math.max(1, Math.floor(forMs))
    const only = previous === undefined ? undefined : "present"
    if (!(await this.#try(() => this.#store.set(key, sealed, ms, only)))) return undefined
    if (previous === undefined) await this.#list(session, key, forMs)
    return { ...session, handle }
  }

  /**
   * Ends all sessions that a provider means, and returns their number. `issuedSeconds`: when the provider said so. Rejects with SessionsUnavailable; the
   * logout can then be repeated.
   */
  async endAll(names: ProviderNames, issuedSeconds: number): Promise<number> {
    const found = await this.#try(() => this.#index.find(names, issuedSeconds))
    const all = [...found]
    let ended = 0
    for (let at = 0; at < all.length; at += endedTogether)
      await Promise.all(
        all.slice(at, at + endedTogether).map(async ([session, places]) => {
          ended += await this.#try(() => this.#store.remove(this.#prefix + session))
          await this.#try(() => this.#index.forget(session, places))
        }),
      )
    return ended
  }

  /** Whether a logout token was already used, by the digest of its id. */
  async isUsed(id: string): Promise<boolean> {
    const keys = this.#keys.digests(`jti ${id}`).map((digest) => `${this.#prefix}logout/${digest}`)
    for (const key of keys) if ((await this.#try(() => this.#store.get(key))) !== null) return true
    return false
  }

  /** Remembers a logout token, for at least as long as it is valid. */
  async use(id: string, forMs: number): Promise<void> {
    const key = `${this.#prefix}logout/${this.#keys.digests(`jti ${id}`)[0]}`
    await this.#try(() => this.#store.set(key, "1", forMs))
  }

  lines(session: OidcSession, forMs: number): string[] {
    return [setCookie(this.#client, session.handle ?? "", forMs / 1000)]
  }

  async remove(cookies: OwnCookies): Promise<string[]> {
    const handles = (cookies.get(this.#client) ?? []).filter((each) => handlePattern.test(each))
    for (const handle of handles) await this.#try(() => this.#store.remove(this.#keyOf(handle)))
    return cookies.has(this.#client) ? [removedCookie(this.#client)] : []
  }

  /** Only one process refreshes a session at a time; the others wait for its result. */
  async takeTurn(session: OidcSession): Promise<RefreshTurn> {
    const { handle = "" } = session
    const until = performance.now() + waitMs
    do {
      const taken = await this.#try(() => this.#store.set(this.#turnOf(handle), "1", turnMs, "absent"))
      const now = await this.#read(handle)
      if (now.kind !== "found" || now.session.refreshToken !== session.refreshToken) {
        if (taken) this.endTurn(session)
        return now.kind === "found" ? { kind: "done", session: now.session } : { kind: "gone" }
      }
      if (taken) return { kind: "mine" }
      await wait(pollMs)
    } while (performance.now() < until)
    return { kind: "busy" }
  }

  endTurn({ handle = "" }: OidcSession): void {
    // If this fails, the turn ends by its time.
    this.#try(() => this.#store.remove(this.#turnOf(handle))).catch(() => undefined)
  }

  /** Lists a new session by the names that its provider has for it. */
  async #list(session: OidcSession, key: string, forMs: number): Promise<void> {
    const { sid, sub, iat } = claimsIn(session.idToken) ?? {}
    const now = this.#now()
    const times = { now, untilMs: now + forMs, issuedSeconds: typeof iat === "number" ? iat : now / 1000 }
    const names = { sid: typeof sid === "string" ? sid : undefined, sub: String(sub) }
    if (await this.#try(() => this.#index.add(names, key.slice(this.#prefix.length), times))) return
    await this.#try(() => this.#store.remove(key))
    throw new SessionEnded("the provider ended the session during the login")
  }

  async #read(handle: string): Promise<SessionRead> {
    const key = this.#keyOf(handle)
    const sealed = await this.#try(() => this.#store.get(key))
    if (sealed === null) return { kind: "damaged", cause: "the session has ended, or is unknown" }
    const opened = this.#keys.open(this.#purpose(key), sealed)
    if (opened === undefined)
      return { kind: "damaged", cause: "the session was altered, or encrypted with another key" }
    const session = sessionOf(opened.text, handle)
    return session === undefined
      ? { kind: "damaged", cause: "the session is of another version" }
      : { kind: "found", session, isOld: opened.isOld }
  }

  async #try<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task()
    } catch (error) {
      throw new SessionsUnavailable(error instanceof Error ? error.message : String(error))
    }
  }

  #purpose(key: string): string {
    return `session ${this.#client} ${key}`
  }

  #keyOf(handle: string): string {
    return `${this.#prefix}session/${createHash("sha256").update(handle).digest("base64url")}`
  }

  #turnOf(handle: string): string {
    return `${this.#keyOf(handle)}/turn`
  }
}
