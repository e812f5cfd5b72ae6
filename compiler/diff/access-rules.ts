import type { StepKind, StepOf } from "../../runtime/plan/steps.ts"
import { type FieldRules, opens } from "../analysis/finding.ts"

type Fields<Kind extends StepKind> = Omit<StepOf<Kind>, "kind">

/** Who is asked, and what with, in steps that ask. Nobody here can tell two decision points apart. */
export const askedRules = {
  store: (before, after, { before: old, after: next }) =>
    before !== undefined && after !== undefined
      ? opens(`the store \`${after}\` is asked, not \`${before}\``)
      : opens(`${deciderOf(next)} is asked, not ${deciderOf(old)}: who passes by it is not known here`),
  pdp: (before, after) =>
    before === undefined || after === undefined
      ? []
      : opens(`decision point \`${after}\` is asked, not \`${before}\`: who passes by it is not known here`),
  context: () => opens("conditions see other values"),
  properties: () => opens("the decision point is told other properties"),
} satisfies Pick<FieldRules<Fields<"require" | "filter">>, "store" | "pdp" | "context" | "properties">

/** What a difference means in steps that decide who may pass, field by field. */
export const accessRules = {
  "require-all": { steps: () => opens("other relations are needed now") } satisfies FieldRules<
    Fields<"require-all">
  >,
  "require-any": { steps: () => opens("other relations are enough now") } satisfies FieldRules<
    Fields<"require-any">
  >,
  filter: {
    ...askedRules,
    items: (_, after) => opens(`items are left out of the list at \`${after}\` now, and of no other`),
    relation: (before, after) => opens(`who is \`${after}\` sees an item, not who is \`${before}\``),
    object: () => opens("another object is asked about for each item"),
    user: () => opens("another user is asked about"),
    tuples: () => opens("other tuples count for the questions"),
  } satisfies FieldRules<Fields<"filter">>,
  grant: {
    action: (_, after) =>
      opens(after === "write" ? "relations are written, not deleted" : "relations are deleted, not written"),
    store: (before, after) => opens(`the store \`${after}\` is changed, not \`${before}\``),
    relation: (before, after) => opens(`it is about \`${after}\`, not \`${before}\``),
    object: () => opens("it is about another object"),
    user: () => opens("it is about another user"),
  } satisfies FieldRules<Fields<"grant">>,
}

function deciderOf({ store, pdp }: Pick<StepOf<"require">, "store" | "pdp">): string {
  return pdp === undefined ? `the store \`${store}\`` : `decision point \`${pdp}\``
}
