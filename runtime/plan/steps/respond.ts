import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyContent, contentRead, count, headerLines, variableName } from "../step-values.ts"
import { text } from "../text.ts"

/** Ends the section with a response. `from`: the variable with the response to start from. */
export const respond = defineStep(
  "respond",
  { role: "answer", rehearsed: "run" },
  {
    from: variableName.optional(),
    status: count.optional(),
    reason: text.optional(),
    headers: headerLines,
    media: z.string().max(256).nullable(),
    body: bodyContent.optional(),
    /** The body describes the API and is generated from its routes. */
    documentation: z.literal(true).optional(),
  },
  ({ from, status, body }) => ({
    reads: [...(from === undefined ? [] : ([`variable:${from}`] as const)), ...contentRead(body)],
    ends: [typeof status === "number" && status >= 400 ? "deny" : "answer"],
    fits: "header",
  }),
)
