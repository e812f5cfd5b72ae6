import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten } from "../places.ts"
import { message } from "../step-values.ts"
import { text } from "../text.ts"

/** Replaces every occurrence of a text in the body. */
export const findReplace = defineStep(
  "find-replace",
  { role: "change", rehearsed: "run" },
  { message, from: text, to: text },
  ({ message }) => ({
    reads: [...bodyRead(message), "response.status"],
    writes: bodyWritten(message, false),
    ends: ["fail"],
  }),
)
