import { type OwnCookies, removedCookie, setCookie } from "./own-cookies.ts"
import type { SealingKeys } from "./sealed-text.ts"
import { type OidcSession, sessionOf, sessionText } from "./session.ts"
import { type RefreshTurn, type SessionPlace, type SessionRead, SessionTooLarge } from "./session-place.ts"

/** Browsers accept 4,096 bytes for name and value of a cookie. */
const partLength = 3_600
/** Three parts leave room for other fields in the 16 KiB that servers accept for a head. */
const partsMax = 3

/**
 * Sessions that only the browser has, encrypted, in up to three cookies. The first one begins with their number, and has the name of the client; the others
 * have a number after it.
 */
export class CookieSessions implements SessionPlace {
  readonly #client: string
  readonly #keys: SealingKeys
  readonly #purpose: string

  constructor(client: string, keys: SealingKeys) {
    this.#client = client
    this.#keys = keys
    this.#purpose = `session ${client}`
  }

  read(cookies: OwnCookies): SessionRead {
    const first = cookies.get(this.#client)
    if (first === undefined) return { kind: "none" }
    const parts = this.#parts(first, cookies)
    if (parts === undefined)
      return { kind: "damaged", cause: "a cookie of the session is missing, or there are two" }
    const opened = this.#keys.open(this.#purpose, parts)
    if (opened === undefined)
      return { kind: "damaged", cause: "the session was altered, or encrypted with another key" }
    const session = sessionOf(opened.text)
    return session === undefined
      ? { kind: "damaged", cause: "the session is of another version" }
      : { kind: "found", session, isOld: opened.isOld }
  }

  keep(session: OidcSession): OidcSession {
    return session
  }

  lines(session: OidcSession, forMs: number, cookies: OwnCookies): string[] {
    const sealed = this.#keys.seal(this.#purpose, sessionText(session))
    const count = Math.ceil((sealed.length + 2) / partLength)
    if (count > partsMax)
      throw new SessionTooLarge(
        `the session has ${sealed.length} bytes, and cookies have room for ${partsMax * partLength}; write \`session redis\`, forward no token, or have the provider put less into its tokens`,
      )
    const text = `${count}.${sealed}`
    const parts = Array.from({ length: count }, (_, at) =>
      setCookie(this.#name(at), text.slice(at * partLength, (at + 1) * partLength), forMs / 1000),
    )
    return [...parts, ...this.#removed(cookies, count)]
  }

  remove(cookies: OwnCookies): string[] {
    return this.#removed(cookies, 0)
  }

  takeTurn(): RefreshTurn {
    return { kind: "mine" }
  }

  endTurn(): void {}

  /** The joined parts; undefined when one is missing or given twice. */
  #parts(first: readonly string[], cookies: OwnCookies): string | undefined {
    const [head = ""] = first
    const count = Number(/^([1-9])\./.exec(head)?.[1])
    if (first.length > 1 || !(count <= partsMax)) return undefined
    let text = head.slice(2)
    for (let at = 1; at < count; at += 1) {
      const found = cookies.get(this.#name(at))
      if (found?.length !== 1) return undefined
      text += found[0]
    }
    return text
  }

  /** Lines that remove the parts of the request from an index on. */
  #removed(cookies: OwnCookies, from: number): string[] {
    return Array.from({ length: partsMax }, (_, at) => this.#name(at))
      .slice(from)
      .filter((name) => cookies.has(name))
      .map(removedCookie)
  }

  #name(at: number): string {
    return at === 0 ? this.#client : `${this.#client}.${at}`
  }
}
