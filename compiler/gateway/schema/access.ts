import { many, oneOf, optional, type Row, slot, word } from "./row.ts"

const failureStatus = { min: 400, max: 599 }

/** A refusal's status, where a block may say another one. */
function status(byDefault: string, docs: string): Row {
  return {
    keyword: "status",
    forms: [{ args: [slot("status", "status", failureStatus)] }],
    byDefault,
    docs,
    example: `status ${byDefault}`,
  }
}

const message: Row = {
  keyword: "message",
  forms: [{ args: [slot("message", "text")] }],
  byDefault: "the problem's own sentence",
  docs: "What the caller is told when refused.",
  example: 'message "This API needs a token of Acme."',
}

/** A rule on a claim, for every way in that knows claims. */
export const claim: Row = {
  keyword: "claim",
  several: 50,
  forms: [
    {
      args: [
        slot("claim", "claim", { max: 256 }),
        optional(
          oneOf(
            [
              word("has"),
              optional(slot("quantity", "choice", { choices: ["any", "all"] })),
              many(slot("value", "quoted"), 100),
            ],
            [word("is"), many(slot("value", "quoted"), 100)],
          ),
        ),
        optional(word("separator"), oneOf([word("none")], [slot("separator", "constant", { max: 16 })])),
      ],
    },
  ],
  docs: "A rule on a claim: it is there; it `has` all (or `any`) of some texts, a string counting as a list separated by blanks or another separator, with `none` as one text; it `is` one of some texts. Dots walk into objects.",
  example: 'claim scope has any "orders.read" "orders.write"',
}

/** Where a token comes from, and what happens besides. */
const tokenRows: readonly Row[] = [
  {
    keyword: "header",
    forms: [
      {
        args: [
          slot("name", "header-name"),
          optional(word("scheme"), slot("scheme", "constant", { max: 64 })),
        ],
      },
    ],
    byDefault: "Authorization",
    docs: "The header the token comes in. In `Authorization` it follows `Bearer`; with `scheme` it follows that word.",
    example: 'header "X-Token"',
  },
  {
    keyword: "from",
    forms: [
      {
        args: [
          oneOf(
            [word("query"), slot("query", "query-name"), optional(word("forward"))],
            [word("cookie"), slot("cookie", "constant", { max: 128 }), optional(word("forward"))],
            [slot("text", "expression")],
          ),
        ],
      },
    ],
    byDefault: "the header",
    docs: "The query parameter or cookie the token comes in, which the backend sees only with `forward`; or an expression whose value it is.",
    example: 'from query "access_token"',
  },
  status("401", "The status of the answer when there is no valid token."),
  {
    keyword: "claim-status",
    forms: [{ args: [slot("status", "status", failureStatus)] }],
    byDefault: "403",
    docs: "The status of the answer when the token's claims do not fit.",
    example: "claim-status 403",
  },
  message,
  {
    keyword: "output",
    forms: [{ args: [slot("variable", "name")] }],
    docs: "Leaves the token in a variable: `var.NAME.claims`, `var.NAME.header`.",
    example: "output token",
  },
]

export const authJwtRows: readonly Row[] = [
  claim,
  ...tokenRows,
  {
    keyword: "audience",
    several: true,
    forms: [{ args: [many(slot("audience", "data"), 100)] }],
    byDefault: "the issuer's",
    docs: "Audiences of which a token must have one here, instead of the issuer's.",
    example: "audience orders-admin",
  },
  {
    keyword: "issuer",
    several: true,
    forms: [{ args: [many(slot("value", "quoted"), 100)] }],
    byDefault: "the issuer's",
    docs: "Values of `iss` of which a token must have one here, instead of the issuer's.",
    example: 'issuer "https://id.example"',
  },
  {
    keyword: "clock-skew",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 600_000, wholeSeconds: true })] }],
    byDefault: "the issuer's",
    docs: "How far clocks may be off, here.",
    example: "clock-skew 1m",
  },
  {
    keyword: "expiration",
    forms: [{ args: [word("optional")] }],
    byDefault: "tokens have an end",
    docs: "Tokens without `exp` are accepted too.",
    example: "expiration optional",
  },
]

export const authIntrospectionRows: readonly Row[] = [
  claim,
  ...tokenRows,
  {
    keyword: "audience",
    several: true,
    forms: [{ args: [many(slot("audience", "data"), 100)] }],
    byDefault: "any audience",
    docs: "Audiences of which a token must have one.",
    example: "audience orders-api",
  },
]

export const authBasicRows: readonly Row[] = [
  {
    keyword: "realm",
    forms: [{ args: [slot("realm", "constant", { max: 128 })] }],
    byDefault: "the name of the table of users",
    docs: "What browsers show when they ask for the password.",
    example: 'realm "Acme partners"',
  },
  status("401", "The status of the answer when there is no right password."),
  message,
  {
    keyword: "forward",
    forms: [{ args: [] }],
    docs: "Leaves user and password in the request to the backend.",
    example: "forward",
  },
]

export const check: Row = {
  keyword: "check",
  several: true,
  forms: [
    {
      args: [
        word("header"),
        slot("name", "header-name"),
        optional(word("is"), many(slot("value", "quoted"), 100)),
      ],
      block: "check",
    },
  ],
  docs: "Refuses requests without a header, or where it has another value than these.",
  example: 'check header "X-Tenant" is "acme" "globex" { status 404 }',
}

const checkedIssuers = many(slot("issuer", "reference", { to: ["issuer"] }), 20)

/** In `inbound` tokens can be checked too, in order and inside of conditions. */
export const checkInOrder: Row = {
  ...check,
  forms: [
    ...check.forms,
    { args: [word("jwt"), checkedIssuers], block: "auth jwt" },
    { args: [word("any")], block: "check any", blockRequired: true },
  ],
  docs: "Refuses requests without a header, or where it has another value than these; or without a valid token, besides what `auth` demands. Of the tokens in an `any` block one is enough.",
}

export const checkAnyRows: readonly Row[] = [
  {
    keyword: "jwt",
    several: 10,
    required: true,
    forms: [{ args: [checkedIssuers], block: "auth jwt" }],
    docs: "A token of one of these issuers.",
    example: 'jwt acme { claim scope has "orders.read" }',
  },
]

export const checkRows: readonly Row[] = [
  {
    keyword: "ignore-case",
    forms: [{ args: [] }],
    docs: "Upper and lower case are the same.",
    example: "ignore-case",
  },
  status("403", "The status of the answer when it does not fit."),
  message,
]

function ipRow(keyword: "allow" | "deny"): Row {
  return {
    keyword,
    several: true,
    forms: [{ args: [word("ip"), many(slot("network", "network-or-range"), 10_000)] }],
    docs:
      keyword === "allow"
        ? "Only callers from these networks, addresses or ranges pass."
        : "Callers from these networks, addresses or ranges are refused.",
    example: `${keyword} ip 10.0.0.0/8 192.0.2.10-192.0.2.20`,
  }
}

export const allow: Row = ipRow("allow")
export const deny: Row = ipRow("deny")

export const cors: Row = {
  keyword: "cors",
  forms: [{ args: [], block: "cors", blockRequired: true }],
  docs: "Which pages of other sites may call and read answers. Preflights are answered before everything else. The nearest block with `cors` decides.",
  example: 'cors { origins "https://app.acme.example"; methods GET POST }',
}

export const corsRows: readonly Row[] = [
  {
    keyword: "origins",
    required: true,
    forms: [{ args: [oneOf([word("*")], [many(slot("origin", "quoted"), 1000)])] }],
    docs: "The sites, as browsers send them in `Origin`; `https://*.acme.example` is every host below; `*` every site.",
    example: 'origins "https://app.acme.example"',
  },
  {
    keyword: "methods",
    forms: [{ args: [many(slot("method", "method"), 50)] }],
    byDefault: "GET POST",
    docs: "The methods pages may use, or `*`.",
    example: "methods GET PUT DELETE",
  },
  {
    keyword: "headers",
    forms: [{ args: [oneOf([word("*")], [many(slot("header", "header-name"), 200)])] }],
    byDefault: "none but the simple ones",
    docs: "The headers pages may send, or `*`.",
    example: 'headers "Authorization" "Content-Type"',
  },
  {
    keyword: "expose",
    forms: [{ args: [oneOf([word("*")], [many(slot("header", "header-name"), 200)])] }],
    byDefault: "none but the simple ones",
    docs: "The headers of answers that pages may read.",
    example: 'expose "X-Request-Id"',
  },
  {
    keyword: "credentials",
    forms: [{ args: [] }],
    docs: "Browsers may send cookies and certificates along. Not with `origins *`.",
    example: "credentials",
  },
  {
    keyword: "max-age",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 86_400_000, wholeSeconds: true })] }],
    byDefault: "browsers ask each time",
    docs: "How long browsers keep the answer to a preflight.",
    example: "max-age 10m",
  },
  {
    keyword: "forward-unmatched",
    forms: [{ args: [] }],
    byDefault: "a preflight that fits nothing ends with an empty 200",
    docs: "A preflight that fits nothing goes on like any request.",
    example: "forward-unmatched",
  },
]
