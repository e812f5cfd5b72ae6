import type { RelationQuestion } from "../../runtime/plan/step-values.ts"
import type { StepId } from "../../runtime/plan/steps.ts"
import { type FieldRules, opens } from "../analysis/finding.ts"
import { textWords } from "../analysis/words.ts"
import { authzPdp } from "./bind/names.ts"
import { type Printed, type Printing, wordText } from "./print.ts"

type Question = Pick<RelationQuestion, "relation" | "object" | "user" | "store" | "pdp">
type Circumstances = Pick<RelationQuestion, "context" | "tuples" | "properties">

/** `viewer of "order:…" for "user:…" in STORE`: the question, and what answers it. */
export function askedText({ relation, object, user, store, pdp }: Question, printing: Printing): string {
  const decider = pdp === undefined ? storeText(store, printing) : pdp === authzPdp ? "" : ` by ${pdp}`
  return `${relation} of ${textWords(object)} for ${textWords(user)}${decider}`
}

/** ` in STORE`; empty if the plan has only one store. */
export function storeText(store: string | undefined, { body }: Printing): string {
  const isOnly = body !== undefined && Object.keys(body.authz?.stores ?? {}).length <= 1
  return isOnly || store === undefined ? "" : ` in ${store}`
}

/** The block of a question: values for conditions, properties, and contextual tuples. */
export function circumstanceLines({ context = [], tuples = [], properties = {} }: Circumstances): string[] {
  return [
    ...context.map(({ key, value }) => `context ${wordText(key)} (${value.text})`),
    ...(["subject", "resource", "action"] as const).flatMap((of) =>
      (properties[of] ?? []).map(({ key, value }) => `${of} ${wordText(key)} (${value.text})`),
    ),
    ...tuples.map(
      ({ user, relation, object }) => `tuple ${textWords(user)} ${relation} ${textWords(object)}`,
    ),
  ]
}

/** The lines of `require any` and `require all`: each is a `require` without its keyword. */
export function alternativeLines(steps: readonly StepId[], printing: Printing): Printed[] {
  return printing.inside(steps).map((line) => ({ ...line, head: line.head.replace(/^require /, "") }))
}

type Decider = Pick<RelationQuestion, "store" | "pdp">

/**
 * What changes of the store, decision point or properties mean in steps that ask a question. The compiler cannot compare the rules of two
 * decision points.
 */
export const askedRules = {
  store: (before, after, { before: old, after: next }) =>
    before !== undefined && after !== undefined
      ? opens(`the check uses the store \`${after}\` instead of \`${before}\``)
      : opens(
          `${deciderWords(next)} decides instead of ${deciderWords(old)}: which callers it allows is not known here`,
        ),
  pdp: (before, after) =>
    before === undefined || after === undefined
      ? []
      : opens(
          `decision point \`${after}\` decides instead of \`${before}\`: which callers it allows is not known here`,
        ),
  context: () => opens("conditions get other values"),
  properties: () => opens("the decision point gets other properties"),
} satisfies Pick<FieldRules<RelationQuestion>, "store" | "pdp" | "context" | "properties">

function deciderWords({ store, pdp }: Decider): string {
  return pdp === undefined ? `the store \`${store}\`` : `decision point \`${pdp}\``
}
