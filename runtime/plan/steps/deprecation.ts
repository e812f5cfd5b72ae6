import * as z from "zod"
import { defineStep } from "../define-step.ts"

/** Deprecation (RFC 9745), Sunset (RFC 8594) and Link successor-version (RFC 8288, 5829) fields on every answer; `closed`: 410 from the sunset date on, at once without one. Dates are ISO days, UTC. */
export const deprecation = defineStep(
  "deprecation",
  { role: "observe", rehearsed: "run" },
  {
    deprecated: z.union([z.boolean(), z.iso.date()]),
    sunset: z.iso.date().optional(),
    closed: z.boolean(),
    successor: z.string().max(2048).optional(),
    documentation: z.string().max(2048).optional(),
  },
  ({ closed }) => ({
    // A closed one names the caller by the key that is shown, in whatever place the route looks for it.
    reads: closed ? ["request.header:*", "request.query:*"] : [],
    leaves: ["answer.header:deprecation", "answer.header:sunset", "answer.header:link"],
    ends: closed ? ["refuse"] : [],
  }),
)
