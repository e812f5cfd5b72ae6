import { randomUUID } from "node:crypto"
import { realm } from "./realm.ts"

/** The issuer of the realm at `url`, which has no trailing `/`. */
export function issuerAt(url: string): string {
  return `${url}/realms/${realm.name}`
}

/** The claims of an ID token (OpenID Connect Core 1.0 §2). */
export function idClaimsOf(
  issuer: string,
  subject: string,
  client: string,
  nonce: string | undefined,
): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000)
  return {
    ...{ exp: now + realm.tokenLifetimeSeconds, iat: now, jti: randomUUID(), iss: issuer, aud: client },
    ...{ sub: subject, typ: "ID", azp: client, preferred_username: subject },
    ...(nonce === undefined ? {} : { nonce }),
  }
}

/** The claims of a Keycloak access token that matter behind a gateway. `subject` is a readable name. */
export function claimsOf(
  issuer: string,
  subject: string,
  client = "mobile",
  scopes: readonly string[] = realm.scopes,
): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000)
  const isService = subject === client
  return {
    exp: now + realm.tokenLifetimeSeconds,
    iat: now,
    jti: randomUUID(),
    iss: issuer,
    aud: client === realm.deviceClient ? realm.deviceAudience : realm.audience,
    sub: subject,
    typ: "Bearer",
    azp: client,
    scope: scopes.join(" "),
    preferred_username: isService ? `service-account-${client}` : subject,
    ...(isService ? { client_id: client } : {}),
  }
}
