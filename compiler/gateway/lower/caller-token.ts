import type { ClaimRule, CredentialSource, TokenCheck } from "../../../runtime/plan/step-values.ts"
import type { Text } from "../../../runtime/plan/text.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import { lowerClaimRule } from "./claims.ts"
import { reportDropped } from "./header.ts"
import type { ClaimTypes } from "./place.ts"
import type { StepContext } from "./step.ts"

/** The rules on claims; undefined when one is invalid (reported). `claims` are those of each issuer whose tokens are checked. */
export function lowerClaimRules(
  block: BoundBlock | undefined,
  claims: readonly ClaimTypes[],
  context: StepContext,
): ClaimRule[] | undefined {
  const rules = statementsOf(block, "claim").map((each) => lowerClaimRule(each, claims, context))
  const found = rules.flatMap((rule) => rule ?? [])
  return found.length < rules.length ? undefined : found
}

/** The optional settings of every token check: statuses, message, variable. */
export function lowerSaid(
  block: BoundBlock | undefined,
  { texts, place }: StepContext,
): Pick<TokenCheck, "status" | "claimStatus" | "message" | "output"> | undefined {
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

/** The source of the token; undefined when that is invalid (reported). */
export function lowerSource(
  block: BoundBlock | undefined,
  context: StepContext,
): CredentialSource | undefined {
  const from = statementOf(block, "from")
  if (from === undefined) return { header: "authorization", scheme: "Bearer" }
  const header = from.args.value<string>("header")
  if (header === undefined) return sourceOf(from, context)
  reportDropped(header, headSpan(from.statement), context.report)
  const scheme = from.args.value<string>("scheme")
  return { header, scheme: scheme ?? (header === "authorization" ? "Bearer" : null) }
}

/** Where a token is read from, if not from a header. Without `forward` the backend does not get it. */
function sourceOf(from: BoundStatement, { expressions, place }: StepContext): CredentialSource | undefined {
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

/** The texts of several statements. A bare word is its own text. */
export function lowerList(
  statements: readonly BoundStatement[],
  slot: string,
  { texts, place, report }: StepContext,
): Text[] | "broken" | undefined {
  if (statements.length === 0) return undefined
  const found: Text[] = []
  for (const { argument } of statements.flatMap((each) => each.args.all(slot))) {
    if (argument.kind !== "word" && argument.kind !== "text") continue
    const text = argument.kind === "word" ? argument.text : texts.lower(argument, place)
    if (text === undefined) return "broken"
    if (text === "") report.add("SP2038", argument.span, "the string is empty")
    found.push(text)
  }
  return found
}
