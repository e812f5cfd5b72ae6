import { isSecretOf, realm } from "./realm.ts"

/** An error response of OAuth 2.0 (RFC 6749 section 5.2), in Keycloak's words. */
export interface OAuthError {
  readonly status: number
  readonly error: string
  readonly description: string
}

const invalidClient = "Invalid client or Invalid client credentials"

/** The grant type of RFC 8628. */
export const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

/** The secret is in Basic (RFC 6749 section 2.3.1) or in the body; Basic wins when both are present. */
export function clientOf(
  form: URLSearchParams,
  authorization: string | undefined,
): { id: string } | OAuthError {
  const basic = authorization === undefined ? undefined : basicOf(authorization)
  const id = basic?.id ?? form.get("client_id")
  const secret = basic?.secret ?? form.get("client_secret")
  if (id === realm.deviceClient) return { id }
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
export function scopesOf(asked: string | null): readonly string[] | OAuthError {
  const words = (asked ?? "").split(" ").filter((word) => word !== "")
  const unknown = words.find((word) => word !== "openid" && !realm.scopes.includes(word))
  if (unknown !== undefined) return refuse(400, "invalid_scope", `Invalid scopes: ${asked}`)
  return words.includes("openid") ? ["openid", ...realm.scopes] : realm.scopes
}

/** An error response. */
export function refuse(status: number, error: string, description: string): OAuthError {
  return { status, error, description }
}
