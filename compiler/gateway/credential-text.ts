import type { ClaimRule, CredentialSource, TokenCheck } from "../../runtime/plan/step-values.ts"
import type { CredentialStep } from "../../runtime/plan/steps.ts"
import { breaking, closes, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { listChanges, same } from "../analysis/same.ts"
import { listWords, textWords } from "../analysis/words.ts"
import type { BoundStatement } from "./bind/bound.ts"
import type { AuthWay } from "./lower/place.ts"
import type { StepContext } from "./lower/step.ts"
import {
  countText,
  messageText,
  type Printed,
  type PrintedLine,
  type Printing,
  statement,
  statusText,
  textsOf,
  wordText,
} from "./print.ts"
import type { Program } from "./program.ts"
import type { Form } from "./schema/row.ts"

/** A form of `auth`: its syntax, what it provides about callers, and how it is lowered to a step. */
export interface AuthForm {
  readonly form: Form
  /** Undefined when the statement has a mistake that is reported elsewhere. */
  readonly ways: (bound: BoundStatement, program: Program) => AuthWay[] | undefined
  /** Undefined when the statement has a mistake (reported). `api`: the API that has the routes. */
  readonly lower: (bound: BoundStatement, context: StepContext, api: string) => CredentialStep | undefined
}

/** Prints a form of `auth` that has no equivalent statement in a section. */
export function authText(printing: Printing, head: string, ...lines: readonly PrintedLine[]): Printed {
  // In a section only `check jwt` and `check any` can demand a credential.
  if (printing.inSection) printing.refuses("it has no statement")
  return statement(`auth ${head}`, ...lines)
}

/** Prints the rules on claims, the source of the token and the required audiences. */
export function tokenTexts(
  { claims, from, audiences }: Pick<TokenCheck, "claims" | "from" | "audiences">,
  printing: Printing,
): (string | undefined)[] {
  return [
    ...claims.map(claimText),
    sourceText(from, printing),
    audiences === undefined ? undefined : `audience${textsOf(audiences)}`,
  ]
}

/** Prints how a token is refused, and in which variable it is stored. */
export function refusalTexts(
  { status, claimStatus, message, output }: Omit<TokenCheck, "claims" | "from" | "audiences">,
  printing: Printing,
): (string | undefined)[] {
  const claimsRefused = statusText(claimStatus, 403, printing)
  return [
    // The keyword is `claim-status`, and the value is printed like `status`.
    statusText(status, 401, printing),
    claimsRefused === undefined ? undefined : `claim-${claimsRefused}`,
    messageText(message),
    output === undefined ? undefined : `output ${output}`,
  ]
}

/** The source of a credential; undefined for the default source. */
function sourceText(from: CredentialSource, printing: Printing): string | undefined {
  if ("text" in from) {
    const [only, ...more] = typeof from.text === "string" ? [] : from.text.text
    if (typeof only === "object" && "expression" in only && more.length === 0)
      return `from (${only.expression.text})`
    printing.lacks("a token that is the same for all requests")
    return `from ${textWords(from.text)}`
  }
  if ("header" in from) {
    // The default place (RFC 6750, section 2.1) is not printed.
    if (from.header === "authorization" && from.scheme === "Bearer") return undefined
    const scheme = from.scheme === null ? "" : ` scheme ${textWords(from.scheme)}`
    return `from header ${JSON.stringify(printing.header(from.header))}${scheme}`
  }
  const place = "query" in from ? `query ${textWords(from.query)}` : `cookie ${textWords(from.cookie)}`
  return `from ${place}${from.forward ? " forward" : ""}`
}

/** `claim scope has "a"`. */
function claimText({ claim, test, values, separator }: ClaimRule): string {
  const words = { present: "", "has-any": " has any", "has-all": " has", "equals-any": " is" }[test]
  const by = separator === undefined ? "" : ` separator ${separator === "" ? "none" : textWords(separator)}`
  return `claim ${wordText(claim)}${words}${textsOf(values)}${by}`
}

/** What another refusal message means. */
export const messageRules: FieldRules<Pick<TokenCheck, "message">> = {
  message: () => neutral("refused callers get another message"),
}

/** What a difference means in every check of a token. */
export const tokenRules: FieldRules<TokenCheck> = {
  ...messageRules,
  from: (before, after) => [
    // Both findings: a token in the new place was refused before, one in the old place was accepted.
    opens(`the token is now read ${placeWords(after)} too`),
    breaking(`the token is no longer read ${placeWords(before)}`),
  ],
  claims: claimChanges,
  audiences: (before, after) => demanded("audience", before, after),
  status: (before, after) =>
    breaking(`requests without a valid token now get ${countText(after)} instead of ${countText(before)}`),
  claimStatus: (before, after) =>
    breaking(
      `tokens without the required claims now get ${countText(after)} instead of ${countText(before)}`,
    ),
  output: () => neutral("the token is stored in another variable"),
}

function placeWords(source: CredentialSource): string {
  if ("header" in source)
    return `from \`${source.header}\`${source.scheme === null ? "" : ` (${source.scheme})`}`
  if ("query" in source) return `from the query parameter \`${source.query}\``
  return "cookie" in source ? `from the cookie \`${source.cookie}\`` : "by an expression"
}

/** Required values of a token, which replace those of its issuer. */
export function demanded(
  what: string,
  before: TokenCheck["audiences"],
  after: TokenCheck["audiences"],
): readonly Finding[] | Finding {
  const named = (texts: typeof after = []) => listWords(texts.map(textWords))
  if (before === undefined)
    return opens(`tokens with the ${what} ${named(after)} are accepted, whatever the issuer declares`)
  if (after === undefined)
    return opens(
      `the ${what} ${named(before)} is no longer demanded: tokens are accepted with what the issuer declares, or with any if it declares none`,
    )
  const { removed, added } = listChanges(before, after)
  return [
    ...(added.length === 0
      ? []
      : [opens(`tokens with the ${what} ${listWords(added.map(textWords))} are accepted`)]),
    ...(removed.length === 0
      ? []
      : [closes(`tokens with the ${what} ${listWords(removed.map(textWords))} are refused`)]),
  ]
}

/** OpenAPI describes a token outside of `Authorization` as an `apiKey`. */
export function tokenScheme(from: CredentialSource, format?: { readonly bearerFormat: string }): object {
  if ("query" in from) return { type: "apiKey", in: "query", name: from.query }
  if ("cookie" in from) return { type: "apiKey", in: "cookie", name: from.cookie }
  if ("header" in from && from.header !== "authorization")
    return { type: "apiKey", in: "header", name: from.header }
  return { type: "http", scheme: "bearer", ...format }
}

/** What a difference in the rules on claims means. */
export function claimChanges(before: readonly ClaimRule[], after: readonly ClaimRule[]): Finding[] {
  const { removed, added } = listChanges(before, after)
  const findings: Finding[] = []
  // Paired by claim: two rules on one claim are a change of the rule.
  const open = new Set(added)
  for (const rule of removed) {
    const other = [...open].find((each) => each.claim === rule.claim)
    if (other === undefined)
      findings.push(opens(`tokens with any \`${rule.claim}\`, or without it, are now accepted`))
    else {
      open.delete(other)
      findings.push(...compareRules(rule, other))
    }
  }
  for (const { claim } of open)
    findings.push(closes(`tokens that do not match the rule for \`${claim}\` are refused`))
  return findings.length > 0 ? findings : [neutral("the same rules in another order")]
}

/** The effect of a changed rule. `has-all` demands each value, so more values let fewer callers in; the other tests accept each value. */
function compareRules(before: ClaimRule, after: ClaimRule): Finding[] {
  const { claim } = after
  if (before.separator !== after.separator)
    return [opens(`\`${claim}\` is split in another way: other values are accepted now`)]
  if (before.test === after.test) {
    const { removed, added } = listChanges(before.values, after.values)
    const demanded = after.test === "has-all"
    return [
      ...(removed.length === 0
        ? []
        : [
            demanded
              ? opens(`\`${claim}\` no longer has to contain ${quoted(removed)}`)
              : closes(`${quoted(removed)} in \`${claim}\` is no longer accepted`),
          ]),
      ...(added.length === 0
        ? []
        : [
            demanded
              ? closes(`\`${claim}\` must also contain ${quoted(added)}`)
              : opens(`${quoted(added)} in \`${claim}\` is now accepted`),
          ]),
    ]
  }
  if (before.test === "present") return [closes(`\`${claim}\` must now have one of the listed values`)]
  if (after.test === "present") return [opens(`\`${claim}\` may have any value now`)]
  const overlap = after.values.some((value) => before.values.some((other) => same(other, value)))
  if (before.test === "has-any" && after.test === "has-all" && overlap)
    return [closes(`\`${claim}\` must now have all of the values instead of one of them`)]
  return [opens(`other values of \`${claim}\` are accepted now`)]
}

function quoted(values: ClaimRule["values"]): string {
  return listWords(values.map((value) => (typeof value === "string" ? `\`${value}\`` : textWords(value))))
}
