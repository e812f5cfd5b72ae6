import { type Bound, headSpan, statementsOf } from "../bind/bound.ts"
import { idsOf, type Lowered, type LowerStep, type StepContext } from "../lower/step.ts"
import { lowerCheck } from "./access.ts"
import { lowerToken } from "./token.ts"

/** `check header …`, `check jwt ISSUER { … }`, `check any { jwt ISSUER { … } … }` in `inbound`. */
export const lowerCheckInOrder: LowerStep = (bound, context) => {
  const [what] = bound.statement.args
  if (what?.kind !== "word" || what.text === "header") return lowerCheck(bound, context)
  if (what.text === "jwt") return lowerTokenCheck(bound, context)
  const statements = statementsOf(bound.block, "jwt")
  const checks = statements.flatMap((each) => lowerTokenCheck(each, context) ?? [])
  const unique = checks.filter(({ id }, index) => checks.findIndex((other) => other.id === id) === index)
  const [first] = unique
  if (first === undefined || checks.length < statements.length) return undefined
  if (unique.length < checks.length) {
    const at = checks.findIndex(({ id }, index) => checks.findIndex((other) => other.id === id) < index)
    context.report.add(
      "SP2008",
      headSpan((statements[at] as Bound).statement),
      "the same `jwt` is there twice",
    )
  }
  if (unique.length === 1) return first
  return context.steps.add({ kind: "any-of", steps: idsOf(unique) }, headSpan(bound.statement), {
    steps: unique,
  })
}

function lowerTokenCheck(bound: Bound, context: StepContext): Lowered | undefined {
  const step = bound.broken ? undefined : lowerToken(bound, context)
  if (step === undefined) return undefined
  const lowered = context.steps.add(step, headSpan(bound.statement))
  return step.output === undefined ? lowered : { ...lowered, declares: { [step.output]: "dyn" } }
}
