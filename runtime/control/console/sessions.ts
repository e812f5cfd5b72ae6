import { randomBytes } from "node:crypto"
import { LRUCache } from "lru-cache"
import { cookieValues } from "../../http/cookies.ts"
import { SealingKey } from "../../sealing/sealing-key.ts"

/** With `__Host-` a browser takes the cookie only over HTTPS (or from this machine), without Domain and for the path `/`. */
const cookieName = "__Host-sallyport"
/** A session that nobody uses ends after this time, and every session after `lifeMs`. */
const idleMs = 30 * 60_000
const lifeMs = 12 * 3_600_000
/** The cookie is written again after this time, not with every response. */
const renewMs = 60_000
/** Browsers drop larger cookies (RFC 6265 §6.1: 4096 bytes with name and attributes). */
const cookieBytesMax = 3_900
const endedMax = 10_000
const purpose = "console session"

/** What the cookie contains, encrypted: short names, because a token of an issuer leaves little room. */
interface SealedSession {
  /** Value of the Authorization header. */
  readonly c: string
  /** Start and last use, in milliseconds since the epoch. */
  readonly s: number
  readonly u: number
  readonly i: string
}

/** The session of a request. `renewal`: the lines of Set-Cookie that note its use, or give it new tokens. */
export interface ConsoleSession {
  readonly authorization: string
  readonly renewal: readonly string[]
}

/**
 * Sessions of the console. The cookie is the operator's own credential, encrypted with a key of the control token, so every process with this token accepts it, and
 * each request is checked like one with the credential itself: roles, revocation and expiry have effect at once.
 */
export class ConsoleSessions {
  readonly #key: SealingKey
  readonly #now: () => number
  /** Ids of sessions that were ended here. */
  readonly #ended = new LRUCache<string, true>({ max: endedMax, ttl: lifeMs })

  /** `now`: milliseconds since the epoch. */
  constructor(token: string, now: () => number = Date.now) {
    this.#key = new SealingKey("console", token)
    this.#now = now
  }

  /** The line of Set-Cookie that begins a session with this credential; undefined: the credential is too long for a cookie. */
  begin(authorization: string): string | undefined {
    const now = this.#now()
    return this.#lineOf({ c: authorization, s: now, u: now, i: randomBytes(12).toString("base64url") })
  }

  /** The session in a Cookie header; undefined: none that is valid. */
  find(cookies: string | undefined): ConsoleSession | undefined {
    const session = this.#open(cookies)
    if (session === undefined) return undefined
    const now = this.#now()
    const line = now - session.u < renewMs ? undefined : this.#lineOf({ ...session, u: now })
    return { authorization: session.c, renewal: line === undefined ? [] : [line] }
  }

  /** Ends the session in a Cookie header, in this process. Returns the line of Set-Cookie that removes it from the browser. */
  end(cookies: string | undefined): string {
    const session = this.#open(cookies)
    if (session !== undefined) this.#ended.set(session.i, true)
    return cookieLine("", 0)
  }

  /** Whether a session that was valid when a stream began may continue: it was not ended, and is not too old. The browser notes its use elsewhere. */
  continues(cookies: string | undefined): boolean {
    const session = this.#read(cookies)
    return session !== undefined && !this.#ended.has(session.i) && this.#now() - session.s < lifeMs
  }

  #open(cookies: string | undefined): SealedSession | undefined {
    const session = this.#read(cookies)
    if (session === undefined) return undefined
    const now = this.#now()
    const isOver = now - session.u >= idleMs || now - session.s >= lifeMs || this.#ended.has(session.i)
    return isOver ? undefined : session
  }

  #read(cookies: string | undefined): SealedSession | undefined {
    const [value] = cookieValues(cookies, cookieName).filter((each) => /^[A-Za-z0-9_-]+$/.test(each))
    if (value === undefined) return undefined
    const text = this.#key.open(purpose, Buffer.from(value, "base64url"))
    return text === undefined ? undefined : (JSON.parse(text) as SealedSession)
  }

  #lineOf(session: SealedSession): string | undefined {
    const value = this.#key.seal(purpose, JSON.stringify(session)).toString("base64url")
    if (value.length > cookieBytesMax) return undefined
    return cookieLine(value, Math.min(idleMs, session.s + lifeMs - this.#now()) / 1000)
  }
}

function cookieLine(value: string, seconds: number): string {
  return `${cookieName}=${value}; Path=/; Max-Age=${Math.max(0, Math.floor(seconds))}; Secure; HttpOnly; SameSite=Strict`
}
