import { createHash, randomBytes } from "node:crypto"
import { type OwnCookies, removedCookie, setCookie } from "./own-cookies.ts"
import type { SealingKeys } from "./sealed-text.ts"

/** A login that the browser has begun and not finished. */
export interface PendingLogin {
  readonly state: string
  readonly nonce: string
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string
  readonly redirectUri: string
  /** Path and query of the page that the browser wanted. */
  readonly returnTo: string
  readonly untilMs: number
}

/** Time for the login at the provider. */
const lifetimeMs = 10 * 60_000
/** Logins in other tabs that a browser keeps; each has a cookie of about 700 bytes. */
const pendingMax = 4

/**
 * Logins that browsers have begun. Each is in an encrypted cookie of its own, so that several tabs can log in at the same time; the provider only gets the
 * state and the nonce. The response of the provider is accepted only from the browser with the cookie, once, and within ten minutes.
 */
export class PendingLogins {
  readonly #client: string
  readonly #keys: SealingKeys
  readonly #now: () => number

  constructor(client: string, keys: SealingKeys, now: () => number) {
    this.#client = client
    this.#keys = keys
    this.#now = now
  }

  /** A new login, and the lines that give it to the browser. The oldest of too many others are removed. */
  begin(
    redirectUri: string,
    returnTo: string,
    cookies: OwnCookies,
  ): { login: PendingLogin; lines: string[] } {
    const login: PendingLogin = {
      state: randomBytes(24).toString("base64url"),
      nonce: randomBytes(24).toString("base64url"),
      verifier: randomBytes(32).toString("base64url"),
      ...{ redirectUri, returnTo },
      untilMs: this.#now() + lifetimeMs,
    }
    const name = this.#nameOf(login.state)
    const sealed = this.#keys.seal(`login ${name}`, JSON.stringify(login))
    // Browsers send older cookies first (RFC 6265 §5.4).
    const others = [...cookies.keys()].filter((each) => each.startsWith(this.#prefix))
    const surplus = others.slice(0, Math.max(0, others.length - pendingMax + 1))
    return { login, lines: [setCookie(name, sealed, lifetimeMs / 1000), ...surplus.map(removedCookie)] }
  }

  /** The login with this state; text: why there is none. */
  find(state: string, cookies: OwnCookies): PendingLogin | string {
    const name = this.#nameOf(state)
    const found = cookies.get(name)
    if (found === undefined)
      return "the login was not begun in this browser, or was already finished, or took longer than ten minutes"
    const opened = found.length > 1 ? undefined : this.#keys.open(`login ${name}`, found[0] ?? "")
    if (opened === undefined) return "the cookie of the login was altered, or encrypted with another key"
    const login = JSON.parse(opened.text) as PendingLogin
    if (login.state !== state) return "the state is of another login"
    return this.#now() < login.untilMs ? login : "the login took longer than ten minutes"
  }

  /** The line that removes a login: its response is accepted only once. */
  removed(state: string): string {
    return removedCookie(this.#nameOf(state))
  }

  get #prefix(): string {
    return `${this.#client}.login.`
  }

  #nameOf(state: string): string {
    return this.#prefix + createHash("sha256").update(state).digest("base64url").slice(0, 16)
  }
}

/** The challenge of a code verifier (RFC 7636 §4.2, `S256`). */
export function challengeOf(verifier: string): string {
  return createHash("sha256").update(verifier).digest("base64url")
}
