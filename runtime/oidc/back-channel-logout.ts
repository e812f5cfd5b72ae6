import type { Claims, TokenVerifier } from "../identity/verifier.ts"
import type { ProviderNames } from "./session-index.ts"
import { SessionsUnavailable } from "./session-place.ts"
import type { SharedSessions } from "./shared-sessions.ts"

/** The event of a logout (OpenID Connect Back-Channel Logout 1.0 §2.4). */
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"
/** Providers send a logout at once, and perhaps again after a failure. */
const ageSecondsMax = 600
const idLengthMax = 512

/** How the request of a provider has ended. `invalid`: `cause` is for the log. */
export type BackChannelStep =
  | { readonly kind: "ended"; readonly sessions: number }
  | { readonly kind: "invalid"; readonly cause: string }
  | { readonly kind: "unavailable"; readonly what: "provider" | "sessions"; readonly cause: string }

interface LogoutToken extends ProviderNames {
  readonly jti: string
  readonly issuedSeconds: number
}

/** Ends sessions when their provider says so (OpenID Connect Back-Channel Logout 1.0). */
export class BackChannelLogouts {
  readonly #client: string
  readonly #verifier: TokenVerifier
  readonly #sessions: SharedSessions
  readonly #now: () => number

  /** `client`: the audience of its tokens. `now`: the wall clock in milliseconds. */
  constructor(client: string, verifier: TokenVerifier, sessions: SharedSessions, now: () => number) {
    this.#client = client
    this.#verifier = verifier
    this.#sessions = sessions
    this.#now = now
  }

  /** Takes a logout token. Each counts once; it is remembered only after its sessions have ended, so that a provider can repeat a request that failed. */
  async take(token: string): Promise<BackChannelStep> {
    const found = await this.#verified(token)
    if ("kind" in found) return found
    try {
      if (await this.#sessions.isUsed(found.jti)) return invalid("it was used before (`jti`)")
      const sessions = await this.#sessions.endAll(found, found.issuedSeconds)
      // Clocks may differ by the tolerance of the issuer, which is at most as long.
      await this.#sessions.use(found.jti, 2 * ageSecondsMax * 1000)
      return { kind: "ended", sessions }
    } catch (error) {
      if (error instanceof SessionsUnavailable)
        return { kind: "unavailable", what: "sessions", cause: error.message }
      throw error
    }
  }

  /** Checks a logout token (§2.6). Its `exp` became a required claim late, so that many providers leave it out: its age is limited in any case. */
  async #verified(token: string): Promise<LogoutToken | BackChannelStep> {
    const rules = { audiences: [this.#client], requireExpiration: false }
    const found = await this.#verifier.verify(token, rules)
    if (found.kind === "unavailable")
      return { kind: "unavailable", what: "provider", cause: "the keys of the issuer are unavailable" }
    if (found.kind === "invalid")
      return invalid(`${found.reason}${found.detail === undefined ? "" : ` (${found.detail})`}`)
    const { typ } = found.header
    if (typ !== undefined && !(typeof typ === "string" && /^(?:application\/)?(?:logout\+)?jwt$/i.test(typ)))
      return invalid("it is another kind of token (`typ`)")
    const { claims } = found
    const { iat, jti, sid, sub } = claims
    if (!hasLogoutEvent(claims)) return invalid("it has no logout in `events`")
    if ("nonce" in claims) return invalid("it has a `nonce`, as only ID tokens may")
    if (typeof iat !== "number") return invalid("it has no `iat`")
    if (iat < this.#now() / 1000 - ageSecondsMax) return invalid("it is older than ten minutes (`iat`)")
    if (!isId(jti)) return invalid("it has no valid `jti`")
    if (sid === undefined && sub === undefined) return invalid("it has neither `sid` nor `sub`")
    if ((sid !== undefined && !isId(sid)) || (sub !== undefined && !isId(sub)))
      return invalid("its `sid` or `sub` is not valid")
    return { sid, sub, jti, issuedSeconds: iat }
  }
}

function hasLogoutEvent({ events }: Claims): boolean {
  if (typeof events !== "object" || events === null || !Object.hasOwn(events, logoutEvent)) return false
  const event: unknown = (events as Claims)[logoutEvent]
  return typeof event === "object" && event !== null && !Array.isArray(event)
}

function isId(text: unknown): text is string {
  return typeof text === "string" && text !== "" && text.length <= idLengthMax
}

function invalid(cause: string): BackChannelStep {
  return { kind: "invalid", cause: `the logout token is not valid: ${cause}` }
}
