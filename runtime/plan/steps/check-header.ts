import * as z from "zod"
import { defineStep } from "../define-step.ts"
import { headerName } from "../http-syntax.ts"
import { headerOf } from "../places.ts"
import { constantCount, count, flag } from "../step-values.ts"
import { text } from "../text.ts"

/** The header must be present and one of `values` (empty: presence only). More than one line fails. */
export const checkHeader = defineStep(
  "check-header",
  { role: "guard", rehearsed: "run" },
  {
    name: headerName,
    values: z.array(text).max(100),
    ignoreCase: flag,
    status: count,
    message: text.optional(),
  },
  ({ name, status }) => ({
    reads: [headerOf("request", name)],
    ends: ["refuse"],
    statuses: [constantCount(status, 403)],
  }),
)
