import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { text } from "../text.ts"

/** Writes a log line for the exchange (and later a trace entry). */
export const trace = defineStep(
  "trace",
  { role: "observe", rehearsed: "skip" },
  {
    source: text,
    severity: z.enum(["verbose", "information", "error"]),
    message: text,
    metadata: z.array(z.strictObject({ name: z.string().max(256), value: text })).max(50),
  },
  () => ({ leaves: ["log"] }),
)
