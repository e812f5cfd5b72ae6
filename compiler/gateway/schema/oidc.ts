import { claimRule } from "./caller-token.ts"
import { refusalMessage, refusalStatus } from "./refusal.ts"
import { many, optional, type StatementRow, slot, word } from "./row.ts"

const secret = slot("secret", "reference", { to: ["secret"], label: "SECRET" })
const path = slot("path", "constant", { label: '"/PATH"', max: 512 })

export const oidc: StatementRow = {
  keyword: "oidc",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["oidc"] })], block: "oidc", blockRequired: true }],
  docs: "A client of an OpenID provider (OpenID Connect) that logs browsers in, and keeps their sessions. For `auth oidc NAME`.",
  example: 'oidc web { issuer acme; client "web" secret web_secret; session-keys session_key }',
}

/** The paths of a client, with their defaults. */
export const oidcPathDefaults = {
  login: "/oauth2/login",
  callback: "/oauth2/callback",
  logout: "/oauth2/logout",
} as const

function pathRow(keyword: keyof typeof oidcPathDefaults, docs: string): StatementRow {
  return {
    keyword,
    forms: [{ args: [path] }],
    byDefault: `\`"${oidcPathDefaults[keyword]}"\``,
    docs,
    example: `${keyword} "${oidcPathDefaults[keyword]}"`,
  }
}

/** The statements in `oidc`. */
export const oidcRows: readonly StatementRow[] = [
  {
    keyword: "issuer",
    required: true,
    forms: [{ args: [slot("issuer", "reference", { to: ["issuer"] })] }],
    docs: "The identity provider: an issuer with `discovery`.",
    example: "issuer acme",
  },
  {
    keyword: "client",
    required: true,
    forms: [{ args: [slot("client", "data", { label: '"ID"' }), optional(word("secret"), secret)] }],
    docs: "The gateway's client id and secret at the provider. Without `secret` it is a public client.",
    example: 'client "web" secret web_secret',
  },
  {
    keyword: "session-keys",
    required: true,
    forms: [{ args: [many(secret, 5)] }],
    docs: "Secrets of at least 32 bytes that encrypt sessions; make one with `openssl rand -base64 32`. The first one encrypts, each one decrypts: to replace a secret, put the new one first, and remove the old one after the `lifetime` of a session.",
    example: "session-keys session_key session_key_old",
  },
  {
    keyword: "session",
    forms: [{ args: [slot("store", "choice", { choices: ["cookie", "redis"] })] }],
    byDefault: "cookie",
    docs: "Where sessions are: encrypted in the browser's cookies, or in the Redis of `limits { shared redis }`, with only a random id in the cookie. A logout ends a session in Redis for every copy of its cookie.",
    example: "session redis",
  },
  {
    keyword: "lifetime",
    forms: [{ args: [slot("time", "duration", { min: 60_000, max: 2_592_000_000, wholeSeconds: true })] }],
    byDefault: "8h",
    docs: "Longest time from the login until the next one.",
    example: "lifetime 12h",
  },
  {
    keyword: "scope",
    forms: [{ args: [slot("scope", "constant", { label: '"SCOPES"', max: 1000 })] }],
    byDefault: "`openid`",
    docs: "The requested scopes, separated by spaces; `openid` is always one of them. Many providers return a refresh token only for `offline_access`.",
    example: 'scope "profile offline_access"',
  },
  {
    keyword: "parameter",
    several: 20,
    forms: [{ args: [slot("name", "constant", { label: '"NAME"', max: 128 }), slot("value", "load-text")] }],
    byDefault: "none",
    docs: "A further parameter of the request to the authorization endpoint.",
    example: 'parameter "audience" "https://api.acme.example"',
  },
  {
    keyword: "external",
    forms: [{ args: [slot("url", "url", { label: '"ORIGIN"' })] }],
    byDefault: "scheme and Host of the request, after `trust`",
    docs: "Scheme and host as browsers see the gateway, for the redirect URI. Needed behind a proxy that changes the Host.",
    example: 'external "https://app.acme.example"',
  },
  pathRow("login", "The path that begins a login; its query `return_to` is the path to open afterwards."),
  pathRow("callback", "The path to which the provider returns the browser. Register it at the provider."),
  pathRow(
    "logout",
    "The path that ends the session, here and at the provider. A link or form of this site opens it.",
  ),
  {
    keyword: "back-channel-logout",
    forms: [{ args: [path] }],
    byDefault: "the provider cannot end sessions",
    docs: "The path to which the provider sends logouts (OpenID Connect Back-Channel Logout 1.0). It needs `session redis`. Register it at the provider.",
    example: 'back-channel-logout "/oauth2/back-channel-logout"',
  },
  {
    keyword: "after-logout",
    forms: [{ args: [path] }],
    byDefault: "the page of the provider",
    docs: "The path that the provider returns the browser to after a logout. Register it at the provider.",
    example: 'after-logout "/goodbye"',
  },
]

/** The statements in `auth oidc`. */
export const authOidcRows: readonly StatementRow[] = [
  claimRule,
  {
    keyword: "claims-from",
    forms: [{ args: [slot("token", "choice", { choices: ["id-token", "access-token"] })] }],
    byDefault: "id-token",
    docs: "The token of the session whose claims `jwt` and `claim` have. The access token must be a JWT that the issuer accepts, as in `auth jwt`.",
    example: "claims-from access-token",
  },
  {
    keyword: "forward",
    forms: [{ args: [slot("token", "choice", { choices: ["access-token", "id-token"] })] }],
    byDefault: "none",
    docs: "The token of the session that the backend gets, as `Authorization: Bearer`.",
    example: "forward access-token",
  },
  refusalStatus(
    "401",
    "Status of the response to a request that is no navigation of a browser and has no session.",
  ),
  refusalStatus("403", "Status of the response when the claims of the user do not match.", "claim-status"),
  refusalMessage,
]
