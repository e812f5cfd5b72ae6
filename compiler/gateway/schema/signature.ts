import { refusalMessage, refusalStatus } from "./refusal.ts"
import { type Form, many, oneOf, optional, type StatementRow, slot, word } from "./row.ts"

const secrets = many(slot("secret", "reference", { to: ["secret"], label: "SECRET" }), 4)

/** The published forms of webhooks, and the general form. */
const formWords = ["github", "stripe", "slack", "standard", "custom"] as const
export type SignatureForm = (typeof formWords)[number]

/** `auth hmac FORM SECRET …`. */
export const authHmacForms: readonly Form[] = formWords.map((form) => ({
  args: [word("hmac"), word(form), secrets],
  block: form === "custom" ? "auth hmac custom" : "auth hmac",
  ...(form === "custom" ? { blockRequired: true } : {}),
}))

/** Seconds. The longest time that the runtime keeps an accepted request is a month. */
const time = { min: 1000, max: 2_592_000_000, wholeSeconds: true }

/** The statements in the block of every form. */
export const authHmacRows: readonly StatementRow[] = [
  {
    keyword: "tolerance",
    forms: [{ args: [slot("time", "duration", { ...time, max: 86_400_000 })] }],
    byDefault: "5m",
    docs: "How much the time of the signature may differ from the current time, in both directions. Not for `github`, whose requests have no time.",
    example: "tolerance 5m",
  },
  {
    keyword: "replay-guard",
    forms: [
      {
        args: [
          optional(word("header"), slot("name", "header-name")),
          optional(word("for"), slot("time", "duration", time)),
        ],
      },
    ],
    byDefault: "a request may be repeated while its time is accepted",
    docs: "A request with the same signed content, or with the same value of a signed header, gets 409. It is remembered for this time (default: twice the `tolerance`; without a time in the signature, one day). With `limits { shared redis }` all processes remember it together, and requests get 503 while Redis is unavailable; without, each machine remembers its own.",
    example: "replay-guard",
  },
  {
    keyword: "caller",
    forms: [{ args: [slot("caller", "constant", { max: 256 })] }],
    byDefault: "the name of the first secret",
    docs: "The caller's name: `jwt.sub` in expressions, limits and logs. Give one if secrets are replaced from time to time.",
    example: 'caller "github"',
  },
  refusalStatus("401", "Status of the response without a valid signature."),
  refusalMessage,
]

/** The statements in the block of the general form. */
export const authHmacCustomRows: readonly StatementRow[] = [
  {
    keyword: "header",
    required: true,
    forms: [{ args: [slot("name", "header-name")] }],
    docs: "The header with the signature.",
    example: 'header "X-Signature"',
  },
  {
    keyword: "prefix",
    forms: [{ args: [slot("prefix", "constant", { max: 64 })] }],
    byDefault: "none",
    docs: "Text before the signature. In a list, only entries that begin with it are signatures.",
    example: 'prefix "sha256="',
  },
  {
    keyword: "separator",
    forms: [{ args: [oneOf(...["comma", "semicolon", "space"].map((each) => [word(each)]))] }],
    byDefault: "the header contains one signature",
    docs: "The header is a list, of which one signature must match.",
    example: "separator comma",
  },
  {
    keyword: "encoding",
    forms: [{ args: [slot("encoding", "choice", { choices: ["hex", "base64"] })] }],
    byDefault: "hex",
    docs: "How the signature is written.",
    example: "encoding base64",
  },
  {
    keyword: "algorithm",
    forms: [{ args: [slot("algorithm", "choice", { choices: ["sha256", "sha384", "sha512"] })] }],
    byDefault: "sha256",
    docs: "The hash function of the HMAC.",
    example: "algorithm sha512",
  },
  {
    keyword: "key",
    forms: [{ args: [slot("key", "choice", { choices: ["text", "base64"] })] }],
    byDefault: "text",
    docs: "Whether the key is the secret as it is, or its Base64 decoded (after `whsec_`, if it begins with that).",
    example: "key base64",
  },
  {
    keyword: "timestamp",
    forms: [
      {
        args: [
          oneOf(
            [word("header"), slot("name", "header-name")],
            [word("prefix"), slot("prefix", "constant", { max: 64 })],
          ),
          optional(slot("unit", "choice", { choices: ["seconds", "milliseconds"] })),
        ],
      },
    ],
    byDefault: "the signature has no time, and is valid for ever",
    docs: "The time of the signature, as Unix time in seconds (default) or milliseconds: in a header of its own, or in the list of signatures after this prefix. It must be signed.",
    example: 'timestamp header "X-Timestamp"',
  },
  {
    keyword: "signed",
    forms: [{ args: [many(slot("part", "data", { label: 'WORD|header:NAME|"…"' }), 40)] }],
    byDefault: "`body`",
    docs: "What is signed, joined in this order, as the client sent it: `method`, `path`, `query` (without `?`), `target` (path and query), `host`, `timestamp`, `body`, `header:NAME`, and constant texts.",
    example: 'signed timestamp "." method " " target "\\n" body',
  },
  ...authHmacRows.map((row) =>
    row.keyword === "tolerance"
      ? {
          ...row,
          docs: "How much the time of `timestamp` may differ from the current time, in both directions.",
        }
      : row,
  ),
]
