import { ExpressionError } from "./expression-error.ts"
import { parseIpAddress } from "./ip-address.ts"
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from "./time.ts"
import { typeNameOf } from "./type-names.ts"
import { Duration, type IpAddress, intMax, intMin, kindOf, Timestamp, TypeValue, Uint } from "./values.ts"

function refuse(target: string, value: unknown): ExpressionError {
  const kind = kindOf(value)
  const text = kind === "string" ? "the string is not a valid value of it" : `it takes no ${kind}`
  return new ExpressionError(kind === "string" ? "other" : "type", `\`${target}\`: ${text}`)
}

const integerPattern = /^[+-]?\d{1,30}$/
const doublePattern = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)$/i

function checkedInt(value: bigint): bigint {
  if (value > intMax || value < intMin)
    throw new ExpressionError("overflow", "the value does not fit into an int")
  return value
}

function truncated(value: number, target: string): bigint {
  if (!Number.isFinite(value)) throw new ExpressionError("overflow", `the value does not fit into ${target}`)
  return BigInt(Math.trunc(value))
}

/** `int(…)`: truncates doubles towards zero; of a timestamp it returns the seconds. */
export function toInt(value: unknown): bigint {
  if (typeof value === "bigint") return value
  if (typeof value === "number") {
    // The smallest int is rejected too: as a double it can be the rounded form of a smaller number.
    if (value <= Number(intMin)) throw new ExpressionError("overflow", "the value does not fit into an int")
    return checkedInt(truncated(value, "an int"))
  }
  if (value instanceof Uint) return checkedInt(value.value)
  if (typeof value === "string" && integerPattern.test(value))
    return checkedInt(BigInt(value.replace("+", "")))
  if (value instanceof Timestamp) {
    const second = 1_000_000_000n
    return (value.nanoseconds - (((value.nanoseconds % second) + second) % second)) / second
  }
  throw refuse("int", value)
}

/** `uint(…)`: truncates doubles towards zero. */
export function toUint(value: unknown): Uint {
  if (value instanceof Uint) return value
  if (typeof value === "bigint") return new Uint(value)
  if (typeof value === "number") return new Uint(truncated(value, "a uint"))
  if (typeof value === "string" && integerPattern.test(value)) return new Uint(BigInt(value.replace("+", "")))
  throw refuse("uint", value)
}

/** The number that a text contains; undefined if it is not a number. */
export function parseDouble(text: string): number | undefined {
  if (!doublePattern.test(text)) return undefined
  const lower = text.toLowerCase()
  if (lower.endsWith("nan")) return Number.NaN
  if (lower.includes("inf"))
    return lower.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return Number(text)
}

/** `double(…)`. */
export function toDouble(value: unknown): number {
  if (typeof value === "number") return value
  if (typeof value === "bigint") return Number(value)
  if (value instanceof Uint) return Number(value.value)
  const parsed = typeof value === "string" ? parseDouble(value) : undefined
  if (parsed === undefined) throw refuse("double", value)
  return parsed
}

function doubleText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf"
  if (value === Number.NEGATIVE_INFINITY) return "-Inf"
  return Object.is(value, -0) ? "-0" : String(value)
}

/** The text of a value; undefined for lists, maps, null and other values without text. */
export function textOf(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return value
    case "bigint":
    case "boolean":
      return String(value)
    case "number":
      return doubleText(value)
    default:
  }
  if (value instanceof Uint) return value.value.toString()
  if (value instanceof Timestamp) return formatTimestamp(value)
  return value instanceof Duration ? formatDuration(value) : undefined
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** `string(…)`: bytes must be UTF-8. A double is written as in JavaScript: 1234567.0 is `1234567`. */
export function toStringValue(value: unknown): string {
  const text = textOf(value)
  if (text !== undefined) return text
  if (!(value instanceof Uint8Array)) throw refuse("string", value)
  try {
    return utf8.decode(value)
  } catch {
    throw new ExpressionError("other", "the bytes are not UTF-8")
  }
}

export function toBytes(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (typeof value === "string") return new TextEncoder().encode(value)
  throw refuse("bytes", value)
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text): [string, boolean] => [text, true]),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text): [string, boolean] => [text, false]),
])

export function toBool(value: unknown): boolean {
  if (typeof value === "boolean") return value
  const truth = typeof value === "string" ? truths.get(value) : undefined
  if (truth === undefined) throw refuse("bool", value)
  return truth
}

/** `timestamp(…)`: RFC 3339 text or seconds since 1970. */
export function toTimestamp(value: unknown): Timestamp {
  if (value instanceof Timestamp) return value
  if (typeof value === "bigint") return new Timestamp(value * 1_000_000_000n)
  if (typeof value === "number" && Number.isSafeInteger(value))
    return new Timestamp(BigInt(value) * 1_000_000_000n)
  const parsed = typeof value === "string" ? parseTimestamp(value) : undefined
  if (parsed === undefined) throw refuse("timestamp", value)
  return parsed
}

export function toDuration(value: unknown): Duration {
  if (value instanceof Duration) return value
  const parsed = typeof value === "string" ? parseDuration(value) : undefined
  if (parsed === undefined) throw refuse("duration", value)
  return parsed
}

export function toIpAddress(value: unknown): IpAddress {
  const parsed = typeof value === "string" ? parseIpAddress(value) : undefined
  if (parsed === undefined) throw refuse("ipaddress", value)
  return parsed
}

export function typeOfValue(value: unknown): TypeValue {
  return new TypeValue(typeNameOf(kindOf(value)))
}
