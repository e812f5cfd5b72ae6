import { compareBytes } from "#platform"
import { ExpressionError } from "./expression-error.ts"
import { charge, chargeLength } from "./meter.ts"
import {
  type CelMap,
  Duration,
  IpAddress,
  type JsonObject,
  kindOf,
  mapEntries,
  mapGet,
  mapSize,
  Timestamp,
  TypeValue,
  Uint,
} from "./values.ts"

const depthMax = 200

function equalLists(left: readonly unknown[], right: readonly unknown[], depth: number): boolean {
  if (left.length !== right.length) return false
  charge(left.length)
  return left.every((element, index) => equals(element, right[index], depth))
}

/** Equal maps have the same keys with equal values. Entries are charged. */
function equalMaps(left: CelMap | JsonObject, right: CelMap | JsonObject, depth: number): boolean {
  const size = mapSize(left)
  if (size !== mapSize(right)) return false
  charge(size)
  for (const [key, value] of mapEntries(left)) {
    const other = mapGet(right, key)
    if (other === undefined || !equals(value, other, depth)) return false
  }
  return true
}

function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && compareBytes(left, right) === 0
}

/** Texts of different lengths are not compared character by character. */
function equalTexts(left: string, right: string): boolean {
  if (left.length !== right.length) return false
  chargeLength(left.length)
  return left === right
}

/** Equality of values of one kind. `depth` bounds the recursion. */
function equalObjects(left: object, right: object, depth: number): boolean {
  if (Array.isArray(left)) return Array.isArray(right) && equalLists(left, right, depth)
  if (left instanceof Timestamp) return right instanceof Timestamp && left.nanoseconds === right.nanoseconds
  if (left instanceof Duration) return right instanceof Duration && left.nanoseconds === right.nanoseconds
  if (left instanceof IpAddress) {
    return right instanceof IpAddress && left.version === right.version && left.bits === right.bits
  }
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name
  if (left instanceof Uint8Array) return right instanceof Uint8Array && equalBytes(left, right)
  if (kindOf(left) !== "map" || kindOf(right) !== "map") return left === right
  return equalMaps(left as JsonObject, right as JsonObject, depth)
}

/**
 * `==`: numbers are compared by value regardless of type (1 == 1u == 1.0, NaN equals nothing), lists and maps by their elements. Values of different
 * kinds are never equal. @throws ExpressionError `cost` for data nested too deep.
 */
export function equals(left: unknown, right: unknown, depth = 0): boolean {
  if (typeof left === "string") return typeof right === "string" && equalTexts(left, right)
  if (left === right) return true
  if (left instanceof Uint) return equals(left.value, right, depth)
  if (right instanceof Uint) return equals(left, right.value, depth)
  if (typeof left === "bigint" || typeof left === "number") {
    // Comparing a bigint and a number with `==` is exact in JavaScript.
    // biome-ignore lint/suspicious/noDoubleEquals: the exact comparison of two numeric types is wanted.
    return (typeof right === "bigint" || typeof right === "number") && left == right
  }
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false
  if (depth > depthMax) throw new ExpressionError("cost", "the values are nested too deeply to be compared")
  return equalObjects(left, right, depth + 1)
}

/** Compares by code points. UTF-16 order differs if one side has a surrogate and the other a unit above the surrogates. */
function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a === b) continue
    chargeLength(2 * index)
    return rank(a) - rank(b)
  }
  chargeLength(2 * length)
  return left.length - right.length
}

function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit <= 0xdfff ? unit + 0x10000 : unit
}

function bytesInOrder(left: Uint8Array, right: Uint8Array): number {
  chargeLength(Math.min(left.length, right.length))
  return compareBytes(left, right)
}

/** Two values of one kind as values that JavaScript can order; undefined if they have no order. */
function sortKeys(left: unknown, right: unknown): readonly [bigint | number, bigint | number] | undefined {
  const a = left instanceof Uint ? left.value : left
  const b = right instanceof Uint ? right.value : right
  if (isNumeric(a) && isNumeric(b)) return [a, b]
  if (typeof a === "boolean" && typeof b === "boolean") return [Number(a), Number(b)]
  if (a instanceof Timestamp && b instanceof Timestamp) return [a.nanoseconds, b.nanoseconds]
  if (a instanceof Duration && b instanceof Duration) return [a.nanoseconds, b.nanoseconds]
  if (a instanceof Uint8Array && b instanceof Uint8Array) return [bytesInOrder(a, b), 0]
  return undefined
}

function isNumeric(value: unknown): value is bigint | number {
  return typeof value === "bigint" || typeof value === "number"
}

/** Two keys that compare like the values, as whole numbers or doubles. Throws for values that have no order. */
function keysFor(sign: string, left: unknown, right: unknown): readonly [bigint | number, bigint | number] {
  const keys =
    typeof left === "string" && typeof right === "string"
      ? ([compareText(left, right), 0] as const)
      : sortKeys(left, right)
  if (keys === undefined) {
    throw new ExpressionError("type", `\`${sign}\` does not take ${kindOf(left)} and ${kindOf(right)}`)
  }
  return keys
}

export function isLess(left: unknown, right: unknown): boolean {
  const [a, b] = keysFor("<", left, right)
  return a < b
}

export function isLessOrEqual(left: unknown, right: unknown): boolean {
  const [a, b] = keysFor("<=", left, right)
  return a <= b
}

export function isGreater(left: unknown, right: unknown): boolean {
  const [a, b] = keysFor(">", left, right)
  return a > b
}

export function isGreaterOrEqual(left: unknown, right: unknown): boolean {
  const [a, b] = keysFor(">=", left, right)
  return a >= b
}

/** `in`: an element of a list or a key of a map. */
export function isIn(element: unknown, container: unknown): boolean {
  if (Array.isArray(container)) {
    charge(container.length >>> 3)
    if (typeof element === "string" && element.length <= 64) return container.includes(element)
    return container.some((other) => equals(element, other))
  }
  if (kindOf(container) !== "map")
    throw new ExpressionError("type", `\`in\` cannot search ${kindOf(container)}`)
  return mapGet(container as CelMap | JsonObject, element) !== undefined
}
