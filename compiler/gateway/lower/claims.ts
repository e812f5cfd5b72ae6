import type { ClaimRule } from "../../../runtime/plan/step-values.ts"
import type { Report } from "../../core/diagnostic.ts"
import { didYouMean } from "../../core/nearest.ts"
import { type BoundStatement, headSpan } from "../bind/bound.ts"
import { type ClaimTypes, mayHold } from "./place.ts"
import type { StepContext } from "./step.ts"

/** `claim NAME has|is "…"`; undefined when a value is invalid (reported). `claims` are those of each issuer whose tokens are checked. */
export function lowerClaimRule(
  { args, statement }: BoundStatement,
  claims: readonly ClaimTypes[],
  { texts, place, report }: StepContext,
): ClaimRule | undefined {
  const claim = args.value<string>("claim") ?? ""
  for (const each of claims) {
    if (!checkClaim(claim, each, args.get("claim")?.argument.span ?? headSpan(statement), report)) break
  }
  const given = args.all("value")
  const values = given.flatMap(({ argument }) => {
    if (argument.kind !== "text") return []
    const value = texts.lower(argument, place)
    if (value === "") report.add("SP2038", argument.span, "the string is empty")
    return value === undefined ? [] : [value]
  })
  if (values.length < given.length) return undefined
  const word = statement.args[1]
  const has = word?.kind === "word" && word.text === "has"
  const test =
    given.length === 0
      ? "present"
      : !has
        ? "equals-any"
        : args.value("quantity") === "any"
          ? "has-any"
          : "has-all"
  const last = statement.args.at(-1)
  const isWhole = last?.kind === "word" && last.text === "none" && statement.args.length > 1
  const separator = isWhole ? "" : args.value<string>("separator")
  return { claim, test, values: sorted(values), ...(separator === undefined ? {} : { separator }) }
}

/** The order of the values has no meaning. Sorting makes equal rules equal in the plan. */
function sorted(values: ClaimRule["values"]): ClaimRule["values"] {
  const keyOf = (value: ClaimRule["values"][number]) =>
    typeof value === "string" ? value : JSON.stringify(value)
  return [...values].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/**
 * Reports a claim that the issuer does not declare. A dot accesses a field of an object, so only the part before the first dot must be
 * declared.
 */
export function checkClaim(
  claim: string,
  claims: ClaimTypes,
  span: BoundStatement["statement"]["span"],
  report: Report,
): boolean {
  if (claims === "any" || mayHold(claims, claim)) return true
  report.add(
    "SP5005",
    span,
    `the issuer declares no claim \`${claim}\`${didYouMean(claim, Object.keys(claims))}`,
  )
  return false
}
