import { randomBytes, randomInt } from "node:crypto"
import { alertText, credentialFields, document, type LoginResponse, usersText } from "./logins.ts"
import { type OAuthError, refuse, scopesOf } from "./oauth-client.ts"
import { isSecretOf, realm } from "./realm.ts"

/** A response of the device authorization endpoint (RFC 8628 §3.2). */
export interface DeviceAuthorization {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly verification_uri_complete: string
  readonly expires_in: number
  readonly interval: number
}

/** A user who has logged in with a device, and the token for the next refresh. */
export interface DeviceGrant {
  readonly subject: string
  readonly scopes: readonly string[]
  readonly refreshToken: string
}

interface Pending {
  readonly deviceCode: string
  readonly scopes: readonly string[]
  readonly untilMs: number
  polledAtMs: number
  /** Undefined: the user has not decided yet; null: denied. */
  subject: string | null | undefined
}

interface Session {
  readonly subject: string
  readonly scopes: readonly string[]
  /** The only one that is valid; the earlier ones end the session. */
  refreshToken: string
}

const codeSeconds = 600
const intervalSeconds = 1
const pendingMax = 1_000
const sessionsMax = 1_000
/** Consonants only, so that no code is a word (RFC 8628 §6.1). */
const userCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"

/**
 * Logins by the code of a device (RFC 8628), and their refresh tokens. A refresh token is used once: an earlier one ends the login, as in a
 * Keycloak realm with `Revoke refresh token`. Both are lost when the process ends.
 */
export class DeviceLogins {
  /** By user code without `-`. */
  readonly #pending = new Map<string, Pending>()
  /** By the part of a refresh token that stays the same. */
  readonly #sessions = new Map<string, Session>()

  /** The device authorization endpoint. `page`: where users enter the code. */
  start(form: URLSearchParams, page: string): DeviceAuthorization | OAuthError {
    const client = form.get("client_id")
    if (client === null || (client !== realm.deviceClient && !Object.hasOwn(realm.clients, client)))
      return refuse(401, "invalid_client", "Invalid client or Invalid client credentials")
    if (client !== realm.deviceClient)
      return refuse(
        400,
        "unauthorized_client",
        "Client is not allowed to initiate OAuth 2.0 Device Authorization Grant. The flow is disabled for the client.",
      )
    const scopes = scopesOf(form.get("scope"))
    if ("error" in scopes) return scopes
    const letters = Array.from({ length: 8 }, () => userCodeLetters[randomInt(userCodeLetters.length)]).join(
      "",
    )
    const deviceCode = randomBytes(24).toString("base64url")
    const untilMs = Date.now() + codeSeconds * 1000
    keep(
      this.#pending,
      letters,
      { deviceCode, scopes, untilMs, polledAtMs: 0, subject: undefined },
      pendingMax,
    )
    const userCode = `${letters.slice(0, 4)}-${letters.slice(4)}`
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: codeSeconds,
      interval: intervalSeconds,
    }
  }

  /** The page where users enter the code and log in; with `form`, takes it. */
  enter(query: URLSearchParams, form: URLSearchParams | undefined): LoginResponse {
    const code = lettersOf(form?.get("user_code") ?? query.get("user_code") ?? "")
    if (form === undefined) return page(code, undefined)
    const found = this.#pending.get(code)
    if (found === undefined || found.subject !== undefined || Date.now() > found.untilMs)
      return page("", "Invalid code, please try again.")
    if (form.get("answer") === "deny") {
      found.subject = null
      return { status: 200, html: document("Device login denied", "<p>The device was not logged in.</p>") }
    }
    const subject = form.get("username") ?? ""
    if (!isSecretOf(realm.users, subject, form.get("password") ?? ""))
      return page(code, "Invalid username or password.")
    found.subject = subject
    const text = "<p>The device is logged in. You may close this page and go back to it.</p>"
    return { status: 200, html: document("Device login successful", text) }
  }

  /** The login of a device code, once. */
  redeem(form: URLSearchParams, client: string): DeviceGrant | OAuthError {
    const deviceCode = form.get("device_code") ?? ""
    const [letters, found] =
      [...this.#pending].find(
        ([, each]) => client === realm.deviceClient && each.deviceCode === deviceCode,
      ) ?? []
    if (letters === undefined || found === undefined)
      return refuse(400, "invalid_grant", "Device code not valid")
    const now = Date.now()
    if (now > found.untilMs) {
      this.#pending.delete(letters)
      return refuse(400, "expired_token", "Device code is expired")
    }
    const isTooSoon = now - found.polledAtMs < intervalSeconds * 900
    found.polledAtMs = now
    const { subject, scopes } = found
    if (subject === undefined)
      return isTooSoon
        ? refuse(400, "slow_down", "Slow down")
        : refuse(400, "authorization_pending", "The authorization request is still pending")
    this.#pending.delete(letters)
    if (subject === null) return refuse(400, "access_denied", "The end user denied the authorization request")
    const id = randomBytes(12).toString("base64url")
    const refreshToken = newRefreshToken(id)
    keep(this.#sessions, id, { subject, scopes, refreshToken }, sessionsMax)
    return { subject, scopes, refreshToken }
  }

  /** New tokens for a refresh token, once. */
  refresh(form: URLSearchParams, client: string): DeviceGrant | OAuthError {
    const given = form.get("refresh_token") ?? ""
    const id = idOf(given)
    const found = client === realm.deviceClient ? this.#sessions.get(id) : undefined
    if (found === undefined) return refuse(400, "invalid_grant", "Session not active")
    if (found.refreshToken !== given) {
      this.#sessions.delete(id)
      return refuse(400, "invalid_grant", "Maximum allowed refresh token reuse exceeded")
    }
    found.refreshToken = newRefreshToken(id)
    return { ...found }
  }

  /** Ends the login of a refresh token. */
  revoke(token: string, client: string): void {
    if (client === realm.deviceClient) this.#sessions.delete(idOf(token))
  }
}

function newRefreshToken(id: string): string {
  return `${id}.${randomBytes(24).toString("base64url")}`
}

function idOf(refreshToken: string): string {
  return refreshToken.split(".", 1)[0] ?? ""
}

/** Adds an entry, and drops the oldest one when there are too many. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  const [oldest] = map.keys()
  if (map.size >= max && oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}

/** A code as users write it; empty: not a code. Only letters of codes can come into a page. */
function lettersOf(text: string): string {
  const letters = text.toUpperCase().replace(/[\s-]/g, "")
  return new RegExp(`^[${userCodeLetters}]{8}$`).test(letters) ? letters : ""
}

function page(code: string, error: string | undefined): LoginResponse {
  const shown = code === "" ? "" : `${code.slice(0, 4)}-${code.slice(4)}`
  const form = `<form method="post"><label>Code on the device <input name="user_code" value="${shown}" autocomplete="off" required></label>
${credentialFields}<button name="answer" value="allow">Log in</button><button name="answer" value="deny" formnovalidate>Deny</button></form>`
  return { status: 200, html: document("Log in a device", alertText(error) + form + usersText) }
}
