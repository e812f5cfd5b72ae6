import { hash } from "node:crypto"
import { LRUCache } from "lru-cache"
import type { Claims, Verification } from "../identity/verifier.ts"
import type { OwnCookies } from "./own-cookies.ts"
import { type Provider, ProviderError, type TokenSet } from "./provider.ts"
import { claimsIn, type OidcSession } from "./session.ts"
import { type SessionPlace, type SessionRead, SessionsUnavailable, SessionTooLarge } from "./session-place.ts"

/** What a route needs of a session: the token that the backend gets, and the token whose claims count (absent: the ID token). */
export interface SessionWants {
  readonly forward?: "access-token" | "id-token" | undefined
  readonly claimsFrom?: "access-token" | undefined
}

/**
 * The session of a request. `cookies`: Set-Cookie lines for the response. `ended`: it was there, and is not valid any more. `unavailable`: nobody can say
 * at the moment.
 */
export type SessionFound =
  | {
      readonly kind: "session"
      readonly claims: Claims
      readonly token: string | undefined
      readonly cookies: readonly string[]
    }
  | { readonly kind: "none" }
  | { readonly kind: "ended"; readonly cause: string }
  | { readonly kind: "unavailable"; readonly what: "provider" | "sessions"; readonly cause: string }

/** How long sessions last. `keepsAccessToken`: a route forwards it or reads its claims; `readsAccessToken`: it reads its claims. `now`: the wall clock in milliseconds. */
export interface SessionRules {
  readonly lifetimeMs: number
  readonly keepsAccessToken: boolean
  readonly readsAccessToken: boolean
  readonly now: () => number
}

type Renewal =
  | { readonly kind: "renewed"; readonly session: OidcSession }
  | { readonly kind: "refused"; readonly cause: string }
  | { readonly kind: "unavailable"; readonly what: "provider" | "sessions"; readonly cause: string }

/** A session is refreshed this long before its access token expires, or in the last fifth of a shorter lifetime: so a short failure of the provider does no harm. */
const earlyMsMax = 60_000
/**
 * How long the result of a refresh is remembered: a page sends several requests with the cookie from before the refresh. A provider that rotates refresh
 * tokens would take a second use of the old one for a theft, and end the session.
 */
const rememberedMs = 60_000
const failureMs = 1_000
const rememberedMax = 5_000
/** Clocks of two processes may differ. */
const skewMs = 60_000
const notRefreshed = "its token has expired and was not refreshed"
const noKeys = "the keys of the issuer are unavailable"

/** Reads sessions, and refreshes their tokens: one refresh at a time for each session. */
export class SessionKeeper {
  readonly #place: SessionPlace
  readonly #provider: Provider
  readonly #rules: SessionRules
  readonly #renewals = new LRUCache<string, Promise<Renewal>>({
    maxSize: rememberedMax,
    sizeCalculation: () => 1,
  })

  constructor(place: SessionPlace, provider: Provider, rules: SessionRules) {
    this.#place = place
    this.#provider = provider
    this.#rules = rules
  }

  /** The session of a request, synchronously if nothing outside must be asked. `wants`: it must have these tokens, and they must be valid. */
  find(cookies: OwnCookies, wants: SessionWants): SessionFound | Promise<SessionFound> {
    const read = this.#place.read(cookies)
    if (!(read instanceof Promise)) return this.#judge(read, cookies, wants)
    return read.then((late) => this.#judge(late, cookies, wants), unavailableSessions)
  }

  /** A new session from the tokens of a login, and the lines that give it to the browser. Rejects with ProviderError, SessionTooLarge, SessionsUnavailable or SessionEnded. */
  async begin(tokens: TokenSet, cookies: OwnCookies): Promise<string[]> {
    if (this.#rules.readsAccessToken) await this.#requireAccessToken(tokens)
    const startedMs = this.#rules.now()
    const session = this.#sessionOf(tokens, {
      startedMs,
      idToken: "",
      refreshToken: undefined,
      handle: undefined,
    })
    const { lifetimeMs } = this.#rules
    // The id of a session before a login must not become the id of the session after it.
    const removed = await this.#place.remove(cookies)
    const kept = await this.#place.keep(session, lifetimeMs, undefined)
    const lines = this.#place.lines(kept ?? session, lifetimeMs, cookies)
    const names = new Set(lines.map(nameIn))
    return [...removed.filter((line) => !names.has(nameIn(line))), ...lines]
  }

  /** A session whose access token has no usable claims would end at once, and the next login too: the login fails instead, with the cause. */
  async #requireAccessToken({ accessToken }: TokenSet): Promise<void> {
    const found = await this.#provider.accessToken(accessToken)
    if (found.kind === "unavailable") throw new ProviderError("unavailable", noKeys)
    if (found.kind === "invalid")
      throw new ProviderError(
        "invalid",
        `the access token, whose claims \`claims-from\` needs, is not valid: ${invalidWords(found)}`,
      )
  }

  /** Ends the session of a request. The result has its ID token, for the logout at the provider. Rejects with SessionsUnavailable. */
  async end(
    cookies: OwnCookies,
  ): Promise<{ readonly idToken: string | undefined; readonly lines: readonly string[] }> {
    const read = await this.#place.read(cookies)
    const lines = await this.#place.remove(cookies)
    return { idToken: read.kind === "found" ? read.session.idToken : undefined, lines }
  }

  #judge(read: SessionRead, cookies: OwnCookies, wants: SessionWants): SessionFound | Promise<SessionFound> {
    if (read.kind === "none") return read
    if (read.kind === "damaged") return ended(read.cause)
    const { session } = read
    if (this.#leftMs(session) <= 0) return ended("its lifetime is over")
    if (session.startedMs > this.#rules.now() + skewMs) return ended("it begins in the future")
    if (this.#isDue(session)) return this.#renewed(session, cookies, wants)
    return read.isOld ? this.#sealedAgain(session, cookies, wants) : this.#found(session, wants, [])
  }

  /** Until the session ends, whatever its tokens are. */
  #leftMs({ startedMs }: OidcSession): number {
    return startedMs + this.#rules.lifetimeMs - this.#rules.now()
  }

  #isDue({ refreshToken, expires }: OidcSession): boolean {
    if (refreshToken === undefined || expires === undefined) return false
    return this.#rules.now() >= expires.atMs - Math.min(earlyMsMax, expires.afterMs / 5)
  }

  #found(
    session: OidcSession,
    { forward, claimsFrom }: SessionWants,
    cookies: readonly string[],
  ): SessionFound | Promise<SessionFound> {
    const claims = claimsIn(session.idToken)
    if (claims === undefined) return ended("it has no ID token")
    const now = this.#rules.now()
    const isExpired = (untilMs: number | undefined) => untilMs !== undefined && !(now < untilMs)
    if (forward === "access-token" || claimsFrom === "access-token") {
      if (session.accessToken === undefined)
        return ended("it was begun when no route needed its access token")
      if (isExpired(session.expires?.atMs)) return ended(notRefreshed)
    }
    if (forward === "id-token" && isExpired(Number(claims["exp"]) * 1000)) return ended(notRefreshed)
    const exp = Math.floor((now + this.#leftMs(session)) / 1000)
    const token =
      forward === undefined ? undefined : forward === "id-token" ? session.idToken : session.accessToken
    const found = (known: Claims): SessionFound => ({
      ...{ kind: "session", claims: { ...known, exp }, token, cookies },
    })
    if (claimsFrom === undefined) return found(claims)
    const judge = (verified: Verification): SessionFound => {
      if (verified.kind === "verified") return found(verified.claims)
      return verified.kind === "invalid"
        ? ended(`its access token is not valid: ${invalidWords(verified)}`)
        : { kind: "unavailable", what: "provider", cause: noKeys }
    }
    const verified = this.#provider.accessToken(session.accessToken ?? "")
    return verified instanceof Promise ? verified.then(judge) : judge(verified)
  }

  /** The session with the first key. */
  async #sealedAgain(session: OidcSession, cookies: OwnCookies, wants: SessionWants): Promise<SessionFound> {
    try {
      const leftMs = this.#leftMs(session)
      const kept = await this.#place.keep(session, leftMs, session)
      if (kept === undefined) return ended("it was ended by a logout")
      return this.#found(kept, wants, this.#place.lines(kept, leftMs, cookies))
    } catch (error) {
      return unavailableSessions(error)
    }
  }

  /** The session after a refresh. While its token is valid, the session continues without. */
  async #renewed(session: OidcSession, cookies: OwnCookies, wants: SessionWants): Promise<SessionFound> {
    const renewal = await this.#renewal(session)
    if (renewal.kind === "renewed") {
      // The remembered result of an earlier refresh may be due as well.
      if (this.#isDue(renewal.session) && renewal.session.expires?.atMs !== session.expires?.atMs)
        return this.#renewed(renewal.session, cookies, wants)
      try {
        const lines = this.#place.lines(renewal.session, this.#leftMs(renewal.session), cookies)
        return this.#found(renewal.session, wants, lines)
      } catch (error) {
        if (error instanceof SessionTooLarge) return ended(error.message)
        throw error
      }
    }
    if (this.#rules.now() < (session.expires?.atMs ?? 0)) return this.#found(session, wants, [])
    return renewal.kind === "unavailable" ? renewal : ended(renewal.cause)
  }

  /** Requests with the same session share one refresh, and its result for a while. */
  #renewal(session: OidcSession): Promise<Renewal> {
    const key = hash("sha256", `${session.expires?.atMs} ${session.refreshToken}`, "base64")
    const known = this.#renewals.get(key)
    if (known !== undefined) return known
    const renewal = this.#refresh(session)
    this.#renewals.set(key, renewal, { ttl: rememberedMs })
    void renewal.then((found) => {
      if (found.kind === "unavailable") this.#renewals.set(key, renewal, { ttl: failureMs })
    })
    return renewal
  }

  async #refresh(session: OidcSession): Promise<Renewal> {
    try {
      const turn = await this.#place.takeTurn(session)
      if (turn.kind === "done") return { kind: "renewed", session: turn.session }
      if (turn.kind === "gone") return { kind: "refused", cause: "it was ended by a logout" }
      if (turn.kind === "busy")
        return { kind: "unavailable", what: "sessions", cause: "another process refreshes it for too long" }
      try {
        const subject = claimsIn(session.idToken)?.["sub"]
        const tokens = await this.#provider.refresh(session.refreshToken ?? "", subject)
        const next = this.#sessionOf(tokens, session)
        const kept = await this.#place.keep(next, this.#leftMs(next), session)
        return kept === undefined
          ? { kind: "refused", cause: "it was ended by a logout" }
          : { kind: "renewed", session: kept }
      } finally {
        this.#place.endTurn(session)
      }
    } catch (error) {
      if (error instanceof ProviderError) {
        const cause = `the refresh failed: ${error.message}`
        return error.reason === "unavailable"
          ? { kind: "unavailable", what: "provider", cause }
          : { kind: "refused", cause }
      }
      return { kind: "unavailable", what: "sessions", cause: messageOf(error) }
    }
  }

  /** The session with new tokens. A refresh may return neither an ID token nor a new refresh token. */
  #sessionOf(
    { idToken, accessToken, refreshToken, lifetimeMs }: TokenSet,
    before: Pick<OidcSession, "startedMs" | "idToken" | "refreshToken" | "handle">,
  ): OidcSession {
    return {
      idToken: idToken?.text ?? before.idToken,
      accessToken: this.#rules.keepsAccessToken ? accessToken : undefined,
      refreshToken: refreshToken ?? before.refreshToken,
      expires:
        lifetimeMs === undefined ? undefined : { atMs: this.#rules.now() + lifetimeMs, afterMs: lifetimeMs },
      startedMs: before.startedMs,
      handle: before.handle,
    }
  }
}

function invalidWords({ reason, detail }: Verification & { readonly kind: "invalid" }): string {
  return `${reason}${detail === undefined ? "" : ` (${detail})`}`
}

function ended(cause: string): SessionFound {
  return { kind: "ended", cause: `the session cannot be used: ${cause}` }
}

function unavailableSessions(error: unknown): SessionFound {
  if (error instanceof SessionTooLarge) return ended(error.message)
  if (error instanceof SessionsUnavailable)
    return { kind: "unavailable", what: "sessions", cause: error.message }
  throw error
}

function nameIn(line: string): string {
  return line.slice(0, line.indexOf("="))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
