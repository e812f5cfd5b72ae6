import type { Logins } from "./logins.ts"
import { isSecretOf, realm } from "./realm.ts"

/** The subject of a token, and the client that requested it. */
export interface Grant {
  readonly subject: string
  readonly client: string
  readonly scopes: readonly string[]
  /** Set when the user logged in with a browser: then there is an ID token. */
  readonly login?: { readonly nonce: string | undefined }
}

/** An error response of OAuth 2.0 (RFC 6749 section 5.2), in Keycloak's words. */
export interface OAuthError {
  readonly status: number
  readonly error: string
  readonly description: string
}

const invalidClient = "Invalid client or Invalid client credentials"

/**
 * Validates a request to the token endpoint. `authorization` is the raw header, `form` the body's parameters. Statuses, codes and
 * descriptions are those of Keycloak 26 for a confidential client.
 */
export function judgeTokenRequest(
  form: URLSearchParams,
  authorization: string | undefined,
  logins: Logins,
): Grant | OAuthError {
  const twice = [...form.keys()].find((name) => form.getAll(name).length > 1)
  if (twice !== undefined) return refuse(400, "invalid_request", "duplicated parameter")
  const grantType = form.get("grant_type")
  if (!grantType) return refuse(400, "invalid_request", "Missing form parameter: grant_type")
  const client = clientOf(form, authorization)
  if ("error" in client) return client
  if (grantType === "authorization_code") {
    const login = logins.redeem(form, client.id)
    if (login === undefined) return refuse(400, "invalid_grant", "Code not valid")
    const { subject, scopes, nonce } = login
    return { subject, client: client.id, scopes, login: { nonce } }
  }
  const scopes = scopesOf(form.get("scope"))
  if ("error" in scopes) return scopes
  if (grantType === "client_credentials") return { subject: client.id, client: client.id, scopes }
  if (grantType !== "password") return refuse(400, "unsupported_grant_type", "Unsupported grant_type")
  const username = form.get("username")
  if (!username) return refuse(401, "invalid_request", "Missing parameter: username")
  if (!isSecretOf(realm.users, username, form.get("password") ?? ""))
    return refuse(401, "invalid_grant", "Invalid user credentials")
  return { subject: username, client: client.id, scopes }
}

/** The secret is in Basic (RFC 6749 section 2.3.1) or in the body; Basic wins when both are present. */
function clientOf(form: URLSearchParams, authorization: string | undefined): { id: string } | OAuthError {
  const basic = authorization === undefined ? undefined : basicOf(authorization)
  const id = basic?.id ?? form.get("client_id")
  const secret = basic?.secret ?? form.get("client_secret")
  if (id === null || !Object.hasOwn(realm.clients, id)) return refuse(401, "invalid_client", invalidClient)
  if (secret === null || !isSecretOf(realm.clients, id, secret))
    return refuse(401, "unauthorized_client", invalidClient)
  return { id }
}

function basicOf(authorization: string): { id: string; secret: string } | undefined {
  const encoded = /^basic +([a-z0-9+/]+=*)$/i.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, "base64").toString("utf8")
  const colon = text.indexOf(":")
  if (colon === -1) return undefined
  return { id: formDecode(text.slice(0, colon)), secret: formDecode(text.slice(colon + 1)) }
}

/** Clients should encode both as form values, but many do not: a text that cannot be decoded is used as it is. */
function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "))
  } catch {
    return text
  }
}

/** All scopes of the client are default scopes: they are always granted, and a request may add `openid`. */
function scopesOf(asked: string | null): readonly string[] | OAuthError {
  const words = (asked ?? "").split(" ").filter((word) => word !== "")
  const unknown = words.find((word) => word !== "openid" && !realm.scopes.includes(word))
  if (unknown !== undefined) return refuse(400, "invalid_scope", `Invalid scopes: ${asked}`)
  return words.includes("openid") ? ["openid", ...realm.scopes] : realm.scopes
}

function refuse(status: number, error: string, description: string): OAuthError {
  return { status, error, description }
}
