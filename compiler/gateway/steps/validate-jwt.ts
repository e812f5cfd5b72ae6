import type { StepOf } from "../../../runtime/plan/steps.ts"
import { closes, type FieldRules, neutral, opens } from "../../analysis/finding.ts"
import { type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import {
  type AuthForm,
  demanded,
  refusalTexts,
  tokenRules,
  tokenScheme,
  tokenTexts,
} from "../credential-text.ts"
import { lowerClaimRules, lowerList, lowerSaid, lowerSource } from "../lower/caller-token.ts"
import { claimsOfIssuer } from "../lower/issuer.ts"
import type { AuthWay } from "../lower/place.ts"
import type { Lowered, StepContext } from "../lower/step.ts"
import { countText, fixedTime, statement, textsOf } from "../print.ts"
import { callerTokenRows, claimRule } from "../schema/caller-token.ts"
import { type Form, many, type StatementRow, slot, word } from "../schema/row.ts"
import type { Fields, StepText } from "../step-text.ts"

const issuers = many(slot("issuer", "reference", { to: ["issuer"] }), 20)

/** `jwt ISSUER… { … }` after `auth` or `check`. */
const form: Form = { args: [word("jwt"), issuers], block: "auth jwt" }

/** `auth jwt ISSUER… { … }`. Each issuer is a way of its own, because the issuers declare different claims. */
export const authJwt: AuthForm = {
  form,
  ways: ({ args }, program) => {
    const ways = args.words("issuer").map(({ text }): AuthWay | undefined => {
      const issuer = program.find("issuer", text)
      return issuer && { kind: "jwt", issuer: issuer.name, claims: claimsOfIssuer(issuer) }
    })
    // An unknown issuer is reported by the binder; without its claims nothing more can be checked.
    return ways.includes(undefined) ? undefined : (ways as AuthWay[])
  },
  lower: lowerToken,
}

/** `check jwt ISSUER… { … }` in a section, and `jwt ISSUER… { … }` of `check any`. */
export const checkJwt = {
  form,
  row: {
    keyword: "jwt",
    several: 10,
    required: true,
    forms: [{ args: [issuers], block: "auth jwt" }],
    docs: "A token of one of these issuers.",
    example: 'jwt acme { claim scope has "orders.read" }',
  } satisfies StatementRow,
  lower(bound: BoundStatement, context: StepContext): Lowered | undefined {
    const step = bound.broken ? undefined : lowerToken(bound, context)
    if (step === undefined) return undefined
    const lowered = context.steps.add(step, headSpan(bound.statement))
    // `dyn`: the variable is the whole token, with claims that only the issuer knows.
    return step.output === undefined ? lowered : { ...lowered, declares: { [step.output]: "dyn" } }
  },
}

/** The statements in the block of `auth jwt`. */
export const authJwtRows: readonly StatementRow[] = [
  claimRule,
  ...callerTokenRows,
  {
    keyword: "audience",
    several: true,
    forms: [{ args: [many(slot("audience", "data"), 100)] }],
    byDefault: "the issuer's",
    docs: "Audiences that are accepted here instead of those of the issuer: a token must have one of them.",
    example: "audience orders-admin",
  },
  {
    keyword: "issuer",
    several: true,
    forms: [{ args: [many(slot("value", "quoted"), 100)] }],
    byDefault: "the issuer's",
    docs: "Values of `iss` that are accepted here instead of that of the issuer.",
    example: 'issuer "https://id.example"',
  },
  {
    keyword: "clock-skew",
    forms: [{ args: [slot("time", "duration", { min: 0, max: 600_000, wholeSeconds: true })] }],
    byDefault: "the issuer's",
    docs: "Allowed difference between clocks, for this statement.",
    example: "clock-skew 1m",
  },
  {
    keyword: "expiration",
    forms: [{ args: [word("optional")] }],
    byDefault: "`exp` is required",
    docs: "Tokens without `exp` are accepted too.",
    example: "expiration optional",
  },
]

/** Undefined after a mistake. Several issuers are alternatives, so a claim may be used if one of them declares it. */
function lowerToken(bound: BoundStatement, context: StepContext): StepOf<"validate-jwt"> | undefined {
  const { program } = context
  const names = [...new Set(bound.args.words("issuer").map((word) => word.text))]
  const issuers = names.flatMap((name) => program.find("issuer", name) ?? [])
  // An unknown issuer is reported by the binder.
  if (issuers.length < names.length) return undefined
  const { block } = bound
  const claims = lowerClaimRules(block, issuers.map(claimsOfIssuer), context)
  const from = lowerSource(block, context)
  const said = lowerSaid(block, context)
  const audiences = lowerList(statementsOf(block, "audience"), "audience", context)
  const issuerValues = lowerList(statementsOf(block, "issuer"), "value", context)
  if (from === undefined || said === undefined || claims === undefined) return undefined
  if (audiences === "broken" || issuerValues === "broken") return undefined
  const skewMs = statementOf(block, "clock-skew")?.args.value<number>("time")
  return {
    kind: "validate-jwt",
    issuers: names,
    from,
    claims,
    ...(audiences === undefined ? {} : { audiences }),
    ...(issuerValues === undefined ? {} : { issuerValues }),
    ...(skewMs === undefined ? {} : { clockSkewSeconds: skewMs / 1000 }),
    requireExpiration: statementOf(block, "expiration") === undefined,
    ...said,
  }
}

/** Printing and comparison of a step that checks a token of an issuer. */
export const validateJwt: StepText<"validate-jwt"> = {
  print: (step, printing) => {
    const { issuers, issuerValues, clockSkewSeconds, requireExpiration } = step
    const isFound = typeof requireExpiration === "object"
    if (isFound) printing.lacks("`require-expiration-time` that is computed per request")
    return statement(
      `${printing.inSection ? "check" : "auth"} jwt ${issuers.join(" ")}`,
      tokenTexts(step, printing),
      issuerValues && `issuer${textsOf(issuerValues)}`,
      clockSkewSeconds !== undefined && `clock-skew ${fixedTime(clockSkewSeconds, "a time", printing)}`,
      requireExpiration !== true &&
        `expiration optional${isFound ? ` unless ${countText(requireExpiration)}` : ""}`,
      refusalTexts(step, printing),
    )
  },
  identities: () => ["auth"],
  added: ({ issuers, status }) =>
    closes(`requests without a valid token of ${namesOf(issuers)} now get ${countText(status)}`),
  removed: ({ issuers }) => opens(`requests without a token of ${namesOf(issuers)} are now let through`),
  changed: {
    ...tokenRules,
    issuers: () => neutral("the issuers are tried in another order"),
    chosen: () => opens("the issuer of a token is determined in another way"),
    issuerValues: (before, after) => demanded("`iss`", before, after),
    clockSkewSeconds: (before, after) =>
      typeof before === "number" && typeof after === "number" && after < before
        ? closes(`expired tokens are accepted for ${after}s instead of ${before}s`)
        : opens("expired tokens may be accepted for longer"),
    requireExpiration: (_, after) =>
      after === true
        ? closes("tokens without `exp` are refused")
        : opens("tokens that never expire may be accepted"),
  } satisfies FieldRules<Fields<"validate-jwt">>,
  way: {
    credential: ({ issuers }) => `a token of ${namesOf(issuers)}`,
    ways: (step) => step.issuers.map((name) => ({ ...step, issuers: [name] })),
    schemes: ({ issuers, from }) =>
      issuers.map((issuer) => [`jwt_${issuer}`, tokenScheme(from, { bearerFormat: "JWT" })]),
  },
}

/** `` `a` or `b` ``. */
function namesOf(issuers: readonly string[]): string {
  return issuers.map((name) => `\`${name}\``).join(" or ")
}
