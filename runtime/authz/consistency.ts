import { ApiError } from "./api-error.ts"

/** Names and numbers of the protobuf enum. */
const preferences = new Map<unknown, "minimize-latency" | "higher-consistency">([
  ["UNSPECIFIED", "minimize-latency"],
  ["MINIMIZE_LATENCY", "minimize-latency"],
  ["HIGHER_CONSISTENCY", "higher-consistency"],
  [0, "minimize-latency"],
  [100, "minimize-latency"],
  [200, "higher-consistency"],
])

/** `consistency` of a request. */
export function consistencyField(value: unknown): "minimize-latency" | "higher-consistency" {
  if (value === undefined || value === null || value === "") return "minimize-latency"
  const preference = preferences.get(value)
  if (preference !== undefined) return preference
  throw new ApiError(
    "validation_error",
    "consistency: expected UNSPECIFIED, MINIMIZE_LATENCY or HIGHER_CONSISTENCY",
  )
}
