import { toBase64, utf8Length } from "#platform"
import { textOf } from "./conversions.ts"
import { ExpressionError } from "./expression-error.ts"
import { type JsonObject, kindOf, mapEntries, type Uint } from "./values.ts"

const depthMax = 200

/** The cost of a value, however small, in bytes of text. */
const bytesOfValue = 25

/** Limit on the size of JSON: as much as this many values plus this many bytes of text. */
export interface JsonSize {
  readonly values: number
  readonly bytes: number
}

/** At most 20 ms of work. */
const sizeDefault: JsonSize = { values: 60_000, bytes: 2 ** 21 }

/**
 * The remaining budget for the JSON of a value, in bytes. A list that several lists refer to is one in memory but many in JSON: a chain of ten names,
 * each a list of ten references to the previous one, is ten thousand million values.
 */
interface Budget {
  left: number
}

function number(value: bigint): number | string {
  const near = Number(value)
  return Number.isSafeInteger(near) ? near : value.toString()
}

function mapKey(key: unknown): string {
  const text = textOf(key)
  if (text === undefined) throw new ExpressionError("type", "a map key cannot be converted to a string")
  return text
}

/** An object; `budget` counts the bytes of the text. */
function objectOf(map: JsonObject, depth: number, budget: Budget): unknown {
  const object: Record<string, unknown> = {}
  for (const [key, value] of mapEntries(map)) {
    const name = mapKey(key)
    budget.left -= utf8Length(name)
    const made = jsonOf(value, depth + 1, budget)
    // Defined, not assigned: a key `__proto__` must stay a key.
    if (name === "__proto__")
      Object.defineProperty(object, name, {
        value: made,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    else object[name] = made
  }
  return object
}

/** See `toJson`. */
export function jsonWithin(value: unknown, { values, bytes }: JsonSize = sizeDefault): unknown {
  return jsonOf(value, 0, { left: values * bytesOfValue + bytes })
}

/** A value as JSON. Types without a form in JSON are errors. */
function jsonOf(value: unknown, depth: number, budget: Budget): unknown {
  if (depth > depthMax) throw new ExpressionError("cost", "the value is nested too deeply for JSON")
  budget.left -= typeof value === "string" ? utf8Length(value) + bytesOfValue : bytesOfValue
  if (budget.left < 0) throw new ExpressionError("cost", "the value is too large for JSON")
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
      return toBase64(value as Uint8Array)
    case "list":
      return (value as readonly unknown[]).map((element) => jsonOf(element, depth + 1, budget))
    case "map":
      return objectOf(value as JsonObject, depth, budget)
    default:
  }
  throw new ExpressionError("type", `JSON cannot represent this ${kind}`)
}
