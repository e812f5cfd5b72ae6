import { createHash, timingSafeEqual } from "node:crypto"

/** Clients and users of the development realm. All of it is public: the README contains it. */
export const realm = {
  name: "acme",
  /** Client id → secret. */
  clients: { mobile: "mobile-secret", web: "web-secret" } as Readonly<Record<string, string>>,
  /** The client without a secret, of operators: for logins by the code of a device (RFC 8628), and of browsers with PKCE. */
  deviceClient: "sallyport-cli",
  /** User → password. */
  users: { ann: "ann", bob: "bob", carol: "carol" } as Readonly<Record<string, string>>,
  /** As in Keycloak, for a client with roles in two clients. */
  audience: ["orders-api", "account"],
  /** Of tokens of `deviceClient`: other services do not accept the tokens of operators, nor the other way round. */
  deviceAudience: ["sallyport", "account"],
  scopes: ["profile", "email", "orders.read"] as readonly string[],
  tokenLifetimeSeconds: 3600,
} as const

/** Whether `secret` is the secret of `name` in `table`. Takes the same time for a wrong name and a wrong secret. */
export function isSecretOf(table: Readonly<Record<string, string>>, name: string, secret: string): boolean {
  const known = Object.hasOwn(table, name) ? table[name] : undefined
  const same = timingSafeEqual(sha256(known ?? ""), sha256(secret))
  return known !== undefined && same
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}
