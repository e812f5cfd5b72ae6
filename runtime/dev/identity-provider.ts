import type { IncomingMessage, ServerResponse } from "node:http"
import { DeviceLogins } from "./device-logins.ts"
import { listen } from "./listener.ts"
import { endSession, type LoginResponse, Logins } from "./logins.ts"
import { clientOf, deviceGrant, type OAuthError } from "./oauth-client.ts"
import { realm } from "./realm.ts"
import { readBody } from "./request-body.ts"
import { openSigningKeys, type SigningKeys } from "./signing-keys.ts"
import { claimsOf, idClaimsOf, issuerAt } from "./token-claims.ts"
import { judgeTokenRequest } from "./token-request.ts"

/** A running identity provider for development. */
export interface IdentityProvider {
  /** Address without a path, e.g. `http://127.0.0.1:8081`. */
  readonly url: string
  /** The `iss` of its tokens: `{url}/realms/acme`. */
  readonly issuer: string
  /** Signs with a new key from now on. Tokens of older keys stay valid, unless `retire` is set. */
  rotate(options?: { retire?: boolean }): Promise<void>
  /** A token for any subject, without a password. `claims` adds or replaces claims. */
  token(subject: string, claims?: Readonly<Record<string, unknown>>): Promise<string>
  close(): Promise<void>
}

/** Options of the start. `folder` keeps the signing keys between starts; without it they are new each time. */
export interface IdentityProviderOptions {
  readonly host: string
  readonly port: number
  readonly folder?: string
}

const bodyBytesMax = 64 * 1024

/**
 * Starts an identity provider with the paths and responses of a Keycloak realm: discovery, certs, a login page, and the token endpoint with the
 * client_credentials, password, authorization_code, device_code and refresh_token grants. For development only: its users and secrets are public.
 * @throws {DevError} the address or the folder cannot be used
 */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const keys = await openSigningKeys(options.folder)
  const listener = await listen("the identity provider", options.host, options.port, (url) => {
    const service = new Service(issuerAt(url), keys)
    return (request, response) => void service.answer(request, response)
  })
  const issuer = issuerAt(listener.url)
  return {
    url: listener.url,
    issuer,
    rotate: ({ retire = false } = {}) => keys.rotate(retire),
    token: (subject, claims = {}) => keys.sign({ ...claimsOf(issuer, subject), ...claims }),
    close: () => listener.close(),
  }
}

type Answer = { status: number; body: unknown; headers?: Record<string, string> } | LoginResponse

class Service {
  readonly #issuer: string
  readonly #keys: SigningKeys
  readonly #logins = { browsers: new Logins(), devices: new DeviceLogins() }
  /** By method and path. */
  readonly #routes: Record<string, (request: IncomingMessage) => Answer | Promise<Answer>>

  constructor(issuer: string, keys: SigningKeys) {
    this.#issuer = issuer
    this.#keys = keys
    const base = `/realms/${realm.name}`
    this.#routes = {
      [`GET ${base}/.well-known/openid-configuration`]: () => ({ status: 200, body: this.#discovery() }),
      [`GET ${base}/protocol/openid-connect/certs`]: () => ({ status: 200, body: this.#keys.published() }),
      [`GET ${base}/protocol/openid-connect/auth`]: (request) =>
        this.#logins.browsers.authorize(queryOf(request), undefined),
      [`POST ${base}/protocol/openid-connect/auth`]: (request) => this.#login(request),
      [`GET ${base}/protocol/openid-connect/logout`]: (request) => endSession(queryOf(request)),
      [`POST ${base}/protocol/openid-connect/token`]: (request) => this.#token(request),
      [`POST ${base}/protocol/openid-connect/auth/device`]: (request) => this.#startDevice(request),
      [`POST ${base}/protocol/openid-connect/revoke`]: (request) => this.#revoke(request),
      [`GET ${base}/device`]: (request) => this.#logins.devices.enter(queryOf(request), undefined),
      [`POST ${base}/device`]: (request) => this.#enterCode(request),
    }
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const path = (request.url ?? "/").split("?", 1)[0] as string
      const method = request.method === "HEAD" ? "GET" : request.method
      const route = this.#routes[`${method} ${path}`]
      send(response, route ? await route(request) : this.#nowhere(path))
    } catch {
      // The client closed the connection, or its request ended early.
      response.destroy()
    }
  }

  /** OpenID Connect Discovery 1.0, with only what is implemented. */
  #discovery(): Record<string, unknown> {
    const endpoint = `${this.#issuer}/protocol/openid-connect`
    return {
      issuer: this.#issuer,
      authorization_endpoint: `${endpoint}/auth`,
      token_endpoint: `${endpoint}/token`,
      end_session_endpoint: `${endpoint}/logout`,
      device_authorization_endpoint: `${endpoint}/auth/device`,
      revocation_endpoint: `${endpoint}/revoke`,
      jwks_uri: `${endpoint}/certs`,
      grant_types_supported: [
        ...["authorization_code", "client_credentials", "password", "refresh_token", deviceGrant],
      ],
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      scopes_supported: ["openid", ...realm.scopes],
      claims_supported: ["aud", "sub", "iss", "preferred_username"],
    }
  }

  async #login(request: IncomingMessage): Promise<Answer> {
    const form = await formOf(request)
    return "status" in form ? form : this.#logins.browsers.authorize(queryOf(request), form)
  }

  async #enterCode(request: IncomingMessage): Promise<Answer> {
    const form = await formOf(request)
    return "status" in form ? form : this.#logins.devices.enter(queryOf(request), form)
  }

  async #startDevice(request: IncomingMessage): Promise<Answer> {
    const form = await formOf(request)
    if ("status" in form) return form
    const started = this.#logins.devices.start(form, `${this.#issuer}/device`)
    return "error" in started ? errorAnswer(started) : { status: 200, body: started, headers: noStore }
  }

  /** RFC 7009: also 200 for a token that is not known. */
  async #revoke(request: IncomingMessage): Promise<Answer> {
    const form = await formOf(request)
    if ("status" in form) return form
    const client = clientOf(form, request.headers.authorization)
    if ("error" in client) return errorAnswer(client)
    this.#logins.devices.revoke(form.get("token") ?? "", client.id)
    return { status: 200, body: {} }
  }

  async #token(request: IncomingMessage): Promise<Answer> {
    const form = await formOf(request)
    if ("status" in form) return form
    const grant = judgeTokenRequest(form, request.headers.authorization, this.#logins)
    if ("error" in grant) return errorAnswer(grant)
    const { subject, client, scopes, login, refreshToken } = grant
    const idToken = login && (await this.#keys.sign(idClaimsOf(this.#issuer, subject, client, login.nonce)))
    const answer = {
      access_token: await this.#keys.sign(claimsOf(this.#issuer, subject, client, scopes)),
      ...(idToken === undefined ? {} : { id_token: idToken }),
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      expires_in: realm.tokenLifetimeSeconds,
      refresh_expires_in: 0,
      token_type: "Bearer",
      "not-before-policy": 0,
      scope: scopes.join(" "),
    }
    return { status: 200, body: answer, headers: noStore }
  }

  #nowhere(path: string): Answer {
    const otherRealm = /^\/realms\/([^/]+)/.exec(path)?.[1]
    if (otherRealm !== undefined && otherRealm !== realm.name)
      return { status: 404, body: { error: "Realm does not exist" } }
    const allowed = Object.keys(this.#routes).find((route) => route.endsWith(` ${path}`))
    if (allowed === undefined) return { status: 404, body: { error: "HTTP 404 Not Found" } }
    const method = allowed.split(" ", 1)[0] as string
    return { status: 405, body: { error: "HTTP 405 Method Not Allowed" }, headers: { allow: method } }
  }
}

const noStore = { "cache-control": "no-store", pragma: "no-cache" }

/** The form in the body, or the response for another body. */
async function formOf(request: IncomingMessage): Promise<URLSearchParams | Exclude<Answer, LoginResponse>> {
  const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase()
  if (type !== "application/x-www-form-urlencoded")
    return { status: 415, body: { error: "HTTP 415 Unsupported Media Type" } }
  const body = await readBody(request, bodyBytesMax)
  if (body === undefined)
    return { status: 413, body: { error: "HTTP 413 Content Too Large" }, headers: { connection: "close" } }
  return new URLSearchParams(body.toString("utf8"))
}

function errorAnswer({ status, error, description }: OAuthError): Answer {
  return { status, body: { error, error_description: description } }
}

function queryOf(request: IncomingMessage): URLSearchParams {
  return new URL(request.url ?? "/", "http://localhost").searchParams
}

function send(response: ServerResponse, answer: Answer): void {
  if ("location" in answer) {
    response.writeHead(302, { location: answer.location, "cache-control": "no-store" }).end()
    return
  }
  if ("html" in answer) {
    const fields = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" }
    response.writeHead(answer.status, { ...fields, "x-frame-options": "DENY" }).end(answer.html)
    return
  }
  const { status, body, headers = {} } = answer
  const text = JSON.stringify(body)
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}
