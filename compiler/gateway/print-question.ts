import type { StepId, StepOf } from "../../runtime/plan/steps.ts"
import { textWords } from "../analysis/words.ts"
import { authzPdp } from "./bind/names.ts"
import { type Printed, type Printing, wordText } from "./print.ts"

type Question = Pick<StepOf<"require">, "relation" | "object" | "user" | "store" | "pdp">
type Circumstances = Pick<StepOf<"require">, "context" | "tuples" | "properties">

/** `viewer of "order:…" for "user:…" in STORE`: what is asked, and who answers. */
export function askedText({ relation, object, user, store, pdp }: Question, printing: Printing): string {
  const decider = pdp === undefined ? storeText(store, printing) : pdp === authzPdp ? "" : ` by ${pdp}`
  return `${relation} of ${textWords(object)} for ${textWords(user)}${decider}`
}

/** ` in STORE`; nothing where the plan has only one. */
export function storeText(store: string | undefined, { body }: Printing): string {
  const isOnly = body !== undefined && Object.keys(body.authz?.stores ?? {}).length <= 1
  return isOnly || store === undefined ? "" : ` in ${store}`
}

/** The block of a question: what conditions see, properties, and tuples that count for it. */
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
