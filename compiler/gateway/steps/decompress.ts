import { neutral } from "../../analysis/finding.ts"
import { otherRequestBody, ownBody } from "../../analysis/message-rules.ts"
import { headSpan } from "../bind/bound.ts"
import { statement } from "../print.ts"
import { optional, slot, word } from "../schema/row.ts"
import type { StatementForm, StepText } from "../step-text.ts"

/** JSON and XML become 5 to 20 times smaller by compression; only what repeats itself without end becomes 100 times smaller. */
const ratioDefault = 100

/** `body decompress at-most N` */
export const decompressForm: StatementForm = {
  form: {
    args: [
      word("decompress"),
      optional(word("at-most"), slot("ratio", "count", { min: 1, max: 10_000, label: "N" })),
    ],
  },
  lower: (bound, { steps }) =>
    steps.add(
      { kind: "decompress", ratioMax: bound.args.value<number>("ratio") ?? ratioDefault },
      headSpan(bound.statement),
    ),
}

/** Printing and comparison of a step that sends the backend the body without its codings. */
export const decompress: StepText<"decompress"> = {
  print: ({ ratioMax }) =>
    statement(ratioMax === ratioDefault ? "body decompress" : `body decompress at-most ${ratioMax}`),
  identities: () => ["decompress"],
  added: () => otherRequestBody("the backend gets bodies without their compression"),
  removed: () => ownBody("request"),
  changed: {
    ratioMax: (_, after) => neutral(`a body may be at most ${after} times larger than what was sent`),
  },
}
