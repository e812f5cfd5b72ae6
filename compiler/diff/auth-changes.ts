import type { ClaimRule } from "../../runtime/plan/caller-token.ts"
import type { PlanBody } from "../../runtime/plan/plan.ts"
import {
  type CredentialStep,
  isCredential,
  type Step,
  type StepId,
  type StepOf,
} from "../../runtime/plan/steps.ts"
import {
  breaking,
  closes,
  compareFields,
  type FieldRules,
  type Finding,
  neutral,
  opens,
} from "../analysis/finding.ts"
import { listChanges, same } from "../analysis/same.ts"
import { listWords, textWords } from "../analysis/words.ts"
import { namedIssuers } from "./access-effects.ts"
import { countWordsOf } from "./access-words.ts"

type Steps = PlanBody["steps"]
type Jwt = Omit<StepOf<"validate-jwt">, "kind">
type Key = Omit<StepOf<"validate-key">, "kind">
type AuthStep = CredentialStep | StepOf<"any-of">

/** Whether a step asks who the caller is. */
export function isAuth(step: Step): step is AuthStep {
  return step.kind === "any-of" || isCredential(step)
}

/** What it means that another `auth` holds: ways in that are new or gone, and what each asks for. */
export function compareAuth(
  before: AuthStep,
  after: AuthStep,
  stepsBefore: Steps,
  stepsAfter: Steps,
): Finding[] {
  const old = waysOf(before, stepsBefore)
  const next = waysOf(after, stepsAfter)
  const findings: Finding[] = []
  const open = new Set(next)
  for (const way of old) {
    const other = [...open].find((each) => nameOf(each) === nameOf(way))
    if (other !== undefined) {
      open.delete(other)
      findings.push(...compareWays(way, other))
    } else findings.push(closes(`${nameOf(way)} is no way in any more`))
  }
  for (const way of open) findings.push(opens(`${nameOf(way)} is enough now`))
  if (findings.length > 0) return findings
  return [neutral("the ways in are tried in another order: who fails all of them gets another refusal")]
}

function waysOf(step: Step, steps: Steps): CredentialStep[] {
  if (step.kind === "any-of")
    return step.steps.flatMap((id: StepId) => (steps[id] === undefined ? [] : waysOf(steps[id], steps)))
  if (step.kind !== "validate-jwt") return isCredential(step) ? [step] : []
  // Of several issuers each is a way in of its own: one more is no other way.
  return step.issuers.map((name) => ({ ...step, issuers: [name] }))
}

/** A way in, in words. */
export function nameOf(way: CredentialStep): string {
  switch (way.kind) {
    case "validate-jwt":
      return `a token of ${namedIssuers(way.issuers)}`
    case "introspect":
      return `a token that \`${way.introspection}\` calls active`
    case "basic-auth":
      return `a password of \`${way.users}\``
    case "validate-key":
      return "a subscription key"
  }
}

function compareWays(before: CredentialStep, after: CredentialStep): Finding[] {
  if (before.kind === "validate-jwt" && after.kind === "validate-jwt")
    return compareFields(jwtRules, before, after)
  if (before.kind === "validate-key" && after.kind === "validate-key")
    return compareFields(keyRules, before, after)
  if (before.kind === "introspect" && after.kind === "introspect")
    return compareFields(introspectRules, before, after)
  if (before.kind === "basic-auth" && after.kind === "basic-auth")
    return compareFields(basicRules, before, after)
  return []
}

type Token = Pick<
  StepOf<"introspect">,
  "from" | "claims" | "audiences" | "status" | "claimStatus" | "message" | "output"
>

const saidRules: FieldRules<Pick<Token, "message">> = {
  message: () => neutral("who is refused is told something else"),
}

/** What holds for every kind of token. */
const tokenRules: FieldRules<Token> = {
  ...saidRules,
  from: (before, after) => breaking(`the token is read ${placeWords(after)}, not ${placeWords(before)}`),
  claims: compareClaims,
  audiences: (before, after) => demanded("audience", before, after),
  status: (before, after) =>
    breaking(`who has no valid token is answered ${countWordsOf(after)}, not ${countWordsOf(before)}`),
  claimStatus: (before, after) =>
    breaking(`whose claims do not fit is answered ${countWordsOf(after)}, not ${countWordsOf(before)}`),
  output: () => neutral("the token is kept in another variable"),
}

const jwtRules: FieldRules<Jwt> = {
  ...tokenRules,
  issuers: () => neutral("the issuers are tried in another order"),
  chosen: () => opens("which issuer a token must be of is found out in another way"),
  issuerValues: (before, after) => demanded("`iss`", before, after),
  clockSkewSeconds: (before, after) =>
    typeof before === "number" && typeof after === "number" && after < before
      ? closes(`expired tokens are accepted for ${after}s, not ${before}s`)
      : opens("expired tokens may be accepted for longer"),
  requireExpiration: (_, after) =>
    after === true
      ? closes("tokens without an end are refused")
      : opens("tokens that never end may be accepted"),
}

const introspectRules: FieldRules<Omit<StepOf<"introspect">, "kind">> = {
  ...tokenRules,
  introspection: () => opens("somebody else says which tokens are valid"),
}

const basicRules: FieldRules<Omit<StepOf<"basic-auth">, "kind">> = {
  ...saidRules,
  users: () => opens("other users may call"),
  realm: () => neutral("who is asked for a password sees another realm"),
  status: (before, after) =>
    breaking(`who has no password is answered ${countWordsOf(after)}, not ${countWordsOf(before)}`),
  forward: (_, after) =>
    after
      ? opens("the backend sees the caller's password")
      : closes("the backend does not see the caller's password"),
}

function placeWords(source: Jwt["from"]): string {
  if ("header" in source)
    return `from \`${source.header}\`${source.scheme === null ? "" : ` (${source.scheme})`}`
  if ("query" in source) return `from the query parameter \`${source.query}\``
  return "cookie" in source ? `from the cookie \`${source.cookie}\`` : "by an expression"
}

/** Values a token must have one of, instead of what its issuer says. */
function demanded(
  what: string,
  before: Jwt["audiences"],
  after: Jwt["audiences"],
): readonly Finding[] | Finding {
  if (before === undefined) return opens(`another ${what} is demanded than the issuer says`)
  if (after === undefined) return opens(`the ${what} is what the issuer says now`)
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

const keyRules: FieldRules<Key> = {
  api: (before, after) => [
    opens(`a key for \`${after}\` is enough now`),
    breaking(`a key for \`${before}\` is not enough any more`),
  ],
  header: (before, after) => place("header", before, after),
  query: (before, after) => place("query parameter", before, after),
  status: (before, after) => breaking(`who has no valid key is answered ${after}, not ${before}`),
  forward: (_, after) =>
    after
      ? opens("the backend sees the caller's key")
      : closes("the backend does not see the caller's key any more"),
}

function place(what: string, before: string | null, after: string | null): Finding {
  if (before === null) return opens(`the key may come in the ${what} \`${after}\` too`)
  if (after === null) return breaking(`the key is not read from the ${what} \`${before}\` any more`)
  return breaking(`the key is read from the ${what} \`${after}\`, not from \`${before}\``)
}

function compareClaims(before: readonly ClaimRule[], after: readonly ClaimRule[]): Finding[] {
  const { removed, added } = listChanges(before, after)
  const findings: Finding[] = []
  const open = new Set(added)
  for (const rule of removed) {
    const other = [...open].find((each) => each.claim === rule.claim)
    if (other === undefined) findings.push(opens(`tokens pass whatever their \`${rule.claim}\` is`))
    else {
      open.delete(other)
      findings.push(...compareRules(rule, other))
    }
  }
  for (const { claim } of open)
    findings.push(closes(`tokens that do not fit the rule on \`${claim}\` are refused`))
  return findings.length > 0 ? findings : [neutral("the same rules in another order")]
}

function compareRules(before: ClaimRule, after: ClaimRule): Finding[] {
  const { claim } = after
  if (before.separator !== after.separator)
    return [opens(`\`${claim}\` is split otherwise: other values are enough now`)]
  if (before.test === after.test) {
    const { removed, added } = listChanges(before.values, after.values)
    const demanded = after.test === "has-all"
    return [
      ...(removed.length === 0
        ? []
        : [
            demanded
              ? opens(`\`${claim}\` need not have ${quoted(removed)} any more`)
              : closes(`${quoted(removed)} in \`${claim}\` is not enough any more`),
          ]),
      ...(added.length === 0
        ? []
        : [
            demanded
              ? closes(`\`${claim}\` must have ${quoted(added)} too`)
              : opens(`${quoted(added)} in \`${claim}\` is enough now`),
          ]),
    ]
  }
  if (before.test === "present") return [closes(`\`${claim}\` must have certain values now`)]
  if (after.test === "present") return [opens(`\`${claim}\` may have any value now`)]
  const overlap = after.values.some((value) => before.values.some((other) => same(other, value)))
  if (before.test === "has-any" && after.test === "has-all" && overlap)
    return [closes(`\`${claim}\` must have all of the values now, not one of them`)]
  return [opens(`other values of \`${claim}\` are enough now`)]
}

function quoted(values: ClaimRule["values"]): string {
  return listWords(values.map((value) => (typeof value === "string" ? `\`${value}\`` : textWords(value))))
}
