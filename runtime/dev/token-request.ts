import type { DeviceLogins } from "./device-logins.ts"
import type { Logins } from "./logins.ts"
import { clientOf, deviceGrant, type OAuthError, refuse, scopesOf } from "./oauth-client.ts"
import { isSecretOf, realm } from "./realm.ts"

/** The subject of a token, and the client that requested it. */
export interface Grant {
  readonly subject: string
  readonly client: string
  readonly scopes: readonly string[]
  /** Set when the user logged in with a browser: then there is an ID token. */
  readonly login?: { readonly nonce: string | undefined }
  readonly refreshToken?: string
}

/** What users have logged in to. */
export interface OpenLogins {
  readonly browsers: Logins
  readonly devices: DeviceLogins
}

/**
 * Validates a request to the token endpoint. `authorization` is the raw header, `form` the body's parameters. Statuses, codes and
 * descriptions are those of Keycloak 26 for a confidential client.
 */
export function judgeTokenRequest(
  form: URLSearchParams,
  authorization: string | undefined,
  { browsers, devices }: OpenLogins,
): Grant | OAuthError {
  const twice = [...form.keys()].find((name) => form.getAll(name).length > 1)
  if (twice !== undefined) return refuse(400, "invalid_request", "duplicated parameter")
  const grantType = form.get("grant_type")
  if (!grantType) return refuse(400, "invalid_request", "Missing form parameter: grant_type")
  const client = clientOf(form, authorization)
  if ("error" in client) return client
  if (grantType === "authorization_code") {
    const login = browsers.redeem(form, client.id)
    if (login === undefined) return refuse(400, "invalid_grant", "Code not valid")
    const { subject, scopes, nonce } = login
    return { subject, client: client.id, scopes, login: { nonce } }
  }
  if (grantType === deviceGrant || grantType === "refresh_token") {
    const found =
      grantType === deviceGrant ? devices.redeem(form, client.id) : devices.refresh(form, client.id)
    return "error" in found ? found : { ...found, client: client.id, login: { nonce: undefined } }
  }
  const scopes = scopesOf(form.get("scope"))
  if ("error" in scopes) return scopes
  // The rest needs a client with a secret.
  if (client.id === realm.deviceClient)
    return refuse(400, "unauthorized_client", "Client not allowed for direct access grants")
  if (grantType === "client_credentials") return { subject: client.id, client: client.id, scopes }
  if (grantType !== "password") return refuse(400, "unsupported_grant_type", "Unsupported grant_type")
  const username = form.get("username")
  if (!username) return refuse(401, "invalid_request", "Missing parameter: username")
  if (!isSecretOf(realm.users, username, form.get("password") ?? ""))
    return refuse(401, "invalid_grant", "Invalid user credentials")
  return { subject: username, client: client.id, scopes }
}
