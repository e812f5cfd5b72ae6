import type { StepOf } from "../../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, type Finding, opens } from "../../analysis/finding.ts"
import { textWords } from "../../analysis/words.ts"
import { type BoundStatement, headSpan, mentions, statementOf } from "../bind/bound.ts"
import { type AuthForm, authText } from "../credential-text.ts"
import { reportDropped } from "../lower/header.ts"
import type { StepContext } from "../lower/step.ts"
import { statusText } from "../print.ts"
import { refusalStatus } from "../schema/refusal.ts"
import { oneOf, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StepText } from "../step-text.ts"

const defaults = { header: "x-api-key", query: "subscription-key", status: 401 }
/** Clients of Azure API Management send the key in this header. */
const apimHeader = "ocp-apim-subscription-key"

/** `auth subscription { … }` */
export const authSubscription: AuthForm = {
  form: { args: [word("subscription")], block: "auth subscription" },
  ways: () => [{ kind: "subscription" }],
  lower: lowerKey,
}

/** The statements in the block of `auth subscription`. */
export const authSubscriptionRows: readonly StatementRow[] = [
  {
    keyword: "header",
    forms: [{ args: [oneOf([word("none")], [slot("name", "header-name")])] }],
    byDefault: "X-API-Key; Ocp-Apim-Subscription-Key with `errors apim` or a policy document",
    docs: "The header that carries the key, or `none`.",
    example: 'header "X-Partner-Key"',
  },
  {
    keyword: "query",
    forms: [{ args: [oneOf([word("none")], [slot("name", "query-name")])] }],
    byDefault: defaults.query,
    docs: "The query parameter with the key when the header is absent, or `none`.",
    example: "query none",
  },
  {
    keyword: "forward",
    forms: [{ args: [] }],
    docs: "Sends the key on to the backend.",
    example: "forward",
  },
  refusalStatus(String(defaults.status), "Status of the response without a valid key."),
]

/** Where the key is read. An API described by policy documents uses the names of Azure API Management. */
function lowerKey(
  bound: BoundStatement,
  { apimApis, report }: StepContext,
  api: string,
): StepOf<"validate-key"> {
  const { block, statement } = bound
  // Clients that move from APIM need not change their header.
  const usual = { ...defaults, header: apimApis.has(api) ? apimHeader : defaults.header }
  const place = (keyword: "header" | "query"): string | null => {
    const said = statementOf(block, keyword)
    return said === undefined ? usual[keyword] : (said.args.value<string>("name") ?? null)
  }
  const [header, query] = [place("header"), place("query")]
  // A header that the gateway drops could never carry a key.
  reportDropped(header, headSpan(statement), report)
  if (header === null && query === null) {
    report.add(
      "SP2017",
      headSpan(statement),
      "with both `none`, the key can come neither in a header nor in the query",
      {
        help: "Remove one of the two `none`.",
      },
    )
  }
  const status = statementOf(block, "status")?.args.value<number>("status") ?? defaults.status
  return { kind: "validate-key", api, header, query, status, forward: mentions(block, "forward") }
}

/** Printing and comparison of a step that demands a subscription key. */
export const validateKey: StepText<"validate-key"> = {
  // The header of APIM is printed, because without it the text would have another meaning.
  print: ({ header, query, status, forward }, printing) =>
    authText(
      printing,
      "subscription",
      header !== defaults.header &&
        `header ${header === null ? "none" : JSON.stringify(printing.header(header))}`,
      query !== defaults.query && `query ${query === null ? "none" : textWords(query)}`,
      forward && "forward",
      statusText(status, defaults.status, printing),
    ),
  identities: () => ["auth"],
  added: ({ status }) => closes(`requests without a valid subscription key now get ${status}`),
  removed: () => opens("requests without a subscription key are now let through"),
  changed: {
    api: (before, after) => [
      // Keys belong to an API: another API means another set of callers.
      opens(`a key for \`${after}\` is now accepted`),
      breaking(`a key for \`${before}\` is no longer accepted`),
    ],
    header: (before, after) => otherPlace("header", before, after),
    query: (before, after) => otherPlace("query parameter", before, after),
    status: (before, after) => breaking(`requests without a valid key now get ${after} instead of ${before}`),
    forward: (_, after) =>
      after
        ? opens("the backend sees the caller's key")
        : closes("the backend no longer gets the caller's key"),
  } satisfies FieldRules<Fields<"validate-key">>,
  way: {
    credential: () => "a subscription key",
    ways: (step) => [step],
    schemes: ({ header, query }) => [
      ...(header === null ? [] : [keyScheme("header", header)]),
      ...(query === null ? [] : [keyScheme("query", query)]),
    ],
  },
}

function otherPlace(what: string, before: string | null, after: string | null): Finding | Finding[] {
  if (before === null) return opens(`the key may now also come in the ${what} \`${after}\``)
  if (after === null) return breaking(`the key is no longer read from the ${what} \`${before}\``)
  return [
    opens(`the key may come in the ${what} \`${after}\``),
    breaking(`the key is no longer read from the ${what} \`${before}\``),
  ]
}

function keyScheme(place: "header" | "query", name: string): readonly [string, object] {
  return [`subscription_${place}`, { type: "apiKey", in: place, name }]
}
