import type { IncomingMessage, ServerResponse } from "node:http"
import { listen } from "./listener.ts"
import { realm } from "./realm.ts"
import { readBody } from "./request-body.ts"
import { openSigningKeys, type SigningKeys } from "./signing-keys.ts"
import { claimsOf, issuerAt } from "./token-claims.ts"
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
 * Starts an identity provider with the paths and responses of a Keycloak realm: discovery, certs, and the token endpoint with the
 * client_credentials and password grants. For development only: its users and secrets are public.
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

type Answer = { status: number; body: unknown; headers?: Record<string, string> }

class Service {
  readonly #issuer: string
  readonly #keys: SigningKeys
  /** By method and path. */
  readonly #routes: Record<string, (request: IncomingMessage) => Answer | Promise<Answer>>

  constructor(issuer: string, keys: SigningKeys) {
    this.#issuer = issuer
    this.#keys = keys
    const base = `/realms/${realm.name}`
    this.#routes = {
      [`GET ${base}/.well-known/openid-configuration`]: () => ({ status: 200, body: this.#discovery() }),
      [`GET ${base}/protocol/openid-connect/certs`]: () => ({ status: 200, body: this.#keys.published() }),
      [`POST ${base}/protocol/openid-connect/token`]: (request) => this.#token(request),
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
      token_endpoint: `${endpoint}/token`,
      jwks_uri: `${endpoint}/certs`,
      grant_types_supported: ["client_credentials", "password"],
      response_types_supported: [],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
      scopes_supported: ["openid", ...realm.scopes],
      claims_supported: ["aud", "sub", "iss", "preferred_username"],
    }
  }

  async #token(request: IncomingMessage): Promise<Answer> {
    const type = (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase()
    if (type !== "application/x-www-form-urlencoded")
      return { status: 415, body: { error: "HTTP 415 Unsupported Media Type" } }
    const body = await readBody(request, bodyBytesMax)
    if (body === undefined)
      return { status: 413, body: { error: "HTTP 413 Content Too Large" }, headers: { connection: "close" } }
    const grant = judgeTokenRequest(new URLSearchParams(body.toString("utf8")), request.headers.authorization)
    if ("error" in grant)
      return { status: grant.status, body: { error: grant.error, error_description: grant.description } }
    const answer = {
      access_token: await this.#keys.sign(claimsOf(this.#issuer, grant.subject, grant.client, grant.scopes)),
      expires_in: realm.tokenLifetimeSeconds,
      refresh_expires_in: 0,
      token_type: "Bearer",
      "not-before-policy": 0,
      scope: grant.scopes.join(" "),
    }
    return { status: 200, body: answer, headers: { "cache-control": "no-store", pragma: "no-cache" } }
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

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    ...headers,
  })
  response.end(text)
}
