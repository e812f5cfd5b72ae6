import {
  type ArgumentPattern,
  type Form,
  many,
  oneOf,
  optional,
  type StatementRow,
  slot,
  word,
} from "./row.ts"

const secret = slot("secret", "reference", { to: ["secret"], label: "SECRET" })
const clientArgs = [slot("client", "data", { label: '"ID"' }), word("secret"), secret]
const tokenName = slot("token", "reference", { to: ["token"], label: "TOKEN" })
const certificateName = slot("certificate", "reference", { to: ["certificate"], label: "CERTIFICATE" })

export const certificate: StatementRow = {
  keyword: "certificate",
  several: true,
  forms: [
    { args: [slot("name", "name", { to: ["certificate"] })], block: "certificate", blockRequired: true },
  ],
  docs: "A certificate with its key, for listeners with `tls`, and as the gateway's client certificate for `authenticate certificate`. Files are read again when they change.",
  example: 'certificate edge { cert file("certs/edge.pem"); key file("certs/edge.key") }',
}

export const certificateRows: readonly StatementRow[] = [
  {
    keyword: "cert",
    forms: [
      {
        args: [
          oneOf(
            [slot("file", "file")],
            [slot("named", "reference", { to: ["secret", "value"], label: "SECRET|VALUE" })],
          ),
        ],
      },
    ],
    docs: "The certificate (PEM), optionally followed by its intermediate certificates: in a file, or in a named value.",
    example: 'cert file("certs/edge.pem")',
  },
  {
    keyword: "key",
    forms: [
      {
        args: [
          oneOf([slot("file", "file")], [slot("named", "reference", { to: ["secret"], label: "SECRET" })]),
        ],
      },
    ],
    docs: "Its private key (PEM, without a password): in a file, or in a secret.",
    example: 'key file("certs/edge.key")',
  },
  {
    keyword: "acme",
    forms: [{ args: [], block: "certificate acme", blockRequired: true }],
    docs: "Orders the certificate from an authority with ACME (RFC 8555), and renews it: instead of `cert` and `key`. By this statement you accept the terms of the authority.",
    example: 'acme { directory letsencrypt; hosts "shop.example" "www.shop.example"; encrypt-with acme_key }',
  },
  {
    keyword: "ocsp-stapling",
    forms: [{ args: [slot("choice", "choice", { choices: ["on", "off"] })] }],
    byDefault: "on, if the certificate names an OCSP responder",
    docs: "Whether listeners fetch the authority's response about the certificate (OCSP) and send it in their handshakes, so that clients need not ask for it.",
    example: "ocsp-stapling off",
  },
]

export const acmeRows: readonly StatementRow[] = [
  {
    keyword: "directory",
    required: true,
    forms: [
      {
        args: [
          oneOf([slot("choice", "choice", { choices: ["letsencrypt", "staging"] })], [slot("url", "url")]),
        ],
      },
    ],
    docs: "The authority: Let's Encrypt; its `staging` directory for tests, whose certificates clients do not trust; or the URL of another directory.",
    example: "directory letsencrypt",
  },
  {
    keyword: "hosts",
    required: true,
    several: true,
    forms: [{ args: [many(slot("host", "host"), 100)] }],
    docs: "The host names of the certificate. Wildcards are not possible.",
    example: 'hosts "shop.example" "www.shop.example"',
  },
  {
    keyword: "encrypt-with",
    required: true,
    forms: [{ args: [secret] }],
    docs: "The secret that encrypts private keys in the database, with at least 22 characters; make one with `openssl rand -base64 32`. With another secret, the certificate is ordered again.",
    example: "encrypt-with acme_key",
  },
  {
    keyword: "challenge",
    forms: [{ args: [slot("choice", "choice", { choices: ["http-01", "tls-alpn-01"] })] }],
    byDefault: "http-01",
    docs: "How the authority verifies that the hosts are yours: `http-01` by a request to port 80, `tls-alpn-01` by a TLS connection to port 443.",
    example: "challenge tls-alpn-01",
  },
  {
    keyword: "contact",
    forms: [{ args: [slot("contact", "constant", { label: '"EMAIL"', max: 254 })] }],
    byDefault: "none",
    docs: "The e-mail address of the account at the authority.",
    example: 'contact "ops@shop.example"',
  },
  {
    keyword: "external-account",
    forms: [{ args: [slot("id", "load-text", { label: '"ID"' }), word("secret"), secret] }],
    byDefault: "none",
    docs: "The account that the authority has given you outside of ACME (external account binding): its key id, and a secret with its HMAC key in base64url.",
    example: 'external-account "kid-1" secret gateway_secret',
  },
  {
    keyword: "ca",
    forms: [{ args: [slot("file", "file")] }],
    byDefault: "the system's authorities",
    docs: "Certificate authorities (PEM) that may sign the certificate of the directory's server.",
    example: 'ca file("certs/internal-ca.pem")',
  },
]

export const token: StatementRow = {
  keyword: "token",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["token"] })], block: "token client", blockRequired: true }],
  docs: "A client that gets tokens for the gateway itself (client credentials grant). A token is kept until shortly before it expires; requests that wait for a new one share one fetch.",
  example:
    'token stock { url "https://id.example/token"; client "gateway" secret gateway_secret; scope "stock.read" }',
}

const scope: StatementRow = {
  keyword: "scope",
  forms: [{ args: [slot("scope", "data", { label: '"SCOPE"' })] }],
  docs: "The requested scope.",
  example: 'scope "stock.read"',
}

const audience: StatementRow = {
  keyword: "audience",
  forms: [{ args: [slot("audience", "data", { label: '"AUDIENCE"' })] }],
  docs: "The requested audience, if the endpoint needs it.",
  example: 'audience "stock-api"',
}

export const tokenRows: readonly StatementRow[] = [
  {
    keyword: "url",
    forms: [{ args: [slot("url", "url")] }],
    docs: "The token endpoint.",
    example: 'url "https://id.example/oauth2/token"',
  },
  {
    keyword: "issuer",
    forms: [{ args: [slot("issuer", "reference", { to: ["issuer"] })] }],
    docs: "An issuer whose discovery document names the token endpoint, instead of `url`.",
    example: "issuer acme",
  },
  {
    keyword: "client",
    required: true,
    forms: [{ args: clientArgs }],
    docs: "The gateway's client id and secret at the endpoint.",
    example: 'client "gateway" secret gateway_secret',
  },
  scope,
  audience,
  {
    keyword: "in-body",
    forms: [{ args: [] }],
    byDefault: "as the discovery document declares, else in the Authorization header",
    docs: "Sends id and secret in the form, not in the Authorization header.",
    example: "in-body",
  },
]

export const introspection: StatementRow = {
  keyword: "introspection",
  several: true,
  forms: [
    { args: [slot("name", "name", { to: ["introspection"] })], block: "introspection", blockRequired: true },
  ],
  docs: "An introspection endpoint (RFC 7662), which says whether an opaque token is valid and who its user is. For `auth introspection NAME`.",
  example:
    'introspection acme { url "https://id.example/introspect"; client "gateway" secret gateway_secret }',
}

export const introspectionRows: readonly StatementRow[] = [
  {
    keyword: "url",
    required: true,
    forms: [{ args: [slot("url", "url")] }],
    docs: "The introspection endpoint.",
    example: 'url "https://id.example/introspect"',
  },
  {
    keyword: "client",
    required: true,
    forms: [{ args: clientArgs }],
    docs: "The gateway's client id and secret at the endpoint.",
    example: 'client "gateway" secret gateway_secret',
  },
  {
    keyword: "cache",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 3_600_000, wholeSeconds: true })] }],
    byDefault: "30s",
    docs: "How long a response of the endpoint is cached, at most until the token expires. A revoked token stays valid that long.",
    example: "cache 30s",
  },
]

export const users: StatementRow = {
  keyword: "users",
  several: true,
  forms: [{ args: [slot("name", "name", { to: ["users"] })], block: "users", blockRequired: true }],
  docs: "Users with passwords: for `auth basic NAME`.",
  example: "users partners { user ann ann_password }",
}

export const usersRows: readonly StatementRow[] = [
  {
    keyword: "user",
    several: 10_000,
    required: true,
    forms: [{ args: [slot("user", "data", { label: "USER" }), secret] }],
    docs: "A user and the secret that is the password, or its hash: `scrypt:N:r:p:SALT:HASH`, salt and hash in base64url.",
    example: "user ann ann_password",
  },
]

/** The forms of authentication that the gateway uses in every request to a service. */
export const identityForms: readonly Form[] = [
  {
    args: [
      word("basic"),
      slot("user", "data", { label: '"USER"' }),
      slot("password", "reference", { to: ["secret"], label: "SECRET" }),
    ],
  },
  { args: [word("token"), tokenName] },
  {
    args: [
      word("token"),
      slot("issuer", "reference", { to: ["issuer"] }),
      word("client"),
      ...clientArgs,
      optional(word("scope"), slot("scope", "data", { label: '"SCOPE"' })),
      optional(word("audience"), slot("audience", "data", { label: '"AUDIENCE"' })),
    ],
  },
  { args: [word("certificate"), certificateName] },
]

/** The statements in a `backend`. */
export const backendCredentialRows: readonly StatementRow[] = [
  {
    keyword: "authenticate",
    several: 2,
    forms: identityForms,
    docs: "The gateway's credentials for this backend: they replace the Authorization header of the request, or the gateway sends a client certificate in TLS. `token ISSUER client` is a token client for this backend alone, at the issuer's token endpoint. When the backend refuses a token with 401, an idempotent request is sent once more with a fresh token.",
    example: 'authenticate basic "gateway" stock_password',
  },
]

/** The forms of authentication in statements of a section. `token`: the arguments after the name of a token client. */
export function stepIdentityForms(...token: ArgumentPattern[]): Form[] {
  return [
    { args: [word("basic"), slot("user", "text"), slot("password", "text")] },
    { args: [word("bearer"), slot("token", "text")] },
    {
      args: [word("token"), slot("client", "reference", { to: ["token"], label: "TOKEN" }), ...token],
    },
    { args: [word("certificate"), certificateName] },
  ]
}

/** The statements in `xml`. */
export const xmlCredentialRows: readonly StatementRow[] = [
  {
    keyword: "certificate",
    several: 1000,
    forms: [{ args: [slot("id", "constant", { label: '"ID"' }), certificateName] }],
    docs: "Maps the name of a certificate in documents to a declared certificate.",
    example: 'certificate "0123ABCD" edge',
  },
  {
    keyword: "identity",
    several: 1000,
    forms: [
      { args: [oneOf([word("*")], [slot("resource", "constant", { label: '"RESOURCE"' })]), tokenName] },
    ],
    docs: 'The token client for `<authentication-managed-identity resource="RESOURCE" />`; `*` is every resource that is not listed.',
    example: 'identity "https://vault.example" vault',
  },
  {
    keyword: "authorization",
    several: 1000,
    forms: [
      {
        args: [
          oneOf(
            [word("*")],
            [
              slot("provider", "constant", { label: '"PROVIDER"' }),
              slot("id", "constant", { label: '"ID"' }),
            ],
          ),
          tokenName,
        ],
      },
    ],
    docs: 'The token client for `<get-authorization-context provider-id="PROVIDER" authorization-id="ID">`; `*` is every pair that is not listed, also when the names are computed per request.',
    example: 'authorization "spotify" "playlists" spotify',
  },
  {
    keyword: "hub",
    several: 1000,
    forms: [
      {
        args: [slot("id", "constant", { label: '"ID"' }), slot("url", "url"), optional(tokenName)],
      },
    ],
    docs: 'The URL that gets the messages of `<log-to-eventhub logger-id="ID">` by POST, with a client token. Requests do not wait for it. Without this statement nothing is sent.',
    example: 'hub "audit" "https://acme.servicebus.example/audit/messages" hubs',
  },
]
