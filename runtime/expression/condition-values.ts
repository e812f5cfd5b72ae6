import type { Adapt } from "./adapt.ts"
import { parseDouble } from "./conversions.ts"
import { ExpressionError } from "./expression-error.ts"
import { parseIpAddress } from "./ip-address.ts"
import { parseDuration, parseTimestamp } from "./time.ts"
import type { CelTypeTree } from "./types.ts"
import { CelMap, Duration, intMax, intMin, kindOf, Timestamp, Uint, uintMax } from "./values.ts"

// OpenFGA's names of JSON types (Go's).
const jsonNames: Readonly<Record<string, string>> = {
  double: "float64",
  list: "[]interface {}",
  map: "map[string]interface {}",
}

function refuse(type: string, value: unknown): ExpressionError {
  const kind = kindOf(value)
  return new ExpressionError("type", `expected type value '${type}', but found '${jsonNames[kind] ?? kind}'`)
}

function malformed(type: string, value: string): ExpressionError {
  const shown = value.length > 100 ? `${value.slice(0, 99)}…` : value
  return new ExpressionError("type", `expected a ${type} value, but found string value '${shown}'`)
}

const integerPattern = /^[+-]?\d{1,40}$/

/** The whole number of a JSON value: a number, or a text, because only a text is exact beyond 2^53. */
function integerOf(type: string, value: unknown): bigint {
  if (typeof value === "bigint") return value
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return BigInt(value)
    // `JSON.parse` rounded the number: the decision would use another number than the client sent.
    const found = Number.isInteger(value)
      ? "a number beyond 2^53, which JSON does not keep exactly; send it as a string"
      : "a fraction"
    throw new ExpressionError(
      "type",
      `expected ${type === "int" ? "an int" : "a uint"} value, but found ${found}`,
    )
  }
  if (typeof value !== "string") throw refuse(type, value)
  if (integerPattern.test(value)) return BigInt(value.replace("+", ""))
  const number = parseDouble(value)
  if (number === undefined || !Number.isSafeInteger(number)) throw malformed(type, value)
  return BigInt(number)
}

function toInt(value: unknown): unknown {
  const integer = integerOf("int", value)
  if (integer < intMin || integer > intMax)
    throw new ExpressionError("type", "the value does not fit into an int")
  return integer
}

function toUint(value: unknown): unknown {
  const integer = integerOf("uint", value)
  if (integer < 0n || integer > uintMax)
    throw new ExpressionError("type", "the value does not fit into a uint")
  return new Uint(integer)
}

/** JSON has one type of number, so a whole number is a double too. Text is accepted, as in OpenFGA. */
function toDouble(value: unknown): unknown {
  const number =
    typeof value === "string" ? parseDouble(value) : typeof value === "bigint" ? Number(value) : value
  if (typeof number === "number" && Number.isFinite(number)) return number
  // JSON has no infinity: the number was too large.
  if (typeof value === "number" || typeof number === "number")
    throw new ExpressionError("type", "the value does not fit into a double")
  throw typeof value === "string" ? malformed("double", value) : refuse("double", value)
}

function parsed(type: string, parse: (text: string) => unknown): Adapt {
  return (value) => {
    if (typeof value !== "string") throw refuse(type, value)
    const made = parse(value)
    if (made === undefined) throw malformed(type, value)
    return made
  }
}

function exactly(type: string, test: (value: unknown) => boolean): Adapt {
  return (value) => {
    if (test(value)) return value
    throw refuse(type, value)
  }
}

/** How a value of JSON becomes one of a parameter's type. */
const converters: ReadonlyMap<string, Adapt> = new Map<string, Adapt>([
  ["dyn", (value) => value],
  ["bool", exactly("bool", (value) => typeof value === "boolean")],
  ["string", exactly("string", (value) => typeof value === "string")],
  ["int", toInt],
  ["uint", toUint],
  ["double", toDouble],
  ["duration", (value) => (value instanceof Duration ? value : parsed("duration", parseDuration)(value))],
  ["timestamp", (value) => (value instanceof Timestamp ? value : parsed("timestamp", parseTimestamp)(value))],
  ["ipaddress", parsed("ipaddress", parseIpAddress)],
])

function toList(element: Adapt): Adapt {
  return (value) => {
    if (!Array.isArray(value)) throw refuse("list", value)
    return value.map((part) => element(part))
  }
}

function toMap(element: Adapt): Adapt {
  return (value) => {
    if (kindOf(value) !== "map" || value instanceof CelMap) throw refuse("map", value)
    return CelMap.of(Object.entries(value as object).map(([key, part]) => [key, element(part)] as const))
  }
}

/**
 * Converts a value of a JSON context to the type of a parameter, with OpenFGA's coercions: numeric texts for int, uint and double (all 64 bits, which
 * JSON numbers lose), RFC 3339 timestamps, durations like `1h30m`, addresses as text. The converter throws ExpressionError.
 */
export function contextConverter(type: CelTypeTree): Adapt {
  const simple = converters.get(type.name)
  if (simple !== undefined) return simple
  const [first, second] = type.args
  const element = type.name === "list" ? first : second
  if (element === undefined) throw new Error(`a parameter cannot have the type ${type.text}`)
  return type.name === "list" ? toList(contextConverter(element)) : toMap(contextConverter(element))
}
