import type { StepOf } from "../../../../runtime/plan/steps.ts"
import type { Report } from "../../../core/diagnostic.ts"
import { didYouMean } from "../../../core/nearest.ts"
import { type Bound, headSpan, mentions, statementOf, statementsOf } from "../../bind/bound.ts"
import type { Program } from "../../program.ts"
import { claimsOfIssuer } from "../issuer.ts"
import type { Auth, AuthWay, Claims } from "../place.ts"
import { idsOf, type Lowered, type StepTable } from "../step.ts"

const defaults = {
  jwtHeader: "authorization",
  keyHeader: "ocp-apim-subscription-key",
  keyQuery: "subscription-key",
  status: 401,
}

/** What `auth` statements of one scope provide. Empty ways: they were not understood. */
export function authOf(statements: readonly Bound[], program: Program, report: Report): Auth {
  const [first] = statements
  if (first === undefined) return { ways: [], span: undefined }
  const span = headSpan(first.statement)
  const ways = statements.map((each) => wayOf(each, program))
  const none = statements[ways.findIndex((way) => way?.kind === "none")]
  if (none !== undefined && statements.length > 1) {
    const other = statements.find((each) => each !== none)
    report.add("SP3007", headSpan(none.statement), "with `auth none` everybody gets in", {
      related: other === undefined ? [] : [{ span: headSpan(other.statement), message: "the other `auth`" }],
    })
  }
  return { ways: ways.some((way) => way === undefined) ? [] : (ways as AuthWay[]), span }
}

/** The step of `auth` for an API: one way, or any of several; none for `auth none`. */
export function lowerAuth(
  statements: readonly Bound[],
  api: string,
  context: { program: Program; report: Report; steps: StepTable },
): Lowered[] {
  const ways = statements.flatMap((each) => {
    const step = stepOf(each, api, context)
    return step === undefined ? [] : [context.steps.add(step, headSpan(each.statement))]
  })
  const [first] = ways
  if (first === undefined || ways.length === 1) return ways
  const unique = ways.filter((way, index) => ways.findIndex((each) => each.id === way.id) === index)
  if (unique.length < ways.length) {
    const twice =
      statements[ways.findIndex((way, index) => ways.findIndex((each) => each.id === way.id) !== index)]
    if (twice !== undefined)
      context.report.add("SP2008", headSpan(twice.statement), "the same `auth` is there twice")
    return unique
  }
  const span = headSpan((statements[0] as Bound).statement)
  return [context.steps.add({ kind: "any-of", steps: idsOf(unique) }, span, { steps: unique })]
}

/** The word after `auth`. */
export function kindOf(bound: Bound): AuthWay["kind"] | undefined {
  const word = bound.statement.args[0]
  return word?.kind === "word" &&
    (word.text === "none" || word.text === "jwt" || word.text === "subscription")
    ? word.text
    : undefined
}

function wayOf(bound: Bound, program: Program): AuthWay | undefined {
  const kind = bound.broken ? undefined : kindOf(bound)
  if (kind !== "jwt") return kind === undefined ? undefined : { kind }
  const issuer = program.find("issuer", bound.args.word("issuer")?.text ?? "")
  return issuer === undefined ? undefined : { kind, issuer: issuer.name, claims: claimsOfIssuer(issuer) }
}

function stepOf(
  bound: Bound,
  api: string,
  { program, report }: { program: Program; report: Report },
): StepOf<"validate-jwt"> | StepOf<"validate-key"> | undefined {
  const kind = kindOf(bound)
  if (bound.broken || kind === undefined || kind === "none") return undefined
  const status = statementOf(bound.block, "status")?.args.value<number>("status") ?? defaults.status
  if (kind === "subscription") return keyStep(bound, api, status, report)
  const issuer = program.find("issuer", bound.args.word("issuer")?.text ?? "")
  if (issuer === undefined) return undefined
  const header = statementOf(bound.block, "header")?.args.value<string>("name") ?? defaults.jwtHeader
  const claims = statementsOf(bound.block, "claim").map((each) =>
    ruleOf(each, claimsOfIssuer(issuer), report),
  )
  return { kind: "validate-jwt", issuer: issuer.name, header, claims, status }
}

function keyStep(bound: Bound, api: string, status: number, report: Report): StepOf<"validate-key"> {
  const place = (keyword: string, byDefault: string): string | null => {
    const statement = statementOf(bound.block, keyword)
    return statement === undefined ? byDefault : (statement.args.value<string>("name") ?? null)
  }
  const header = place("header", defaults.keyHeader)
  const query = place("query", defaults.keyQuery)
  if (header === null && query === null) {
    report.add("SP2017", headSpan(bound.statement), "the key comes neither in a header nor in the query", {
      help: "Remove one of the two `none`.",
    })
  }
  return { kind: "validate-key", api, header, query, status, forward: mentions(bound.block, "forward") }
}

function ruleOf(
  { args, statement }: Bound,
  claims: Claims,
  report: Report,
): StepOf<"validate-jwt">["claims"][number] {
  const claim = args.value<string>("claim") ?? ""
  checkClaim(claim, claims, args.get("claim")?.argument.span ?? headSpan(statement), report)
  const values = [...args.values<string>("value")].sort()
  const word = statement.args[1]
  const has = word?.kind === "word" && word.text === "has"
  const test =
    values.length === 0
      ? "present"
      : !has
        ? "equals-any"
        : args.value("quantity") === "any"
          ? "has-any"
          : "has-all"
  return { claim, test, values }
}

/** Reports a claim the issuer does not declare. Dots walk into objects, so the part before the first one must be declared. */
export function checkClaim(
  claim: string,
  claims: Claims,
  span: Bound["statement"]["span"],
  report: Report,
): boolean {
  const [first = claim] = claim.split(".", 1)
  if (claims === "any" || Object.hasOwn(claims, claim) || Object.hasOwn(claims, first)) return true
  report.add(
    "SP5005",
    span,
    `the issuer declares no claim \`${claim}\`${didYouMean(claim, Object.keys(claims))}`,
  )
  return false
}
