import { secretAlgorithm, signatureAlgorithm } from "../../../runtime/plan/resources.ts"
import { many, oneOf, optional, type Row, slot, word } from "./row.ts"

/** The names a plan may hold. */
export const algorithmNames: readonly string[] = [...signatureAlgorithm.options, ...secretAlgorithm.options]

const claimTypeNames = ["string", "int", "double", "bool", "map", "any"]

export const issuerRows: readonly Row[] = [
  {
    keyword: "discovery",
    forms: [{ args: [slot("url", "url")] }],
    docs: "The OpenID discovery document: says the issuer's name and where its keys are.",
    example: 'discovery "https://id.example/.well-known/openid-configuration"',
  },
  {
    keyword: "keys",
    forms: [{ args: [slot("file", "file")] }],
    docs: "A file with the key set (JWKS) instead of discovery; needs `issuer`.",
    example: 'keys file("keys/partner.jwks.json")',
  },
  {
    keyword: "key",
    several: 20,
    forms: [
      {
        args: [
          oneOf(
            [
              word("secret"),
              slot("secret", "reference", { to: ["secret"] }),
              optional(slot("encoding", "choice", { choices: ["base64"] })),
            ],
            [word("rsa"), slot("n", "constant", { max: 4096 }), slot("e", "constant", { max: 64 })],
            [word("certificate"), slot("certificate", "file")],
          ),
          optional(slot("id", "constant", { max: 256 })),
        ],
      },
    ],
    docs: "A key instead of discovery, perhaps with the `kid` of its tokens behind it: a shared secret (for HMAC only), an RSA key by modulus and exponent in Base64, or the key of a certificate. Needs `issuer`.",
    example: "key secret partner_key base64",
  },
  {
    keyword: "issuer",
    forms: [{ args: [slot("name", "load-text")] }],
    docs: "The `iss` a token must have, with `keys` or `key`. With `discovery` the document says it.",
    example: 'issuer "https://partner.example"',
  },
  {
    keyword: "any-issuer",
    forms: [{ args: [] }],
    docs: "With `keys` or `key`: accepts tokens whoever they say made them, as long as the key fits.",
    example: "any-issuer",
  },
  {
    keyword: "audience",
    several: true,
    forms: [{ args: [many(slot("audience", "data"), 100)] }],
    docs: "Audiences (`aud`) of which a token must have one.",
    example: "audience orders-api",
  },
  {
    keyword: "any-audience",
    forms: [{ args: [] }],
    docs: "Accepts tokens made for anybody.",
    example: "any-audience",
  },
  {
    keyword: "clock-skew",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 600_000, wholeSeconds: true })] }],
    byDefault: "30s",
    docs: "How far the issuer's clock may be off.",
    example: "clock-skew 30s",
  },
  {
    keyword: "algorithms",
    forms: [
      { args: [many(slot("algorithm", "choice", { choices: algorithmNames, label: "ALGORITHM" }), 14)] },
    ],
    byDefault: "RS256 PS256 ES256 EdDSA Ed25519",
    docs: "The signature algorithms accepted. Those of shared secrets (HS256, HS384, HS512) are for `key secret` alone, and the default there.",
    example: "algorithms RS256 ES256",
  },
  {
    keyword: "claims",
    forms: [{ args: [], block: "claims", blockRequired: true }],
    byDefault: "any claim may be used",
    docs: "The claims its tokens hold. With it, a claim that is not declared is an error wherever it is used.",
    example: "claims { sub string; roles list string }",
  },
]

export const claimRow: Row = {
  keyword: "CLAIM",
  several: true,
  forms: [
    {
      args: [
        oneOf(
          [word("list"), optional(slot("item", "choice", { choices: claimTypeNames, label: "TYPE" }))],
          [slot("type", "choice", { choices: [...claimTypeNames, "list"], label: "TYPE" })],
        ),
      ],
    },
  ],
  docs: "A claim and its type: `string`, `int`, `double`, `bool`, `list TYPE`, `map` or `any`.",
  example: "roles list string",
}

const milliseconds = { min: 1, max: 86_400_000 }

export const backendRows: readonly Row[] = [
  {
    keyword: "url",
    forms: [{ args: [slot("url", "url")] }],
    docs: "The one target, with an optional base path.",
    example: 'url "http://127.0.0.1:9001"',
  },
  {
    keyword: "target",
    several: 256,
    forms: [
      {
        args: [slot("url", "url"), optional(word("weight"), slot("weight", "count", { min: 1, max: 1000 }))],
      },
    ],
    docs: "One of several targets; requests are shared by weight, 1 if not given.",
    example: 'target "http://127.0.0.1:9002" weight 3',
  },
  {
    keyword: "timeout",
    forms: [
      {
        args: [
          oneOf(
            [
              word("connect"),
              slot("connect", "duration", milliseconds),
              optional(word("total"), slot("total", "duration-or-none", milliseconds)),
            ],
            [word("total"), slot("total", "duration-or-none", milliseconds)],
            [slot("total", "duration-or-none", milliseconds)],
          ),
        ],
      },
    ],
    byDefault: "connect 2s, total none (the operation's own time counts)",
    docs: "Longest time to connect, and in all until the answer is complete.",
    example: "timeout connect 2s total 5s",
  },
  {
    keyword: "tls",
    forms: [{ args: [], block: "tls", blockRequired: true }],
    byDefault: "certificates are checked against the system's authorities",
    docs: "How the backend's certificate is checked.",
    example: 'tls { ca file("certs/internal-ca.pem") }',
  },
]

export const tlsRows: readonly Row[] = [
  {
    keyword: "ca",
    forms: [{ args: [slot("file", "file")] }],
    docs: "The authorities that may sign the backend's certificate (PEM).",
    example: 'ca file("certs/internal-ca.pem")',
  },
  {
    keyword: "insecure",
    forms: [{ args: [] }],
    docs: "Does not check the certificate at all. For development.",
    example: "insecure",
  },
]
