import type { CredentialSource } from "../../../runtime/plan/caller-token.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Text as PlanText } from "../../../runtime/plan/text.ts"
import { type Bound, type BoundBlock, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { claimsOfIssuer } from "../lower/issuer.ts"
import type { StepContext } from "../lower/step.ts"
import { lowerClaimRule } from "./claims.ts"
import { reportDropped } from "./dropped-header.ts"

/** `auth jwt ISSUER… { … }`; undefined when something in it is wrong (reported). */
export function lowerToken(bound: Bound, context: StepContext): StepOf<"validate-jwt"> | undefined {
  const { program } = context
  const names = [...new Set(bound.args.words("issuer").map((word) => word.text))]
  const issuers = names.flatMap((name) => program.find("issuer", name) ?? [])
  if (issuers.length < names.length) return undefined
  const { block } = bound
  const rules = statementsOf(block, "claim").map((each) =>
    lowerClaimRule(each, issuers.map(claimsOfIssuer), context),
  )
  const claims = rules.flatMap((rule) => rule ?? [])
  const from = lowerSource(block, context)
  const said = lowerSaid(block, context)
  const audiences = lowerList(statementsOf(block, "audience"), "audience", context)
  const issuerValues = lowerList(statementsOf(block, "issuer"), "value", context)
  if (from === undefined || said === undefined || claims.length < rules.length) return undefined
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

/** `auth introspection NAME { … }`; undefined when something in it is wrong (reported). */
export function lowerIntrospection(bound: Bound, context: StepContext): StepOf<"introspect"> | undefined {
  const introspection = bound.args.word("introspection")?.text
  const { block } = bound
  const rules = statementsOf(block, "claim").map((each) => lowerClaimRule(each, ["any"], context))
  const claims = rules.flatMap((rule) => rule ?? [])
  const from = lowerSource(block, context)
  const said = lowerSaid(block, context)
  const audiences = lowerList(statementsOf(block, "audience"), "audience", context)
  if (introspection === undefined || from === undefined || said === undefined) return undefined
  if (claims.length < rules.length || audiences === "broken") return undefined
  return {
    kind: "introspect",
    introspection,
    from,
    claims,
    ...(audiences === undefined ? {} : { audiences }),
    ...said,
  }
}

/** `auth basic USERS { … }`; undefined when something in it is wrong (reported). */
export function lowerBasic(bound: Bound, context: StepContext): StepOf<"basic-auth"> | undefined {
  const users = bound.args.word("users")?.text
  const { block } = bound
  const realmAt = statementOf(block, "realm")?.args
  const realm = realmAt?.value<string>("realm") ?? users
  const said = lowerSaid(block, context)
  if (users === undefined || realm === undefined || said === undefined) return undefined
  if (!/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(realm)) {
    const span = realmAt?.get("realm")?.argument.span
    context.report.add("SP2010", span, "a realm is of ASCII characters without quotes and backslashes", {
      help: "Write another text.",
    })
    return undefined
  }
  const { status, message } = said
  return {
    kind: "basic-auth",
    users,
    realm,
    status,
    ...(message === undefined ? {} : { message }),
    forward: statementOf(block, "forward") !== undefined,
  }
}

/** What every check of a token may say besides: statuses, message, variable. */
function lowerSaid(
  block: BoundBlock | undefined,
  { texts, place }: StepContext,
): Pick<StepOf<"validate-jwt">, "status" | "claimStatus" | "message" | "output"> | undefined {
  const numberOf = (keyword: string) => statementOf(block, keyword)?.args.value<number>("status")
  const messageAt = statementOf(block, "message")?.args.text("message")
  const message = messageAt === undefined ? undefined : texts.lower(messageAt, place)
  if (messageAt !== undefined && message === undefined) return undefined
  const output = statementOf(block, "output")?.args.word("variable")?.text
  return {
    status: numberOf("status") ?? 401,
    claimStatus: numberOf("claim-status") ?? 403,
    ...(message === undefined ? {} : { message }),
    ...(output === undefined ? {} : { output }),
  }
}

function lowerSource(block: BoundBlock | undefined, context: StepContext): CredentialSource | undefined {
  const header = statementOf(block, "header")
  const from = statementOf(block, "from")
  if (header !== undefined && from !== undefined) {
    context.report.add("SP2017", headSpan(from.statement), "the token comes from one place", {
      related: [{ span: headSpan(header.statement), message: "`header`" }],
    })
    return undefined
  }
  if (from !== undefined) return sourceOf(from, context)
  const name = header?.args.value<string>("name") ?? "authorization"
  if (header !== undefined) reportDropped(name, headSpan(header.statement), context.report)
  const scheme = header?.args.value<string>("scheme")
  return { header: name, scheme: scheme ?? (name === "authorization" ? "Bearer" : null) }
}

function sourceOf(from: Bound, { expressions, place }: StepContext): CredentialSource | undefined {
  const last = from.statement.args.at(-1)
  const forward = last?.kind === "word" && last.text === "forward"
  const query = from.args.value<string>("query")
  if (query !== undefined) return { query, forward }
  const cookie = from.args.value<string>("cookie")
  if (cookie !== undefined) return { cookie, forward }
  const source = from.args.cel("text")
  const expression = source === undefined ? undefined : expressions.lower(source, place, "string")
  return expression === undefined ? undefined : { text: { text: [{ expression }] } }
}

/** Texts of several statements; a bare word stands for itself. */
function lowerList(
  statements: readonly Bound[],
  slot: string,
  { texts, place, report }: StepContext,
): PlanText[] | "broken" | undefined {
  if (statements.length === 0) return undefined
  const found: PlanText[] = []
  for (const { argument } of statements.flatMap((each) => each.args.all(slot))) {
    if (argument.kind !== "word" && argument.kind !== "text") continue
    const text = argument.kind === "word" ? argument.text : texts.lower(argument, place)
    if (text === undefined) return "broken"
    if (text === "") report.add("SP2038", argument.span, "the text is empty")
    found.push(text)
  }
  return found
}
