import { ApiError } from "./api-error.ts"
import { invalid } from "./fields.ts"

/** Names and numbers of the protobuf enum. */
const preferences = new Map<unknown, "minimize-latency" | "higher-consistency">([
  ["UNSPECIFIED", "minimize-latency"],
  ["MINIMIZE_LATENCY", "minimize-latency"],
  ["HIGHER_CONSISTENCY", "higher-consistency"],
  [0, "minimize-latency"],
  [100, "minimize-latency"],
  [200, "higher-consistency"],
])

/** `consistency` of a request, which is the protobuf message named. A word that is none of OpenFGA's is ignored, as there; a number is not. */
export function consistencyField(value: unknown, message: string): "minimize-latency" | "higher-consistency" {
  if (value === undefined || value === null) return "minimize-latency"
  const preference = preferences.get(value)
  if (preference !== undefined) return preference
  if (typeof value === "string") return "minimize-latency"
  if (Number.isInteger(value))
    throw invalid(message, "Consistency", "value must be one of the defined enum values")
  throw new ApiError(
    "validation_error",
    "consistency: expected UNSPECIFIED, MINIMIZE_LATENCY or HIGHER_CONSISTENCY",
  )
}
