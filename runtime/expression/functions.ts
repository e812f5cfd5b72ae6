import { randomUuid } from "#platform"
import { add, divide, multiply, negate, not, remainder, subtract } from "./arithmetic.ts"
import { equals, isGreater, isGreaterOrEqual, isIn, isLess, isLessOrEqual } from "./compare.ts"
import {
  toBool,
  toBytes,
  toDouble,
  toDuration,
  toInt,
  toIpAddress,
  toStringValue,
  toTimestamp,
  toUint,
  typeOfValue,
} from "./conversions.ts"
import { digestFunctions } from "./digest-functions.ts"
import { encodingFunctions, encodingMethods } from "./encoding-functions.ts"
import { ExpressionError } from "./expression-error.ts"
import { isInCidr, parseCidr } from "./ip-address.ts"
import { listFunctions, listMethods, reversed } from "./list-functions.ts"
import { mathFunctions } from "./math-functions.ts"
import { chargeLength } from "./meter.ts"
import { extractAll, matchesPattern, replaceMatches } from "./regex.ts"
import { extendedLibrary } from "./signatures.ts"
import { quoteText, textMethods, textSize } from "./text-functions.ts"
import { readDuration, readTimestamp, timeReaderNames } from "./time.ts"
import {
  type CelMap,
  Duration,
  IpAddress,
  type JsonObject,
  kindOf,
  mapGet,
  mapSize,
  Timestamp,
  Uint,
} from "./values.ts"

/** A function of the library. It checks the types of its arguments itself. @throws ExpressionError */
export type LibraryFunction = (...args: unknown[]) => unknown

/** Texts are measured in code points, which takes linear time and is charged. */
function size(value: unknown): bigint {
  if (typeof value === "string") {
    chargeLength(value.length)
    return BigInt(textSize(value))
  }
  if (Array.isArray(value) || value instanceof Uint8Array) return BigInt(value.length)
  if (kindOf(value) === "map") return BigInt(mapSize(value as JsonObject))
  throw new ExpressionError("type", `\`size\` does not take ${kindOf(value)}`)
}

function matches(text: unknown, pattern: unknown): boolean {
  if (typeof text === "string" && typeof pattern === "string") return matchesPattern(text, pattern)
  throw new ExpressionError("type", `\`matches\` does not take ${kindOf(text)} and ${kindOf(pattern)}`)
}

function reverse(value: unknown): unknown {
  return Array.isArray(value) ? reversed(value) : textMethods.get("reverse")?.(value)
}

function inCidr(address: unknown, range: unknown): boolean {
  const cidr = typeof range === "string" ? parseCidr(range) : undefined
  if (cidr === undefined) throw new ExpressionError("other", "the range is not a valid address range")
  if (address instanceof IpAddress) return isInCidr(address, cidr)
  throw new ExpressionError("type", `\`in_cidr\` is not a method of ${kindOf(address)}`)
}

/** The methods of times; timestamps take a time zone, durations do not. */
function timeReader(name: string): LibraryFunction {
  return (value, zone) => {
    if (value instanceof Timestamp && (zone === undefined || typeof zone === "string")) {
      return readTimestamp(name, value, zone)
    }
    if (value instanceof Duration && zone === undefined) return readDuration(name, value)
    throw new ExpressionError("type", `\`${name}\` is not a method of ${kindOf(value)}`)
  }
}

/** An element by its index. A double without a fraction is an index too. */
function elementAt(list: readonly unknown[], index: unknown): unknown {
  const integer = index instanceof Uint ? index.value : index
  const position = typeof integer === "bigint" ? Number(integer) : integer
  if (typeof position !== "number" || !Number.isInteger(position)) {
    throw new ExpressionError("type", `the index of a list cannot be ${kindOf(index)}`)
  }
  if (position < 0 || position >= list.length) {
    throw new ExpressionError("no-such-key", "the index is outside of the list")
  }
  return list[position]
}

/** `container[key]`. Class instances expose only their own properties. */
function elementOf(container: unknown, key: unknown): unknown {
  if (Array.isArray(container)) return elementAt(container, key)
  const kind = kindOf(container)
  if (kind !== "map" && kind !== "object") throw new ExpressionError("type", `${kind} has no elements`)
  const value = mapGet(container as CelMap | JsonObject, key)
  if (value !== undefined) return value
  throw new ExpressionError(
    "no-such-key",
    typeof key === "string" ? `there is no \`${key}\`` : "the map has no such key",
  )
}

const operators: ReadonlyMap<string, LibraryFunction> = new Map<string, LibraryFunction>([
  ["==", (left, right) => equals(left, right)],
  ["!=", (left, right) => !equals(left, right)],
  ["<", isLess],
  ["<=", isLessOrEqual],
  [">", isGreater],
  [">=", isGreaterOrEqual],
  ["in", isIn],
  ["+", add],
  ["*", multiply],
  ["/", divide],
  ["%", remainder],
  ["!", not],
  ["[]", elementOf],
])

const functions: ReadonlyMap<string, LibraryFunction> = new Map<string, LibraryFunction>([
  ["size", size],
  ["matches", matches],
  ["bool", toBool],
  ["int", toInt],
  ["uint", toUint],
  ["double", toDouble],
  ["string", toStringValue],
  ["bytes", toBytes],
  ["timestamp", toTimestamp],
  ["duration", toDuration],
  ["dyn", (value) => value],
  ["type", typeOfValue],
  ["ipaddress", toIpAddress],
  ["strings.quote", quoteText],
  ["regex.extractAll", extractAll],
  ["regex.replace", replaceMatches],
  ["uuid", randomUuid],
  ...mathFunctions,
  ...listFunctions,
  ...encodingFunctions,
  ...digestFunctions,
])

const methods: ReadonlyMap<string, LibraryFunction> = new Map<string, LibraryFunction>([
  ["size", size],
  ["matches", matches],
  ["in_cidr", inCidr],
  ...timeReaderNames.map((name): [string, LibraryFunction] => [name, timeReader(name)]),
  ...textMethods,
  ...listMethods,
  ...encodingMethods,
  ["reverse", reverse],
])

/** Functions with a different result at every call. They are never evaluated at compile time. */
export const impureFunctions: ReadonlySet<string> = new Set(["uuid"])

/** The function of a call; a method gets its receiver first. Undefined if there is none with this number of arguments. */
export function functionOf(
  form: "operator" | "function" | "method",
  name: string,
  count: number,
): LibraryFunction | undefined {
  const isKnown = extendedLibrary[form].get(name)?.some(({ parameters }) => parameters.length === count)
  if (isKnown !== true) return undefined
  if (form === "operator" && name === "-") return count === 1 ? negate : subtract
  const table = form === "operator" ? operators : form === "function" ? functions : methods
  return table.get(name)
}
