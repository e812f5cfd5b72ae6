import { concatBytes } from "#platform"
import { ExpressionError } from "./expression-error.ts"
import { charge, chargeLength } from "./meter.ts"
import { Duration, intMax, intMin, kindOf, Timestamp, Uint } from "./values.ts"

type Sign = "+" | "-" | "*" | "/" | "%"

function checked(value: bigint): bigint {
  if (value > intMax || value < intMin)
    throw new ExpressionError("overflow", "the result does not fit into an int")
  return value
}

function unfit(sign: string, left: unknown, right: unknown): ExpressionError {
  return new ExpressionError("type", `\`${sign}\` does not take ${kindOf(left)} and ${kindOf(right)}`)
}

function wholeNumbers(sign: Sign, left: bigint, right: bigint): bigint {
  if (sign === "+") return left + right
  if (sign === "-") return left - right
  if (sign === "*") return left * right
  if (right === 0n) throw new ExpressionError("divide-by-zero", `\`${sign}\` by zero`)
  return sign === "/" ? left / right : left % right
}

function doubles(sign: Sign, left: number, right: number): number {
  if (sign === "+") return left + right
  if (sign === "-") return left - right
  if (sign === "*") return left * right
  if (sign === "/") return left / right
  throw unfit(sign, left, right)
}

/** A whole JSON number in an operation with an int counts as an int: JSON has no other way to write one. */
function asInt(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined
}

/** Operators on two numbers of one type. CEL converts no numbers; whole JavaScript numbers count as int. */
function numbers(sign: Sign, left: unknown, right: unknown): unknown {
  if (typeof left === "bigint" && typeof right === "bigint") return checked(wholeNumbers(sign, left, right))
  if (typeof left === "number" && typeof right === "number") return doubles(sign, left, right)
  if (left instanceof Uint && right instanceof Uint)
    return new Uint(wholeNumbers(sign, left.value, right.value))
  const a = asInt(left)
  const b = asInt(right)
  if (a === undefined || b === undefined) throw unfit(sign, left, right)
  return checked(wholeNumbers(sign, a, b))
}

function concatLists(left: readonly unknown[], right: readonly unknown[]): readonly unknown[] {
  charge(left.length + right.length)
  return left.concat(right)
}

/** Sums of times; undefined for other values. */
function addTimes(left: unknown, right: unknown): unknown {
  if (left instanceof Timestamp && right instanceof Duration)
    return new Timestamp(left.nanoseconds + right.nanoseconds)
  if (left instanceof Duration && right instanceof Timestamp)
    return new Timestamp(left.nanoseconds + right.nanoseconds)
  if (left instanceof Duration && right instanceof Duration)
    return new Duration(left.nanoseconds + right.nanoseconds)
  return undefined
}

/** `+`. New texts and lists are charged by their length, because a short expression can build a long value. */
export function add(left: unknown, right: unknown): unknown {
  if (typeof left === "string" && typeof right === "string") {
    chargeLength(left.length + right.length)
    return left + right
  }
  if (Array.isArray(left) && Array.isArray(right)) return concatLists(left, right)
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    chargeLength(left.length + right.length)
    return concatBytes([left, right])
  }
  return addTimes(left, right) ?? numbers("+", left, right)
}

/** `-`. */
export function subtract(left: unknown, right: unknown): unknown {
  if (left instanceof Timestamp) {
    if (right instanceof Timestamp) return new Duration(left.nanoseconds - right.nanoseconds)
    if (right instanceof Duration) return new Timestamp(left.nanoseconds - right.nanoseconds)
  }
  if (left instanceof Duration && right instanceof Duration)
    return new Duration(left.nanoseconds - right.nanoseconds)
  return numbers("-", left, right)
}

export function multiply(left: unknown, right: unknown): unknown {
  return numbers("*", left, right)
}

export function divide(left: unknown, right: unknown): unknown {
  return numbers("/", left, right)
}

export function remainder(left: unknown, right: unknown): unknown {
  return numbers("%", left, right)
}

export function negate(value: unknown): unknown {
  if (typeof value === "bigint") return checked(-value)
  if (typeof value === "number") return -value
  throw new ExpressionError("type", `\`-\` does not take ${kindOf(value)}`)
}

export function not(value: unknown): boolean {
  if (typeof value === "boolean") return !value
  throw new ExpressionError("type", `\`!\` does not take ${kindOf(value)}`)
}
