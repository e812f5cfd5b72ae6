import { textOf } from "./conversions.ts"
import { ExpressionError } from "./expression-error.ts"
import { type JsonObject, kindOf, mapEntries, type Uint } from "./values.ts"

const depthMax = 200

function number(value: bigint): number | string {
  const near = Number(value)
  return Number.isSafeInteger(near) ? near : value.toString()
}

function mapKey(key: unknown): string {
  const text = textOf(key)
  if (text === undefined) throw new ExpressionError("type", "a map key has no text")
  return text
}

function objectOf(map: JsonObject, depth: number): unknown {
  const object: Record<string, unknown> = {}
  for (const [key, value] of mapEntries(map)) {
    // Defined, not assigned: a key `__proto__` must stay a key.
    Object.defineProperty(object, mapKey(key), {
      value: jsonOf(value, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return object
}

/** See `toJson`. */
export function jsonOf(value: unknown, depth: number): unknown {
  if (depth > depthMax) throw new ExpressionError("cost", "the value is nested too deeply for JSON")
  const kind = kindOf(value)
  switch (kind) {
    case "null":
    case "bool":
    case "string":
      return value
    case "int":
      return number(value as bigint)
    case "uint":
      return number((value as Uint).value)
    case "double":
      if (Number.isFinite(value)) return value
      break
    case "timestamp":
    case "duration":
      return textOf(value)
    case "bytes":
      return Buffer.from(value as Uint8Array).toString("base64")
    case "list":
      return (value as readonly unknown[]).map((element) => jsonOf(element, depth + 1))
    case "map":
      return objectOf(value as JsonObject, depth)
    default:
  }
  throw new ExpressionError("type", `JSON can't hold this ${kind}`)
}
