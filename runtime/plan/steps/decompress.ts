import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { bodyRead, bodyWritten } from "../places.ts"

/** Removes the content codings of the request's body (RFC 9110 §8.4). */
export const decompress = defineStep(
  "decompress",
  { role: "change", rehearsed: "run" },
  {
    /** How many times larger than what was sent the body may be; a larger one is 413. */
    ratioMax: z.number().int().min(1).max(10_000),
  },
  () => ({ reads: bodyRead("request"), writes: bodyWritten("request", false), ends: ["refuse"] }),
)
