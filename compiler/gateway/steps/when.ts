import { compareTests } from "../../../runtime/expression/same-outcome.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import { type Finding, neutral } from "../../analysis/finding.ts"
import { headSpan } from "../bind/bound.ts"
import { placeBehind } from "../lower/place.ts"
import { idsOf } from "../lower/step.ts"
import { statement } from "../print.ts"
import type { BlockName } from "../schema/block-name.ts"
import { slot } from "../schema/row.ts"
import { always, type ComparedPlans, lacking, type StatementDefinition, type StepText } from "../step-text.ts"

/** `when (CEL) { … } else { … }`, with blocks of the given kind. */
export const whenStatement = (block: BlockName): StatementDefinition => ({
  row: {
    keyword: "when",
    several: true,
    otherwise: true,
    forms: [{ args: [slot("test", "condition")], block, blockRequired: true }],
    docs: "Runs its statements if the condition is true, and those of `else` otherwise.",
    example:
      'when (request.method == "POST") { header set "X-Writes" "1" } else { header remove "X-Writes" }',
  },
  lower: (bound, { expressions, place, scope, block, steps }) => {
    const condition = bound.args.cel("test")
    const inside = condition === undefined ? place : placeBehind(condition.source, place)
    const words = `(${condition?.source.trim().replace(/\s+/g, " ") ?? ""})`
    const matched = block(bound.block, inside, `${scope}, when ${words}`)
    const otherwise = block(bound.otherwise, inside, `${scope}, not ${words}`)
    const test = condition === undefined ? undefined : expressions.lower(condition, place, "bool")
    if (test === undefined) return undefined
    const step = { kind: "when" as const, test, matched: idsOf(matched), otherwise: idsOf(otherwise) }
    return steps.add(step, headSpan(bound.statement), { matched, otherwise })
  },
})

/** Printing and comparison of a step that runs one of two blocks. */
export const when: StepText<"when"> = {
  print: ({ test, matched, otherwise }, printing) => ({
    ...statement(`when (${test.text})`, printing.inside(matched)),
    ...(otherwise.length === 0 ? {} : { otherwise: statement("else", printing.inside(otherwise)) }),
  }),
  identities: ({ test, matched, otherwise }) => [
    `when ${test.text}`,
    `when ${matched.join()} else ${otherwise.join()}`,
  ],
  added: (step, effects) => effects.inside(step),
  removed: (step, effects) => effects.inside(step),
  changed: (before, after, plans) => [otherTest(before, after, plans)],
  block: {
    place: ({ test }, place) => `${place === "otherwise" ? "else of " : ""}when (${test.text})`,
    wrapping: (_, removed) => lacking("it now runs only under a condition; when it does not run", removed),
    unwrapping: (_, added) => always("it now runs without a condition", added),
  },
}

/**
 * What another condition means. It excludes requests, includes new ones, or both; if the logic comparison cannot decide, assume both.
 * Excluded requests run `else` instead of the block, included ones the block instead of `else`.
 */
function otherTest(before: StepOf<"when">, after: StepOf<"when">, plans: ComparedPlans): Finding {
  const [old, next] = [before.test, after.test]
  if (old.text === next.text)
    return neutral(`the condition has the type \`${next.type}\` instead of \`${old.type}\``)
  const isCel = old.lang === "cel" && next.lang === "cel"
  const relation = isCel ? compareTests(old.text, next.text) : "other"
  if (relation === "same") return neutral("the condition is written differently but means the same")
  const words = { narrower: "fewer", wider: "more", other: "other" }[relation]
  const left = relation === "wider" ? [] : plans.effectsOf(after.matched, after.otherwise)
  const taken = relation === "narrower" ? [] : plans.effectsOf(after.otherwise, after.matched)
  for (const risk of ["opens", "breaking", "closes"] as const)
    for (const [findings, where] of [
      [left, "no longer true"],
      [taken, "now true"],
    ] as const) {
      const found = findings.find((each) => each.risk === risk)
      if (found !== undefined)
        return {
          risk,
          why: `the condition is true for ${words} requests; where it is ${where}, ${found.why}`,
        }
    }
  return neutral(`the condition is true for ${words} requests`)
}
