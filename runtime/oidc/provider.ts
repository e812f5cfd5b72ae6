import type { OutgoingResponse, RequestSender } from "../http/client/http-client.ts"
import { readDiscovery, requireSafeStep, stringMember } from "../identity/discovery.ts"
import { clientAuthorization } from "../identity/token-client.ts"
import type { Claims, TokenVerifier, Verification } from "../identity/verifier.ts"

/** Why the provider has given no tokens. `unavailable`: no response; `refused`: it refuses the grant; `invalid`: its response cannot be used. */
export class ProviderError extends Error {
  override readonly name = "ProviderError"
  readonly reason: "unavailable" | "refused" | "invalid"

  constructor(reason: ProviderError["reason"], message: string) {
    super(message)
    this.reason = reason
  }
}

/** Where the provider is, and the gateway's client there. `secret` undefined: a public client. */
export interface ProviderSettings {
  readonly discovery: string
  readonly exact: boolean
  readonly client: string
  readonly secret: string | undefined
}

/** The endpoints of a discovery document that a login needs. */
export interface ProviderMetadata {
  readonly issuer: string
  readonly authorization: string
  readonly token: string
  readonly endSession: string | undefined
  /** The secret goes into the form, because the document does not list `client_secret_basic`. */
  readonly inBody: boolean
  /** Every response to the browser names the issuer (RFC 9207). */
  readonly namesIssuer: boolean
}

/** Tokens of a response, with the verified claims of the ID token. A response to a refresh need not contain an ID token. */
export interface TokenSet {
  readonly idToken: { readonly text: string; readonly claims: Claims } | undefined
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly lifetimeMs: number | undefined
}

interface Clocks {
  readonly monotonic: () => number
}

const timeoutMs = 5_000
const responseBytesMax = 256 * 1024
const tokenLengthMax = 16 * 1024
/** Endpoints rarely change; an older document is used on while a newer one cannot be fetched. */
const freshMs = 3_600_000
/** Pause after a failure: requests from every browser would not help a provider that is down. */
const pauseMs = 1_000

/** Talks to an OpenID provider as a relying party. All requests are bounded in time and size, and none follows a redirect. */
export class Provider {
  readonly settings: ProviderSettings
  readonly #http: RequestSender
  readonly #verifier: TokenVerifier
  readonly #monotonic: () => number
  #known: { readonly metadata: ProviderMetadata; readonly atMs: number } | undefined
  #asking: Promise<ProviderMetadata> | undefined
  #failed: { readonly error: ProviderError; readonly untilMs: number } | undefined

  constructor(
    settings: ProviderSettings,
    http: RequestSender,
    verifier: TokenVerifier,
    clocks: Clocks = { monotonic: () => performance.now() },
  ) {
    this.settings = settings
    this.#http = http
    this.#verifier = verifier
    this.#monotonic = clocks.monotonic
  }

  /** The endpoints. Rejects with ProviderError. */
  metadata(): ProviderMetadata | Promise<ProviderMetadata> {
    const now = this.#monotonic()
    const known = this.#known
    if (known !== undefined && now - known.atMs < freshMs) return known.metadata
    const isPaused = this.#failed !== undefined && now < this.#failed.untilMs
    if (known !== undefined) {
      if (!isPaused) this.#ask().catch(() => undefined)
      return known.metadata
    }
    return isPaused ? Promise.reject(this.#failed?.error) : this.#ask()
  }

  /** Exchanges the code of a login. Rejects with ProviderError. */
  async exchange(code: string, redirectUri: string, verifier: string): Promise<TokenSet> {
    const form = {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    }
    const tokens = await this.#tokens(form)
    if (tokens.idToken === undefined)
      throw new ProviderError("invalid", "the response of the token endpoint has no `id_token`")
    return tokens
  }

  /** Gets new tokens. `subject`: the user of the session, who cannot change. Rejects with ProviderError. */
  async refresh(refreshToken: string, subject: unknown): Promise<TokenSet> {
    const tokens = await this.#tokens({ grant_type: "refresh_token", refresh_token: refreshToken })
    if (tokens.idToken !== undefined && tokens.idToken.claims["sub"] !== subject)
      throw new ProviderError("invalid", "the refreshed ID token is of another user")
    return tokens
  }

  /** Verifies an access token that is a JWT of the issuer, as `auth jwt` does: for the audiences of the issuer. */
  accessToken(token: string): Verification | Promise<Verification> {
    return this.#verifier.verify(token)
  }

  #ask(): Promise<ProviderMetadata> {
    this.#asking ??= this.#fetch()
      .catch((error: unknown) => {
        const message = error instanceof Error ? error.message : String(error)
        const found = new ProviderError("unavailable", message)
        this.#failed = { error: found, untilMs: this.#monotonic() + pauseMs }
        throw found
      })
      .finally(() => {
        this.#asking = undefined
      })
    return this.#asking
  }

  async #fetch(): Promise<ProviderMetadata> {
    const { discovery, exact } = this.settings
    const { url, issuer, document } = await readDiscovery({ url: discovery, exact, http: this.#http })
    const metadata = metadataOf(document, issuer, url)
    this.#known = { metadata, atMs: this.#monotonic() }
    this.#failed = undefined
    return metadata
  }

  async #tokens(grant: Readonly<Record<string, string>>): Promise<TokenSet> {
    const metadata = await this.metadata()
    const { client, secret } = this.settings
    const form = new URLSearchParams(grant)
    const headers = ["accept", "application/json", "content-type", "application/x-www-form-urlencoded"]
    if (secret === undefined) form.set("client_id", client)
    else if (metadata.inBody) {
      form.set("client_id", client)
      form.set("client_secret", secret)
    } else headers.push("authorization", clientAuthorization(client, secret))
    const request = { url: metadata.token, method: "POST", headers, body: Buffer.from(form.toString()) }
    let response: Pick<OutgoingResponse, "status" | "body">
    try {
      response = await this.#http.send({ ...request, timeoutMs, responseBytesMax })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new ProviderError("unavailable", `the token endpoint does not respond: ${why}`)
    }
    return this.#verified(tokensOf(response))
  }

  /** Verifies the ID token (OpenID Connect Core 1.0 §3.1.3.7) with the keys of the issuer. */
  async #verified(tokens: UnverifiedTokens): Promise<TokenSet> {
    const { idToken } = tokens
    if (idToken === undefined) return { ...tokens, idToken: undefined }
    const { client } = this.settings
    const found = await this.#verifier.verify(idToken, { audiences: [client] })
    if (found.kind === "unavailable")
      throw new ProviderError("unavailable", "the keys of the issuer are unavailable")
    if (found.kind === "invalid") {
      const detail = found.detail === undefined ? "" : ` (${found.detail})`
      throw new ProviderError("invalid", `the ID token is not valid: ${found.reason}${detail}`)
    }
    const { claims } = found
    const { aud, azp, sub } = claims
    if (azp === undefined ? Array.isArray(aud) && aud.length > 1 : azp !== client)
      throw new ProviderError("invalid", "the ID token was made for another client (`azp`)")
    if (typeof sub !== "string" || sub === "") throw new ProviderError("invalid", "the ID token has no `sub`")
    return { ...tokens, idToken: { text: idToken, claims } }
  }
}

/** Reads the endpoints. @throws Error with the member that is missing or unsafe */
function metadataOf(document: unknown, issuer: string, url: string): ProviderMetadata {
  const endpoint = (name: string): string | undefined => {
    const found = stringMember(document, name)
    if (found !== undefined) requireSafeStep(url, found, name)
    return found
  }
  const list = (name: string): readonly unknown[] | undefined => {
    const found = (document as Readonly<Record<string, unknown>>)[name]
    return Array.isArray(found) ? found : undefined
  }
  const authorization = endpoint("authorization_endpoint")
  const token = endpoint("token_endpoint")
  if (authorization === undefined || token === undefined)
    throw new Error(
      `the discovery document at ${url} has no \`${authorization === undefined ? "authorization" : "token"}_endpoint\``,
    )
  if (list("code_challenge_methods_supported")?.includes("S256") === false)
    throw new Error(`the provider at ${url} does not support PKCE with S256`)
  const methods = list("token_endpoint_auth_methods_supported")
  return {
    ...{ issuer, authorization, token, endSession: endpoint("end_session_endpoint") },
    inBody: methods !== undefined && !methods.includes("client_secret_basic"),
    namesIssuer:
      (document as Readonly<Record<string, unknown>>)["authorization_response_iss_parameter_supported"] ===
      true,
  }
}

/** Tokens of a response, before the ID token is verified. */
export interface UnverifiedTokens {
  readonly idToken: string | undefined
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly lifetimeMs: number | undefined
}

/** Reads the response of the token endpoint (RFC 6749 §5). @throws ProviderError, whose message is bounded because it goes to the log */
export function tokensOf({ status, body }: Pick<OutgoingResponse, "status" | "body">): UnverifiedTokens {
  const json = jsonOf(body)
  if (status !== 200) {
    const error = stringMember(json, "error")
    const code = error !== undefined && /^[\x21-\x7e]{1,64}$/.test(error) ? error : undefined
    const said = `the token endpoint responds with ${status}${code === undefined ? "" : ` (${code})`}`
    // Every other error is a fault of the configuration or of the provider, not of the grant.
    throw new ProviderError(
      code === "invalid_grant" ? "refused" : status >= 500 || status === 429 ? "unavailable" : "invalid",
      said,
    )
  }
  const accessToken = tokenIn(json, "access_token")
  if (accessToken === undefined)
    throw new ProviderError("invalid", "the response of the token endpoint has no valid `access_token`")
  if (stringMember(json, "token_type")?.toLowerCase() !== "bearer")
    throw new ProviderError("invalid", "the token endpoint returns a token of another type than Bearer")
  // Some endpoints write the number as text.
  const seconds = Number((json as Readonly<Record<string, unknown>>)["expires_in"])
  return {
    accessToken,
    idToken: tokenIn(json, "id_token"),
    refreshToken: tokenIn(json, "refresh_token"),
    lifetimeMs: seconds > 0 ? Math.min(seconds, 31_536_000) * 1000 : undefined,
  }
}

function tokenIn(json: unknown, name: string): string | undefined {
  const token = stringMember(json, name)
  return token !== undefined && token.length <= tokenLengthMax && /^[\x21-\x7e]+$/.test(token)
    ? token
    : undefined
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return undefined
  }
}
