import type { Step, StepOf } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import { type Bound, headSpan, mentions, statementOf } from "../bind/bound.ts"
import { claimsOfIssuer } from "../lower/issuer.ts"
import type { Auth, AuthWay } from "../lower/place.ts"
import { idsOf, type Lowered, type StepContext } from "../lower/step.ts"
import type { Program } from "../program.ts"
import { reportDropped } from "./dropped-header.ts"
import { lowerBasic, lowerIntrospection, lowerToken } from "./token.ts"

const defaults = {
  keyHeader: "ocp-apim-subscription-key",
  keyQuery: "subscription-key",
  status: 401,
}

/** What `auth` statements of one scope provide. Empty ways: they were not understood. */
export function authOf(statements: readonly Bound[], program: Program, report: Report): Auth {
  const [first] = statements
  if (first === undefined) return { ways: [], span: undefined }
  const span = headSpan(first.statement)
  const ways = statements.map((each) => waysOf(each, program))
  const none = statements[ways.findIndex((found) => found?.[0]?.kind === "none")]
  if (none !== undefined && statements.length > 1) {
    const other = statements.find((each) => each !== none)
    report.add("SP3007", headSpan(none.statement), "with `auth none` everybody gets in", {
      related: other === undefined ? [] : [{ span: headSpan(other.statement), message: "the other `auth`" }],
    })
  }
  const policy = statements[ways.findIndex((found) => found?.[0]?.kind === "policy")]
  if (policy !== undefined && statements.length > 1)
    report.add(
      "SP2017",
      headSpan(policy.statement),
      "with `auth policy` the documents alone say who may call",
      {
        help: "Keep `auth policy`, or the other `auth` statements.",
      },
    )
  return { ways: ways.includes(undefined) ? [] : ways.flatMap((found) => found ?? []), span }
}

/** The step of `auth` for an API: one way, or any of several; none for `auth none`. */
export function lowerAuth(statements: readonly Bound[], api: string, context: StepContext): Lowered[] {
  const ways = statements.flatMap((each) => {
    const step = stepOf(each, api, context)
    if (step === undefined) return []
    const lowered = context.steps.add(step, headSpan(each.statement))
    const output = "output" in step ? step.output : undefined
    return [output === undefined ? lowered : { ...lowered, declares: { [output]: "dyn" as const } }]
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

const words = ["none", "jwt", "introspection", "basic", "subscription", "policy"] as const

/** The word after `auth`. */
export function kindOf(bound: Bound): (typeof words)[number] | undefined {
  const word = bound.statement.args[0]
  return word?.kind === "word" && (words as readonly string[]).includes(word.text)
    ? (word.text as (typeof words)[number])
    : undefined
}

/** Of a token of several issuers each is a way of its own: they promise different claims. */
function waysOf(bound: Bound, program: Program): AuthWay[] | undefined {
  const kind = bound.broken ? undefined : kindOf(bound)
  // What it says of the caller is in `jwt` too: all that the endpoint knows, or the name of the user.
  if (kind === "introspection") return [{ kind: "jwt", by: kind, claims: "any" }]
  if (kind === "basic") return [{ kind: "jwt", by: kind, claims: { sub: "string" } }]
  if (kind !== "jwt") return kind === undefined ? undefined : [{ kind }]
  const ways = bound.args.words("issuer").map(({ text }): AuthWay | undefined => {
    const issuer = program.find("issuer", text)
    return issuer === undefined ? undefined : { kind, issuer: issuer.name, claims: claimsOfIssuer(issuer) }
  })
  return ways.includes(undefined) ? undefined : (ways as AuthWay[])
}

function stepOf(bound: Bound, api: string, context: StepContext): Step | undefined {
  const kind = kindOf(bound)
  if (bound.broken || kind === undefined || kind === "none" || kind === "policy") return undefined
  if (kind === "jwt") return lowerToken(bound, context)
  if (kind === "introspection") return lowerIntrospection(bound, context)
  if (kind === "basic") return lowerBasic(bound, context)
  const status = statementOf(bound.block, "status")?.args.value<number>("status") ?? defaults.status
  return keyStep(bound, api, status, context.report)
}

function keyStep(bound: Bound, api: string, status: number, report: Report): StepOf<"validate-key"> {
  const place = (keyword: string, byDefault: string): string | null => {
    const statement = statementOf(bound.block, keyword)
    return statement === undefined ? byDefault : (statement.args.value<string>("name") ?? null)
  }
  const header = place("header", defaults.keyHeader)
  const query = place("query", defaults.keyQuery)
  reportDropped(header, headSpan(bound.statement), report)
  if (header === null && query === null) {
    report.add("SP2017", headSpan(bound.statement), "the key comes neither in a header nor in the query", {
      help: "Remove one of the two `none`.",
    })
  }
  return { kind: "validate-key", api, header, query, status, forward: mentions(bound.block, "forward") }
}
