import * as z from "zod"
import { defineStep } from "../define-step.ts"

/** Allows only addresses of these networks (`allow`), or all others (`deny`). CIDR notation. */
export const ipFilter = defineStep(
  "ip-filter",
  { role: "guard", rehearsed: "run" },
  {
    action: z.enum(["allow", "deny"]),
    networks: z.array(z.string()).max(10_000),
    ranges: z.array(z.strictObject({ from: z.string(), to: z.string() })).max(10_000),
  },
  () => ({ reads: ["address"], ends: ["refuse"], statuses: [403] }),
)
