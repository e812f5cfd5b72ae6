import { refusalMessage, refusalStatus } from "./refusal.ts"
import { many, oneOf, optional, type StatementRow, slot, word } from "./row.ts"

/** A rule on a claim, for every way in that knows claims. */
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
  docs: "A rule on a claim: it is there; it `has` all (or `any`) of some texts, a string counting as a list separated by blanks or another separator, with `none` as one text; it `is` one of some texts. Dots walk into objects.",
  example: 'claim scope has any "orders.read" "orders.write"',
}

/** Where a token comes from, and what happens besides. */
export const callerTokenRows: readonly StatementRow[] = [
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
  refusalStatus("401", "Status of the response without a valid token."),
  refusalStatus("403", "The status of the answer when the token's claims do not fit.", "claim-status"),
  refusalMessage,
  {
    keyword: "output",
    forms: [{ args: [slot("variable", "name")] }],
    docs: "Leaves the token in a variable: `var.NAME.claims`, `var.NAME.header`.",
    example: "output token",
  },
]
