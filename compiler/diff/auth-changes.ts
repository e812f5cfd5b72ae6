import type { PlanBody } from "../../runtime/plan/plan.ts"
import { type AuthStep, type CredentialStep, credentialsOf, type Step } from "../../runtime/plan/steps.ts"
import { closes, compareFields, type FieldRules, type Finding, neutral, opens } from "../analysis/finding.ts"
import { credentialTextOf, textOf } from "../gateway/step-texts.ts"

type Steps = PlanBody["steps"]

/** What a change of `auth` means: added and removed ways to authenticate, and different demands of each way. */
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
    } else findings.push(closes(`${nameOf(way)} is no longer accepted`))
  }
  for (const way of open) findings.push(opens(`${nameOf(way)} is now accepted`))
  if (findings.length > 0) return findings
  return [
    neutral(
      "the `auth` alternatives are tried in another order: requests that fail all of them get another error response",
    ),
  ]
}

/** The ways to authenticate, one for each issuer of a token. */
function waysOf(step: Step, steps: Steps): readonly CredentialStep[] {
  return credentialsOf(step, (id) => steps[id]).flatMap((each) => credentialTextOf(each).ways(each))
}

/** A way to authenticate in words. */
export function nameOf(way: CredentialStep): string {
  return credentialTextOf(way).credential(way)
}

function compareWays(before: CredentialStep, after: CredentialStep): Finding[] {
  return before.kind === after.kind
    ? compareFields(textOf(after).changed as FieldRules<CredentialStep>, before, after)
    : []
}
