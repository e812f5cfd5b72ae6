import { ApiError } from "./api-error.ts"
import { type JsonFields, objectField } from "./fields.ts"

/** Conditions cannot use deeper values, and deep values endanger recursive code. */
const depthMax = 64

/** The `context` of a request or condition; undefined when absent. */
export function contextField(value: unknown, name: string): JsonFields | undefined {
  const context = objectField(value, name)
  if (context !== undefined && isDeep(context, depthMax))
    throw new ApiError("validation_error", `${name}: nested deeper than ${depthMax}`)
  return context
}

/** The same for a context that is stored with `tuple`. */
export function storedContextField(
  value: unknown,
  bytesMax: number,
  tuple: () => string,
): JsonFields | undefined {
  const context = contextField(value, "condition.context")
  if (context === undefined) return undefined
  const bytes = Buffer.byteLength(JSON.stringify(context))
  if (bytes > bytesMax)
    throw new ApiError(
      "validation_error",
      `Invalid tuple '${tuple()}'. Reason: condition context size limit exceeded: ${bytes} bytes exceeds ${bytesMax} bytes`,
    )
  return context
}

/** The recursion stops at the limit. */
function isDeep(value: unknown, left: number): boolean {
  if (typeof value !== "object" || value === null) return false
  if (left === 0) return true
  for (const item of Object.values(value)) if (isDeep(item, left - 1)) return true
  return false
}
