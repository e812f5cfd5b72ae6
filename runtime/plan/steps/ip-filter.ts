import * as z from "zod"
import { defineStep } from "../define-step.ts"

/** Lets only (`allow`) or all but (`deny`) addresses of these networks pass. CIDR notation. */
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
