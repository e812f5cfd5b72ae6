import { randomUUID } from "node:crypto"
import { realm } from "./realm.ts"

/** The issuer of the realm at `url`, which has no `/` at the end. */
export function issuerAt(url: string): string {
  return `${url}/realms/${realm.name}`
}

/** What an access token of Keycloak says, as far as somebody behind a gateway looks at it. `subject` is a name, to be read by people. */
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
    aud: realm.audience,
    sub: subject,
    typ: "Bearer",
    azp: client,
    scope: scopes.join(" "),
    preferred_username: isService ? `service-account-${client}` : subject,
    ...(isService ? { client_id: client } : {}),
  }
}
