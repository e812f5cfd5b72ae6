import { setTimeout as sleep } from "node:timers/promises"
import type { RequestSender } from "../http/client/http-client.ts"
import { readDiscovery, requireSafeStep, stringMember } from "../identity/discovery.ts"
import { ProviderError, tokensOf, type UnverifiedTokens } from "./provider.ts"

/** A public client of an OpenID provider for people on devices without a browser (RFC 8628). */
export interface DeviceLoginSettings {
  /** URL of the discovery document itself. */
  readonly discovery: string
  readonly client: string
  readonly scope: string | undefined
}

/** What the user needs to log in elsewhere. All texts are printable ASCII without spaces. */
export interface DeviceCode {
  readonly userCode: string
  /** The page where the user enters the code. */
  readonly page: string
  /** The page with the code in its URL, if the provider has one. */
  readonly pageWithCode: string | undefined
  readonly lifetimeMs: number
  readonly deviceCode: string
  readonly intervalMs: number
}

/** Tokens of a login. The client does not verify them: the service that they are sent to does. */
export type DeviceTokens = Pick<UnverifiedTokens, "accessToken" | "refreshToken" | "lifetimeMs">

/** Replaced in tests. */
export interface DeviceClocks {
  readonly monotonic: () => number
  readonly sleep: (ms: number) => Promise<unknown>
}

interface Endpoints {
  readonly device: string | undefined
  readonly token: string
  readonly revocation: string | undefined
}

interface FormResponse {
  readonly status: number
  readonly body: Buffer
  readonly json: unknown
}

const timeoutMs = 10_000
const responseBytesMax = 256 * 1024
/** RFC 8628 §3.2 and §3.5. */
const intervalSecondsDefault = 5
const slowDownMs = 5_000
const intervalMsMax = 60_000
const codeSecondsMax = 3_600

/**
 * Logs a person in by the device authorization grant (RFC 8628), and refreshes and revokes the tokens. Methods reject with ProviderError.
 * A redirect is not followed.
 */
export class DeviceLogin {
  readonly #settings: DeviceLoginSettings
  readonly #http: RequestSender
  readonly #clocks: DeviceClocks
  #endpoints: Promise<Endpoints> | undefined

  constructor(
    settings: DeviceLoginSettings,
    http: RequestSender,
    clocks: DeviceClocks = { monotonic: () => performance.now(), sleep },
  ) {
    this.#settings = settings
    this.#http = http
    this.#clocks = clocks
  }

  /** Requests a code for the user. */
  async start(): Promise<DeviceCode> {
    const { device } = await this.#found()
    if (device === undefined)
      throw new ProviderError(
        "invalid",
        `the provider has no device login: ${this.#settings.discovery} has no \`device_authorization_endpoint\``,
      )
    const { scope } = this.#settings
    const answer = await this.#post(device, scope === undefined ? {} : { scope })
    if (answer.status !== 200) throw refusal("the device authorization endpoint", answer)
    return codeOf(answer.json)
  }

  /** Polls until the user has logged in. Rejects with the reason `refused` when the user denies it or the code expires. */
  async wait({ deviceCode, intervalMs, lifetimeMs }: DeviceCode): Promise<DeviceTokens> {
    const { token } = await this.#found()
    const endMs = this.#clocks.monotonic() + lifetimeMs
    let pauseMs = intervalMs
    for (;;) {
      await this.#clocks.sleep(pauseMs)
      if (this.#clocks.monotonic() >= endMs) throw expired()
      const grant = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: deviceCode }
      const answer = await this.#post(token, grant).catch((error: unknown) => {
        if (error instanceof ProviderError && error.reason === "unavailable") return undefined
        throw error
      })
      // §3.5: no response, or a busy provider, doubles the interval.
      if (answer === undefined || answer.status >= 500 || answer.status === 429) pauseMs *= 2
      else if (answer.status === 200) return tokensOf(answer)
      else if (pendingOf(answer) === "slow_down") pauseMs += slowDownMs
      pauseMs = Math.min(pauseMs, intervalMsMax)
    }
  }

  /** Gets new tokens. Without a new refresh token, the old one stays valid (RFC 6749 §6). */
  async refresh(refreshToken: string): Promise<DeviceTokens> {
    const { token } = await this.#found()
    const answer = await this.#post(token, { grant_type: "refresh_token", refresh_token: refreshToken })
    if (answer.status !== 200) throw refusal("the token endpoint", answer)
    const tokens = tokensOf(answer)
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken }
  }

  /** Revokes a token (RFC 7009). False: the provider has no endpoint for it. */
  async revoke(token: string, kind: "access_token" | "refresh_token"): Promise<boolean> {
    const { revocation } = await this.#found()
    if (revocation === undefined) return false
    const answer = await this.#post(revocation, { token, token_type_hint: kind })
    if (answer.status !== 200) throw refusal("the revocation endpoint", answer)
    return true
  }

  #found(): Promise<Endpoints> {
    this.#endpoints ??= this.#discover()
    return this.#endpoints
  }

  async #discover(): Promise<Endpoints> {
    try {
      const place = { url: this.#settings.discovery, exact: true, http: this.#http }
      const { document, url } = await readDiscovery(place)
      const endpoint = (name: string): string | undefined => {
        const found = stringMember(document, name)
        if (found !== undefined) requireSafeStep(url, found, name)
        return found
      }
      const token = endpoint("token_endpoint")
      if (token === undefined) throw new Error(`the discovery document at ${url} has no \`token_endpoint\``)
      const device = endpoint("device_authorization_endpoint")
      return { token, device, revocation: endpoint("revocation_endpoint") }
    } catch (error) {
      throw new ProviderError("unavailable", error instanceof Error ? error.message : String(error))
    }
  }

  async #post(url: string, form: Readonly<Record<string, string>>): Promise<FormResponse> {
    const headers = ["accept", "application/json", "content-type", "application/x-www-form-urlencoded"]
    const body = Buffer.from(new URLSearchParams({ ...form, client_id: this.#settings.client }).toString())
    try {
      const request = { url, method: "POST", headers, body, timeoutMs, responseBytesMax }
      const { status, body: answer } = await this.#http.send(request)
      return { status, body: answer, json: jsonOf(answer) }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new ProviderError("unavailable", `${url} does not respond: ${why}`)
    }
  }
}

/** The code of a response that means to poll again. @throws ProviderError for all other errors */
function pendingOf(answer: FormResponse): "authorization_pending" | "slow_down" {
  const code = stringMember(answer.json, "error")
  if (code === "authorization_pending" || code === "slow_down") return code
  if (code === "expired_token") throw expired()
  if (code === "access_denied") throw new ProviderError("refused", "the login was denied at the provider")
  throw refusal("the token endpoint", answer)
}

function expired(): ProviderError {
  return new ProviderError("refused", "the code expired before the login was finished")
}

/** Reads a response of the device authorization endpoint (RFC 8628 §3.2). Its texts are shown on a terminal, which obeys control characters. */
function codeOf(json: unknown): DeviceCode {
  const text = (name: string): string | undefined => {
    const found = stringMember(json, name)
    return found !== undefined && /^[\x21-\x7e]{1,2048}$/.test(found) ? found : undefined
  }
  const page = (name: string): string | undefined => {
    const found = text(name)
    return found !== undefined && /^https?:\/\//.test(found) && URL.canParse(found) ? found : undefined
  }
  // Google's name for it differs from the RFC's.
  const uri = page("verification_uri") ?? page("verification_url")
  const [deviceCode, userCode] = [text("device_code"), text("user_code")]
  const seconds = numberIn(json, "expires_in")
  if (deviceCode === undefined || userCode === undefined || uri === undefined || seconds === undefined)
    throw new ProviderError(
      "invalid",
      "the response of the device authorization endpoint lacks `device_code`, `user_code`, `verification_uri` or `expires_in`",
    )
  const interval = numberIn(json, "interval") ?? intervalSecondsDefault
  return {
    ...{ deviceCode, userCode, page: uri, pageWithCode: page("verification_uri_complete") },
    lifetimeMs: Math.min(seconds, codeSecondsMax) * 1000,
    intervalMs: Math.min(Math.max(interval, 1) * 1000, intervalMsMax),
  }
}

/** A positive number; some endpoints write it as text. */
function numberIn(json: unknown, name: string): number | undefined {
  if (typeof json !== "object" || json === null) return undefined
  const found = Number((json as Readonly<Record<string, unknown>>)[name])
  return found > 0 ? found : undefined
}

/** The error of a response (RFC 6749 §5.2), with what the provider says about it. */
function refusal(endpoint: string, { status, json }: FormResponse): ProviderError {
  const code = stringMember(json, "error")
  const said = stringMember(json, "error_description") ?? ""
  const known = code !== undefined && /^[\x21-\x7e]{1,64}$/.test(code) ? code : undefined
  const more = /^[\x20-\x7e]{1,300}$/.test(said) ? `: ${said}` : ""
  const shown = known === undefined ? "" : ` (${known}${more})`
  const reason =
    known === "invalid_grant" ? "refused" : status >= 500 || status === 429 ? "unavailable" : "invalid"
  return new ProviderError(reason, `${endpoint} responds with ${status}${shown}`)
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return undefined
  }
}
