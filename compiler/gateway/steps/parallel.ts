import { neutral } from "../../analysis/finding.ts"
import { headSpan, statementsOf } from "../bind/bound.ts"
import { idsOf } from "../lower/step.ts"
import { statement } from "../print.ts"
import type { StepBlock } from "../schema/block-name.ts"
import { type StatementRow, slot } from "../schema/row.ts"
import { always, lacking, type StatementDefinition, type StepText } from "../step-text.ts"

/** `parallel all|any { branch { … } … }`, with blocks of the given kind. */
export const parallelStatement = (block: StepBlock): StatementDefinition => ({
  row: {
    keyword: "parallel",
    several: true,
    forms: [
      {
        args: [slot("until", "choice", { choices: ["all", "any"] })],
        block: `parallel ${block}`,
        blockRequired: true,
      },
    ],
    docs: "Runs its branches at the same time. It continues when `all` have ended, or when `any` has ended without an error.",
    example: 'parallel all { branch { set a "1" }; branch { set b "2" } }',
  },
  lower: (bound, { place, block, steps }) => {
    const until = bound.args.value<"all" | "any">("until")
    const branches = statementsOf(bound.block, "branch").map((each) => block(each.block, place))
    const filled = branches.filter((branch) => branch.length > 0)
    if (until === undefined || filled.length === 0) return undefined
    const inside = Object.fromEntries(filled.map((branch, index) => [`branches.${index}`, branch]))
    return steps.add(
      { kind: "parallel", until, branches: filled.map(idsOf) },
      headSpan(bound.statement),
      inside,
    )
  },
})

/** The statements in a `parallel` block. */
export function branchRows(block: StepBlock): readonly StatementRow[] {
  return [
    {
      keyword: "branch",
      several: 50,
      required: true,
      forms: [{ args: [], block, blockRequired: true }],
      docs: "Statements that run at the same time as those of the other branches.",
      example: 'branch { set a "1" }',
    },
  ]
}

/** Printing and comparison of a step that runs blocks at the same time. */
export const parallel: StepText<"parallel"> = {
  print: ({ until, branches }, printing) =>
    statement(
      `parallel ${until}`,
      branches.map((steps) => statement("branch", printing.inside(steps))),
    ),
  identities: ({ branches }) => [`parallel ${branches.join()}`, "parallel"],
  added: (step, effects) => effects.inside(step),
  removed: (step, effects) => effects.inside(step),
  changed: {
    until: (_, after) =>
      neutral(
        after === "all"
          ? "it continues when all branches have ended"
          : "it continues after the first successful branch: results of the other ones may be missing",
      ),
    // Reported with the inner steps.
    branches: () => [],
  },
  block: {
    place: (_, place) => `branch ${Number(place.split(".")[1]) + 1} of parallel`,
    wrapping: ({ until }, removed) =>
      until === "all"
        ? [neutral("it now runs at the same time as other branches")]
        : lacking("it is now cancelled when another branch succeeds first; when it does not run", removed),
    unwrapping: ({ until }, added) =>
      until === "all"
        ? [neutral("it no longer runs at the same time as other branches")]
        : always("it now runs whatever the other branches do", added),
  },
}
