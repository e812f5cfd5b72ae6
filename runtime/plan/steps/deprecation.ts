import * as z from "zod"
import { defineStep } from "../define-step.ts"

/**
 * Adds the fields Deprecation (RFC 9745), Sunset (RFC 8594) and Link successor-version (RFC 8288, 5829) to every response. `closed`: 410 from the sunset
 * date on, or at once without a date. Dates are ISO days, UTC.
 */
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
    // A closed one logs the caller by the presented key, which can be in any place where the route looks for it.
    reads: closed ? ["request.header:*", "request.query:*"] : [],
    leaves: ["answer.header:deprecation", "answer.header:sunset", "answer.header:link"],
    ends: closed ? ["refuse"] : [],
  }),
)
