import { canonicalJson } from "../../../runtime/plan/canonical.ts"
import { changedBody, nowAboutMessage, otherBody, ownBody } from "../../analysis/message-rules.ts"
import { callersDecide, secretsIn } from "../../analysis/text-findings.ts"
import { textWords } from "../../analysis/words.ts"
import { headSpan } from "../bind/bound.ts"
import { messageAt } from "../lower/header.ts"
import { warnOfRawValues } from "../lower/raw-values.ts"
import { statement } from "../print.ts"
import { slot, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"

/** `body replace "a" with "b"` */
export const replaceForm: StatementForm = {
  form: { args: [word("replace"), slot("from", "text"), word("with"), slot("to", "text")] },
  lower: (bound, context) => {
    const { steps, texts, place } = context
    const [fromAt, toAt] = [bound.args.text("from"), bound.args.text("to")]
    if (fromAt === undefined || toAt === undefined) return undefined
    warnOfRawValues(toAt, null, context)
    const from = texts.lower(fromAt, place)
    const to = texts.lower(toAt, place)
    if (from === undefined || to === undefined) return undefined
    return steps.add({ kind: "find-replace", message: messageAt(place), from, to }, headSpan(bound.statement))
  },
}

/** Printing and comparison of a step that replaces a text in the body. */
export const findReplace: StepText<"find-replace"> = {
  print: ({ from, to }) => statement(`body replace ${textWords(from)} with ${textWords(to)}`),
  identities: ({ message, from }) => [`replace ${canonicalJson([message, from])}`, `replace ${message}`],
  added: ({ message }) => changedBody(message),
  removed: ({ message }) => ownBody(message),
  changed: {
    message: nowAboutMessage,
    from: (before, after, { after: { message } }) => [
      otherBody(message, "another string replaced"),
      ...callersDecide(before, after),
    ],
    to: (before, after, { after: { message } }) => [
      otherBody(message, "another replacement"),
      ...callersDecide(before, after),
      ...secretsIn(after, before),
    ],
  },
}
