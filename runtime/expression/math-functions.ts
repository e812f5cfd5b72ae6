import { isGreater, isLess } from "./compare.ts"
import { ExpressionError } from "./expression-error.ts"
import { charge } from "./meter.ts"
import { intMax, intMin, kindOf, Uint, uintMax } from "./values.ts"

type Applied = (...args: unknown[]) => unknown

function unfit(name: string, value: unknown): ExpressionError {
  return new ExpressionError("type", `\`math.${name}\` does not take ${kindOf(value)}`)
}

function asDouble(name: string, value: unknown): number {
  if (typeof value === "number") return value
  throw unfit(name, value)
}

/** The greatest or least of several numbers, given as arguments or as a list; the first of equal ones. */
function outermost(name: string, isBeyond: (one: unknown, other: unknown) => boolean): Applied {
  return (...args) => {
    const [only] = args
    const numbers: readonly unknown[] = args.length === 1 && Array.isArray(only) ? only : args
    charge(numbers.length)
    for (const each of numbers) {
      const isNumber = typeof each === "number" || typeof each === "bigint" || each instanceof Uint
      if (!isNumber) throw unfit(name, each)
    }
    if (numbers.length === 0) throw new ExpressionError("other", `\`math.${name}\` of an empty list`)
    return numbers.reduce((found, each) => (isBeyond(each, found) ? each : found))
  }
}

/** Rounds halves away from zero, as CEL does; JavaScript rounds them up. */
function rounded(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value)
}

const absolute: Applied = (value) => {
  if (value instanceof Uint) return value
  if (typeof value === "number") return Math.abs(value)
  if (typeof value !== "bigint") throw unfit("abs", value)
  if (value === intMin) throw new ExpressionError("overflow", "the result does not fit into an int")
  return value < 0n ? -value : value
}

const sign: Applied = (value) => {
  if (value instanceof Uint) return new Uint(value.value > 0n ? 1n : 0n)
  if (typeof value === "number") return Math.sign(value)
  if (typeof value !== "bigint") throw unfit("sign", value)
  return value === 0n ? 0n : value < 0n ? -1n : 1n
}

const root: Applied = (value) => {
  if (typeof value === "number") return Math.sqrt(value)
  if (typeof value === "bigint") return Math.sqrt(Number(value))
  if (value instanceof Uint) return Math.sqrt(Number(value.value))
  throw unfit("sqrt", value)
}

/** 64 bits as a signed int. */
const signed = (bits: bigint): bigint => BigInt.asIntN(64, bits)

function ofBits(name: string, apply: (left: bigint, right: bigint) => bigint): Applied {
  return (left, right) => {
    if (typeof left === "bigint" && typeof right === "bigint") return signed(apply(left, right))
    if (left instanceof Uint && right instanceof Uint)
      return new Uint(BigInt.asUintN(64, apply(left.value, right.value)))
    throw unfit(name, left instanceof Uint || typeof left === "bigint" ? right : left)
  }
}

const inverted: Applied = (value) => {
  if (typeof value === "bigint") return ~value
  if (value instanceof Uint) return new Uint(uintMax - value.value)
  throw unfit("bitNot", value)
}

/** A shift by 64 or more yields 0. A right shift treats an int as 64 unsigned bits. */
function shifted(name: string, shift: (bits: bigint, by: bigint) => bigint): Applied {
  return (value, by) => {
    if (typeof by !== "bigint") throw unfit(name, by)
    if (by < 0n || by > intMax) throw new ExpressionError("other", `\`math.${name}\` by a negative number`)
    const bits = value instanceof Uint ? value.value : value
    if (typeof bits !== "bigint") throw unfit(name, value)
    const moved = by > 63n ? 0n : BigInt.asUintN(64, shift(BigInt.asUintN(64, bits), by))
    return value instanceof Uint ? new Uint(moved) : signed(moved)
  }
}

/** The functions of CEL's extension `math`. */
export const mathFunctions: ReadonlyMap<string, Applied> = new Map<string, Applied>([
  ["math.greatest", outermost("greatest", isGreater)],
  ["math.least", outermost("least", isLess)],
  ["math.ceil", (value) => Math.ceil(asDouble("ceil", value))],
  ["math.floor", (value) => Math.floor(asDouble("floor", value))],
  ["math.round", (value) => rounded(asDouble("round", value))],
  ["math.trunc", (value) => Math.trunc(asDouble("trunc", value))],
  ["math.abs", absolute],
  ["math.sign", sign],
  ["math.sqrt", root],
  ["math.isNaN", (value) => Number.isNaN(asDouble("isNaN", value))],
  ["math.isInf", (value) => Math.abs(asDouble("isInf", value)) === Number.POSITIVE_INFINITY],
  ["math.isFinite", (value) => Number.isFinite(asDouble("isFinite", value))],
  ["math.bitAnd", ofBits("bitAnd", (left, right) => left & right)],
  ["math.bitOr", ofBits("bitOr", (left, right) => left | right)],
  ["math.bitXor", ofBits("bitXor", (left, right) => left ^ right)],
  ["math.bitNot", inverted],
  ["math.bitShiftLeft", shifted("bitShiftLeft", (bits, by) => bits << by)],
  ["math.bitShiftRight", shifted("bitShiftRight", (bits, by) => bits >> by)],
])
