import * as z from "zod"
import { defineStep } from "../define-step.ts"
import type { StepFacts } from "../facts.ts"
import { bodyRead, bodyWritten, headerOf } from "../places.ts"
import { message } from "../step-values.ts"

interface Conversion {
  readonly message: "request" | "response"
  readonly considerAccept: boolean
}

/** Facts of steps that convert a body to another format. */
export function conversionFacts({ message, considerAccept }: Conversion): StepFacts {
  return {
    reads: [...bodyRead(message), ...(considerAccept ? [headerOf("request", "accept")] : [])],
    writes: bodyWritten(message, true),
    ends: ["fail"],
  }
}

/** Converts the body from XML to JSON. `direct`: `@attribute`, `#text`; `javascript-friendly`: attributes as plain members. */
export const xmlToJson = defineStep(
  "xml-to-json",
  { role: "change", rehearsed: "run" },
  {
    message,
    style: z.enum(["direct", "javascript-friendly"]),
    /** `content-type`: only if the message is declared as XML. */
    apply: z.enum(["always", "content-type"]),
    considerAccept: z.boolean(),
    alwaysArray: z.boolean(),
  },
  conversionFacts,
)
