import { createHash, randomBytes } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { SignJWT } from "jose"
import { type TestKey, testKey } from "../identity/issuer-server.ts"

interface Begun {
  readonly nonce: string
  readonly challenge: string
  readonly redirectUri: string
}

/**
 * A real OpenID provider whose user is always logged in: authorization code with PKCE, refresh tokens that are replaced at each use, and the end of all tokens
 * of a session when an old one is used again. Tests change what it does.
 */
export class TestProvider {
  readonly #server: Server
  readonly #key: TestKey
  readonly #codes = new Map<string, Begun>()
  /** The refresh tokens by session; only the last one is valid. */
  readonly #refreshTokens: string[] = []
  readonly secret: string | undefined = "a secret of the client"
  /** Requests to the token endpoint, by grant. */
  readonly grants: string[] = []
  /** Logouts with their parameters. */
  readonly logouts: URLSearchParams[] = []
  /** The last requests to the authorization endpoint. */
  readonly authorizations: URLSearchParams[] = []
  /** A refresh token was used twice. */
  reused = false
  lifetimeSeconds = 300
  /** Appended to access tokens. */
  accessTokenEnd = ""
  /** Claims that make access tokens JWTs of this provider; undefined: they are opaque. */
  accessClaims: Record<string, unknown> | undefined
  offersRefresh = true
  /** Members of the discovery document; undefined removes one. */
  metadata: Record<string, unknown> = {}
  /** Claims of ID tokens; undefined removes one. */
  claims: Record<string, unknown> = {}
  /** Replaces the response to the browser. */
  denies: Record<string, string> | undefined
  /** Replaces the response of the token endpoint. */
  tokenAnswer: { status: number; body: unknown } | undefined
  down = false
  /** Signs ID tokens with this key instead. */
  foreignKey: TestKey | undefined

  private constructor(key: TestKey) {
    this.#key = key
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(): Promise<TestProvider> {
    const provider = new TestProvider(await testKey("1"))
    await new Promise<void>((resolve) => provider.#server.listen(0, "127.0.0.1", resolve))
    return provider
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url)
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    if (this.down) json(500, {})
    else if (url.pathname === "/.well-known/openid-configuration") json(200, this.#discovery())
    else if (url.pathname === "/keys") json(200, { keys: [this.#key.jwk] })
    else if (url.pathname === "/authorize") this.#authorize(url.searchParams, response)
    else if (url.pathname === "/token") {
      const { status, body } = await this.#token(request, new URLSearchParams(await text(request)))
      json(status, body)
    } else if (url.pathname === "/logout") {
      this.logouts.push(url.searchParams)
      const to = url.searchParams.get("post_logout_redirect_uri")
      if (to === null) response.writeHead(200, { "content-type": "text/html" }).end("logged out")
      else response.writeHead(302, { location: to }).end()
    } else json(404, {})
  }

  /** A logout token of this provider; undefined removes a claim. */
  async logoutToken(
    claims: Record<string, unknown>,
    { typ = "logout+jwt", key = this.#key }: { typ?: string; key?: TestKey } = {},
  ): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000)
    const all: Record<string, unknown> = {
      ...{ iss: this.url, aud: "web", iat: seconds, exp: seconds + 120, jti: randomBytes(8).toString("hex") },
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
      ...claims,
    }
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    return new SignJWT(given).setProtectedHeader({ alg: key.alg, kid: key.kid, typ }).sign(key.privateKey)
  }

  #discovery(): object {
    return {
      issuer: this.url,
      jwks_uri: `${this.url}/keys`,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      end_session_endpoint: `${this.url}/logout`,
      code_challenge_methods_supported: ["S256"],
      ...this.metadata,
    }
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    this.authorizations.push(query)
    const redirectUri = query.get("redirect_uri") ?? ""
    const code = randomBytes(16).toString("hex")
    this.#codes.set(code, {
      nonce: query.get("nonce") ?? "",
      challenge: query.get("code_challenge") ?? "",
      redirectUri,
    })
    const answer = new URLSearchParams({ ...(this.denies ?? { code }), state: query.get("state") ?? "" })
    response.writeHead(302, { location: `${redirectUri}?${answer}` }).end()
  }

  async #token(request: IncomingMessage, form: URLSearchParams): Promise<{ status: number; body: unknown }> {
    const grant = form.get("grant_type") ?? ""
    this.grants.push(grant)
    if (this.tokenAnswer !== undefined) return this.tokenAnswer
    const basic = Buffer.from(
      (request.headers.authorization ?? "").slice("Basic ".length),
      "base64",
    ).toString()
    const encoded = new URLSearchParams({ a: this.secret ?? "" }).toString().slice(2)
    if (basic !== `web:${encoded}`) return { status: 401, body: { error: "invalid_client" } }
    const refused = { status: 400, body: { error: "invalid_grant" } }
    if (grant === "refresh_token") {
      const given = form.get("refresh_token") ?? ""
      if (given !== this.#refreshTokens.at(-1)) {
        this.reused ||= this.#refreshTokens.includes(given)
        return refused
      }
      return { status: 200, body: await this.#tokens(undefined) }
    }
    const code = form.get("code") ?? ""
    const begun = this.#codes.get(code)
    this.#codes.delete(code)
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (
      begun === undefined ||
      begun.challenge !== challenge ||
      begun.redirectUri !== form.get("redirect_uri")
    )
      return refused
    return { status: 200, body: await this.#tokens(begun.nonce) }
  }

  async #tokens(nonce: string | undefined): Promise<object> {
    const refreshToken = randomBytes(16).toString("hex")
    this.#refreshTokens.push(refreshToken)
    return {
      token_type: "Bearer",
      access_token: await this.#accessToken(),
      expires_in: this.lifetimeSeconds,
      ...(this.offersRefresh ? { refresh_token: refreshToken } : {}),
      id_token: await this.#idToken(nonce),
    }
  }

  async #accessToken(): Promise<string> {
    if (this.accessClaims === undefined) return `access-${this.#refreshTokens.length}${this.accessTokenEnd}`
    const seconds = Math.floor(Date.now() / 1000)
    const known = { iss: this.url, aud: "api", sub: "ann", iat: seconds, exp: seconds + this.lifetimeSeconds }
    const { alg, kid, privateKey } = this.#key
    return new SignJWT({ ...known, number: this.#refreshTokens.length, ...this.accessClaims })
      .setProtectedHeader({ alg, kid, typ: "at+jwt" })
      .sign(privateKey)
  }

  #idToken(nonce: string | undefined): Promise<string> {
    const seconds = Math.floor(Date.now() / 1000)
    const known = { iss: this.url, aud: "web", sub: "ann", iat: seconds, exp: seconds + 300 }
    const all = { ...known, ...(nonce === undefined ? {} : { nonce }), groups: ["staff"], ...this.claims }
    const claims = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    const { alg, kid } = this.#key
    return new SignJWT(claims)
      .setProtectedHeader({ alg, kid })
      .sign((this.foreignKey ?? this.#key).privateKey)
  }
}
