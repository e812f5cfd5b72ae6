import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten, everyPlace } from "../places.ts"
import { bodyContent, message } from "../step-values.ts"

/** Replaces the whole body. Sets Content-Length, and Content-Type if `media` is set (otherwise it stays). Removes fields that described the old body. */
export const setBody = defineStep(
  "set-body",
  { role: "change", rehearsed: "run" },
  {
    message,
    media: z.string().max(256).nullable(),
    content: bodyContent,
  },
  ({ message, media, content }) => ({
    reads: "liquid" in content ? [...everyPlace, ...bodyRead(message)] : [],
    writes: bodyWritten(message, media !== null),
    ...("liquid" in content ? { ends: ["fail"] } : {}),
  }),
)
