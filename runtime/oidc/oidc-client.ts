import type { RequestSender } from "../http/client/http-client.ts"
import type { TokenVerifier } from "../identity/verifier.ts"
import { BackChannelLogouts, type BackChannelStep } from "./back-channel-logout.ts"
import { CookieSessions } from "./cookie-sessions.ts"
import type { OwnCookies } from "./own-cookies.ts"
import { challengeOf, type PendingLogin, PendingLogins } from "./pending-login.ts"
import {
  Provider,
  ProviderError,
  type ProviderMetadata,
  type ProviderSettings,
  type TokenSet,
} from "./provider.ts"
import { isReturnPath } from "./return-path.ts"
import { SealingKeys } from "./sealed-text.ts"
import { type SessionFound, SessionKeeper, type SessionWants } from "./session-keeper.ts"
import { SessionEnded, SessionsUnavailable, SessionTooLarge } from "./session-place.ts"
import type { SharedSessions } from "./shared-sessions.ts"

/** The paths of a client that the gateway itself serves. */
export interface OidcPaths {
  readonly login: string
  readonly callback: string
  readonly logout: string
}

/** An OIDC client of the plan with its texts resolved. */
export interface OidcSettings extends ProviderSettings {
  readonly name: string
  /** Separated by spaces; `openid` is one of them. */
  readonly scope: string
  /** Further parameters of the request to the authorization endpoint. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
  /** The first one encrypts, each one decrypts. */
  readonly sessionKeys: readonly { readonly name: string; readonly text: string }[]
  readonly lifetimeMs: number
  /** `https://host` as browsers see the gateway; undefined: as the request says. */
  readonly external: string | undefined
  readonly paths: OidcPaths
  /** The path to which the provider sends logouts, for sessions in Redis; undefined: there is none. */
  readonly backChannelLogout: string | undefined
  /** The path that the provider leads to after a logout; undefined: it stays at its own page. */
  readonly afterLogout: string | undefined
  /** A route forwards the access token, or reads its claims. */
  readonly keepsAccessToken: boolean
  /** A route reads the claims of the access token. */
  readonly readsAccessToken: boolean
}

/** What a client uses. `shared`: makes the place of its sessions in Redis; undefined: they are in cookies. `now`: the wall clock in milliseconds. */
export interface OidcParts {
  readonly http: RequestSender
  readonly verifier: TokenVerifier
  readonly shared: ((keys: SealingKeys) => SharedSessions) | undefined
  readonly now: () => number
}

/** Names of the problems in which a login or logout can end. */
export type LoginFault =
  | "login-invalid"
  | "login-refused"
  | "login-failed"
  | "session-too-large"
  | "issuer-unavailable"
  | "sessions-unavailable"

/** What the browser gets. `cookies`: Set-Cookie lines. `accessToken`: of a login that is finished. */
export type LoginStep =
  | {
      readonly kind: "redirect"
      readonly location: string
      readonly cookies: readonly string[]
      readonly accessToken?: string
    }
  | {
      readonly kind: "failed"
      readonly fault: LoginFault
      readonly cause: string
      readonly cookies: readonly string[]
    }

/** The end of a session. `done`: the provider has no page to go to, or cannot be reached. */
export type LogoutStep = LoginStep | { readonly kind: "done"; readonly cookies: readonly string[] }

/** Where a request came from. `origin`: scheme and host as the browser sees them. */
export interface BrowserRequest {
  readonly origin: string
  readonly cookies: OwnCookies
}

/** Logs browsers in at an OpenID provider (authorization code with PKCE, RFC 7636), and keeps their sessions. */
export class OidcClient {
  readonly name: string
  readonly #settings: OidcSettings
  readonly #provider: Provider
  readonly #logins: PendingLogins
  readonly #sessions: SessionKeeper
  readonly #backChannel: BackChannelLogouts | undefined

  /** @throws Error for a session key that is too short */
  constructor(settings: OidcSettings, { http, verifier, shared, now }: OidcParts) {
    this.name = settings.name
    this.#settings = settings
    const keys = new SealingKeys(settings.name, settings.sessionKeys)
    this.#provider = new Provider(settings, http, verifier)
    this.#logins = new PendingLogins(settings.name, keys, now)
    const inRedis = shared?.(keys)
    const place = inRedis ?? new CookieSessions(settings.name, keys)
    this.#backChannel = inRedis && new BackChannelLogouts(settings.client, verifier, inRedis, now)
    const { lifetimeMs, keepsAccessToken, readsAccessToken } = settings
    const rules = { lifetimeMs, keepsAccessToken, readsAccessToken, now }
    this.#sessions = new SessionKeeper(place, this.#provider, rules)
  }

  /** Its id at the provider. */
  get id(): string {
    return this.#settings.client
  }

  /** The session of a request. */
  session(cookies: OwnCookies, wants: SessionWants): SessionFound | Promise<SessionFound> {
    return this.#sessions.find(cookies, wants)
  }

  /** Sends the browser to the provider. `target`: path and query of the page that it wanted; a target that is no safe path leads to `/` afterwards. */
  async begin({ origin, cookies }: BrowserRequest, target: string): Promise<LoginStep> {
    const { external, paths, client, scope, parameters } = this.#settings
    let metadata: ProviderMetadata
    try {
      metadata = await this.#provider.metadata()
    } catch (error) {
      return failed(error)
    }
    const redirectUri = (external ?? origin) + paths.callback
    const { login, lines } = this.#logins.begin(redirectUri, this.#returnTo(target), cookies)
    const location = new URL(metadata.authorization)
    const query: readonly (readonly [string, string])[] = [
      ...parameters,
      ["response_type", "code"],
      ["client_id", client],
      ["redirect_uri", redirectUri],
      ["scope", scope],
      ["state", login.state],
      ["nonce", login.nonce],
      ["code_challenge", challengeOf(login.verifier)],
      ["code_challenge_method", "S256"],
    ]
    for (const [name, value] of query) location.searchParams.set(name, value)
    return { kind: "redirect", location: location.href, cookies: lines }
  }

  /** Takes the response of the provider: `query` of the callback. */
  async finish({ cookies }: BrowserRequest, query: URLSearchParams): Promise<LoginStep> {
    const repeated = ["state", "code", "iss", "error"].find((name) => query.getAll(name).length > 1)
    const state = query.get("state") ?? ""
    if (repeated !== undefined || state === "" || state.length > 256)
      return fault(
        "login-invalid",
        `the response has ${repeated === undefined ? "no valid" : "two"} \`${repeated ?? "state"}\``,
      )
    const login = this.#logins.find(state, cookies)
    if (typeof login === "string") return fault("login-invalid", login)
    const found = await this.#finish(login, query, cookies).catch((error: unknown) => failed(error))
    return { ...found, cookies: [this.#logins.removed(state), ...found.cookies] }
  }

  /** Ends the session, here and at the provider. */
  async end({ origin, cookies }: BrowserRequest): Promise<LogoutStep> {
    const { external, afterLogout, client } = this.#settings
    let over: Awaited<ReturnType<SessionKeeper["end"]>>
    try {
      over = await this.#sessions.end(cookies)
    } catch (error) {
      return failed(error)
    }
    // The session here is over even if the provider does not respond.
    const endSession = await this.#endSession()
    if (endSession === undefined)
      return afterLogout === undefined
        ? { kind: "done", cookies: over.lines }
        : { kind: "redirect", location: afterLogout, cookies: over.lines }
    const location = new URL(endSession)
    location.searchParams.set("client_id", client)
    if (over.idToken !== undefined) location.searchParams.set("id_token_hint", over.idToken)
    if (afterLogout !== undefined)
      location.searchParams.set("post_logout_redirect_uri", (external ?? origin) + afterLogout)
    return { kind: "redirect", location: location.href, cookies: over.lines }
  }

  /** Ends the sessions that a logout token of the provider names. */
  async endByProvider(logoutToken: string): Promise<BackChannelStep> {
    if (this.#backChannel === undefined) throw new Error("the sessions of this client are in cookies")
    return this.#backChannel.take(logoutToken)
  }

  async #endSession(): Promise<string | undefined> {
    try {
      return (await this.#provider.metadata()).endSession
    } catch {
      return undefined
    }
  }

  async #finish(login: PendingLogin, query: URLSearchParams, cookies: OwnCookies): Promise<LoginStep> {
    const metadata = await this.#provider.metadata()
    const iss = query.get("iss")
    // A response of another provider that the user logged in to (mix-up, RFC 9207).
    if (iss === null ? metadata.namesIssuer : iss !== metadata.issuer)
      return fault("login-invalid", "the response is of another issuer (`iss`)")
    const error = query.get("error")
    if (error !== null) return refusedBy(error)
    const code = query.get("code") ?? ""
    if (code === "" || code.length > 4096) return fault("login-invalid", "the response has no valid `code`")
    let tokens: TokenSet
    try {
      tokens = await this.#provider.exchange(code, login.redirectUri, login.verifier)
    } catch (error_) {
      if (error_ instanceof ProviderError && error_.reason === "refused")
        return fault("login-invalid", `the provider does not accept the code: ${error_.message}`)
      throw error_
    }
    if (tokens.idToken?.claims["nonce"] !== login.nonce)
      return fault("login-invalid", "the ID token has the `nonce` of another login")
    const lines = await this.#sessions.begin(tokens, cookies)
    return { kind: "redirect", location: login.returnTo, cookies: lines, accessToken: tokens.accessToken }
  }

  /** After a login the browser must not come to a path that begins or ends one. */
  #returnTo(target: string): string {
    const { login, callback, logout } = this.#settings.paths
    const own = [login, callback, logout, this.#settings.backChannelLogout]
    const path = target.split("?", 1)[0] as string
    return isReturnPath(target) && !own.includes(path) ? target : "/"
  }
}

/** The provider has not let the user in. Its code is one of few (RFC 6749 §4.1.2.1); its description could be anybody's text. */
function refusedBy(error: string): LoginStep {
  const code = /^[a-z_]{1,64}$/.test(error) ? error : "an unknown code"
  return ["server_error", "temporarily_unavailable"].includes(code)
    ? fault("issuer-unavailable", `the provider responds with ${code}`)
    : fault("login-refused", `the provider refused the login: ${code}`)
}

function fault(name: LoginFault, cause: string): LoginStep {
  return { kind: "failed", fault: name, cause, cookies: [] }
}

function failed(error: unknown): LoginStep {
  if (error instanceof SessionTooLarge) return fault("session-too-large", error.message)
  if (error instanceof SessionsUnavailable) return fault("sessions-unavailable", error.message)
  if (error instanceof SessionEnded) return fault("login-invalid", error.message)
  if (!(error instanceof ProviderError)) throw error
  return fault(error.reason === "unavailable" ? "issuer-unavailable" : "login-failed", error.message)
}
