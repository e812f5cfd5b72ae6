import type { ClaimRule } from "../../runtime/plan/caller-token.ts"
import { closes, type Finding, neutral, opens } from "./finding.ts"
import { listChanges, same } from "./same.ts"
import { listWords, textWords } from "./words.ts"

/** What other rules on the claims of a token mean. */
export function claimChanges(before: readonly ClaimRule[], after: readonly ClaimRule[]): Finding[] {
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
