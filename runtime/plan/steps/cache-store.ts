import { defineStep } from "../define-step.ts"
import { headerOf, wholeRequest, wholeResponse } from "../places.ts"
import { count, flag } from "../step-values.ts"

/** Stores the response under the key of the lookup. Only status 200 unless `storeIf`. */
export const cacheStore = defineStep(
  "cache-store",
  { role: "observe", rehearsed: "skip" },
  {
    seconds: count,
    storeIf: flag.optional(),
  },
  () => ({
    reads: [...wholeRequest, ...wholeResponse, "response.cached"],
    writes: [headerOf("response", "cache-control")],
    leaves: ["cache:*"],
    ends: ["fail"],
    waits: true,
    fence: true,
  }),
)
