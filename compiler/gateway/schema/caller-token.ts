import { refusalMessage, refusalStatus } from "./refusal.ts"
import { many, oneOf, optional, type StatementRow, slot, word } from "./row.ts"

/** A rule on a claim, for every form of authentication that provides claims. */
export const claimRule: StatementRow = {
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
  docs: "A rule about a claim: it is present; it `has` all (or `any`) of these strings; or it `is` one of these strings. A string claim is a list separated by spaces or by `separator`; with `separator none` it is one value. A dot in the name of a claim selects a member of an object: `address.country`.",
  example: 'claim scope has any "orders.read" "orders.write"',
}

/** The source of a token, and further settings of its check. */
export const callerTokenRows: readonly StatementRow[] = [
  {
    keyword: "from",
    forms: [
      {
        args: [
          oneOf(
            [
              word("header"),
              slot("header", "header-name"),
              optional(word("scheme"), slot("scheme", "constant", { max: 64 })),
            ],
            [word("query"), slot("query", "query-name"), optional(word("forward"))],
            [word("cookie"), slot("cookie", "constant", { max: 128 }), optional(word("forward"))],
            [slot("text", "expression")],
          ),
        ],
      },
    ],
    instead: "A token is read from one place.",
    byDefault: 'header "Authorization" scheme "Bearer"',
    docs: "Where the token is: a header, in which it follows the word of `scheme` if there is one; a query parameter; a cookie; or the value of an expression. The backend gets the parameter or cookie only with `forward`.",
    example: 'from query "access_token"',
  },
  refusalStatus("401", "Status of the response without a valid token."),
  refusalStatus("403", "Status of the response when the claims of the token do not match.", "claim-status"),
  refusalMessage,
  {
    keyword: "output",
    forms: [{ args: [slot("variable", "name")] }],
    docs: "Puts the token into a variable: `var.NAME.claims`, `var.NAME.header`.",
    example: "output token",
  },
]
