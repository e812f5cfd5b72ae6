import { breaking, opens } from "../../analysis/finding.ts"
import { callersDecide } from "../../analysis/text-findings.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { statement } from "../print.ts"
import { slot, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"

/** `body jsonp "callback"` */
export const jsonpForm: StatementForm = {
  form: { args: [word("jsonp"), slot("callback", "text", { label: '"PARAMETER"' })] },
  lower: (bound, { steps, texts, place }) => {
    const parameter = bound.args.text("callback")
    const callback = parameter === undefined ? undefined : texts.lower(parameter, place)
    if (callback === undefined) return undefined
    return steps.add({ kind: "jsonp", callback }, headSpan(bound.statement))
  },
}

/** Printing and comparison of a step that turns a JSON response into a script. */
export const jsonp: StepText<"jsonp"> = {
  print: ({ callback }) => statement(`body jsonp ${textWords(callback)}`),
  identities: () => ["jsonp"],
  added: () => opens("any web page that callers open may read the responses to GET"),
  removed: () => breaking("pages that request a script now get JSON"),
  changed: {
    callback: (before, after) => [
      breaking(`the query parameter ${textWords(after)} contains the name of the function`),
      ...callersDecide(before, after),
    ],
  },
}
