import type { RequestSender } from "../http/client/http-client.ts"

/** A token client of the plan with its texts resolved. */
export interface TokenClientSettings {
  readonly name: string
  readonly endpoint: { readonly discovery: string } | { readonly url: string }
  readonly client: string
  readonly secret: string
  readonly scope: string | undefined
  readonly audience: string | undefined
  readonly inBody: boolean | undefined
}

/** Why there is no token. `unreachable`: no response from the endpoint; `refused`: a response without a token. The message is for the log. */
export class NoToken extends Error {
  override readonly name = "NoToken"
  readonly reason: "unreachable" | "refused"

  constructor(reason: NoToken["reason"], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Provides tokens for the gateway's own requests. */
export interface TokenSource {
  /** A token that is valid for some more time, synchronously if one is cached. Rejects with NoToken. */
  token(): string | Promise<string>
  /** Call when a token was refused (401). True if a new token may be requested now. */
  renew(token: string): boolean
}

const timeoutMs = 5_000
/** Lifetime of a token if the endpoint does not declare one. */
const lifetimeSecondsDefault = 60
/** A token is not used in this time before its end, or in the last tenth of its lifetime if that is shorter: clocks differ, and requests take time. */
const skewMs = 30_000
/** Pause after a failure: requests from every caller would not help an endpoint that is down. */
const pauseMs = 1_000
const tokenLengthMax = 16 * 1024

/**
 * Client credentials (RFC 6749 §4.4). Concurrent callers share one request; the token is cached until shortly before `expires_in`. Ids and secrets are
 * form-encoded in Basic (§2.3.1). If `token_endpoint_auth_methods_supported` does not contain Basic, they are sent in the form.
 */
export class TokenClient implements TokenSource {
  readonly #settings: TokenClientSettings
  readonly #http: RequestSender
  readonly #monotonic: () => number
  #kept: { readonly token: string; readonly untilMs: number } | undefined
  #asking: Promise<string> | undefined
  #failed: { readonly error: NoToken; readonly untilMs: number } | undefined
  #renewedMs = Number.NEGATIVE_INFINITY
  #found: { readonly url: string; readonly inBody: boolean } | undefined

  constructor(
    settings: TokenClientSettings,
    http: RequestSender,
    monotonic: () => number = () => performance.now(),
  ) {
    this.#settings = settings
    this.#http = http
    this.#monotonic = monotonic
  }

  token(): string | Promise<string> {
    const now = this.#monotonic()
    if (this.#kept !== undefined && now < this.#kept.untilMs) return this.#kept.token
    if (this.#asking !== undefined) return this.#asking
    if (this.#failed !== undefined && now < this.#failed.untilMs) return Promise.reject(this.#failed.error)
    this.#asking = this.#ask().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  renew(token: string): boolean {
    // Another caller renewed it in the meantime: the cached token was not refused.
    if (this.#kept?.token !== token) return true
    const now = this.#monotonic()
    this.#kept = undefined
    if (now - this.#renewedMs < pauseMs) return false
    this.#renewedMs = now
    return true
  }

  async #ask(): Promise<string> {
    try {
      const { url, inBody } = await this.#endpoint()
      const { token, lifetimeMs } = tokenOf(await this.#send(url, inBody))
      const usedMs = lifetimeMs - Math.min(skewMs, lifetimeMs / 10)
      this.#kept = { token, untilMs: this.#monotonic() + usedMs }
      this.#failed = undefined
      return token
    } catch (error) {
      const found = error instanceof NoToken ? error : new NoToken("unreachable", messageOf(error))
      const named = new NoToken(found.reason, `token client \`${this.#settings.name}\`: ${found.message}`)
      this.#failed = { error: named, untilMs: this.#monotonic() + pauseMs }
      throw named
    }
  }

  async #endpoint(): Promise<{ url: string; inBody: boolean }> {
    const { endpoint, inBody } = this.#settings
    if ("url" in endpoint) return { url: endpoint.url, inBody: inBody === true }
    if (this.#found !== undefined) return this.#found
    const wellKnown = "/.well-known/openid-configuration"
    const url = endpoint.discovery.endsWith(wellKnown)
      ? endpoint.discovery
      : endpoint.discovery.replace(/\/$/, "") + wellKnown
    const headers = ["accept", "application/json"]
    const answer = await this.#http.send({ url, method: "GET", headers, body: undefined, timeoutMs })
    const document = answer.status === 200 ? jsonOf(answer.body) : undefined
    const found = document?.["token_endpoint"]
    if (typeof found !== "string" || !URL.canParse(found))
      throw new NoToken("refused", `${url} names no token endpoint (${answer.status})`)
    // The secret is sent to this endpoint: a document loaded by https must not lead to http.
    if (url.startsWith("https:") && !found.startsWith("https:"))
      throw new NoToken("refused", `the token endpoint of ${url} is not https`)
    const methods = document?.["token_endpoint_auth_methods_supported"]
    const wantsForm = Array.isArray(methods) && !methods.includes("client_secret_basic")
    this.#found = { url: found, inBody: inBody ?? wantsForm }
    return this.#found
  }

  async #send(url: string, inBody: boolean): Promise<{ status: number; body: Buffer }> {
    const { client, secret, scope, audience } = this.#settings
    const form = new URLSearchParams({ grant_type: "client_credentials" })
    if (scope !== undefined) form.set("scope", scope)
    if (audience !== undefined) form.set("audience", audience)
    const headers = ["accept", "application/json", "content-type", "application/x-www-form-urlencoded"]
    if (inBody) {
      form.set("client_id", client)
      form.set("client_secret", secret)
    } else headers.push("authorization", clientAuthorization(client, secret))
    return this.#http.send({ url, method: "POST", headers, body: Buffer.from(form.toString()), timeoutMs })
  }
}

/** RFC 6749 §2.3.1: both are form-encoded before they are joined. */
export function clientAuthorization(client: string, secret: string): string {
  const encoded = (text: string) => new URLSearchParams({ a: text }).toString().slice(2)
  return `Basic ${Buffer.from(`${encoded(client)}:${encoded(secret)}`).toString("base64")}`
}

function tokenOf({ status, body }: { status: number; body: Buffer }): { token: string; lifetimeMs: number } {
  const json = jsonOf(body)
  if (status !== 200) {
    const error = json?.["error"]
    const why = typeof error === "string" && /^[\x21-\x7e]{1,64}$/.test(error) ? ` (${error})` : ""
    throw new NoToken("refused", `the token endpoint responds with ${status}${why}`)
  }
  const token = json?.["access_token"]
  const type = json?.["token_type"]
  if (typeof token !== "string" || !/^[\x21-\x7e]+$/.test(token) || token.length > tokenLengthMax)
    throw new NoToken("refused", "the response of the token endpoint has no valid `access_token`")
  if (typeof type !== "string" || type.toLowerCase() !== "bearer")
    throw new NoToken("refused", "the token endpoint returns a token of another type than Bearer")
  // Some endpoints write the number as text.
  const seconds = Number(json?.["expires_in"] ?? lifetimeSecondsDefault)
  return { token, lifetimeMs: (seconds > 0 ? Math.min(seconds, 86_400) : lifetimeSecondsDefault) * 1000 }
}

function jsonOf(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(body.toString("utf8"))
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
