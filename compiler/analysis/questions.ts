import type { StepOf } from "../../runtime/plan/steps.ts"
import { type FieldRules, opens } from "./finding.ts"

type Decider = Pick<StepOf<"require">, "store" | "pdp">

/** Who is asked, and what with, in steps that ask. Nobody here can tell two decision points apart. */
export const askedRules = {
  store: (before, after, { before: old, after: next }) =>
    before !== undefined && after !== undefined
      ? opens(`the store \`${after}\` is asked, not \`${before}\``)
      : opens(`${deciderWords(next)} is asked, not ${deciderWords(old)}: who passes by it is not known here`),
  pdp: (before, after) =>
    before === undefined || after === undefined
      ? []
      : opens(`decision point \`${after}\` is asked, not \`${before}\`: who passes by it is not known here`),
  context: () => opens("conditions see other values"),
  properties: () => opens("the decision point is told other properties"),
} satisfies Pick<
  FieldRules<Omit<StepOf<"require" | "filter">, "kind">>,
  "store" | "pdp" | "context" | "properties"
>

function deciderWords({ store, pdp }: Decider): string {
  return pdp === undefined ? `the store \`${store}\`` : `decision point \`${pdp}\``
}
