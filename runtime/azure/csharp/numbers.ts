import { Decimal } from "./decimal.ts"
import { CsException, overflow } from "./errors.ts"

/** How numbers of a type are represented: doubles and whole numbers up to 32 bits as numbers, 64 bits as bigints. */
export interface NumberType {
  readonly holds: "number" | "bigint" | "decimal"
  /** Wraps a whole number to the type's range, like an unchecked conversion; for doubles, rounds. */
  wrap(value: number | bigint): number | bigint
  readonly least?: bigint
  readonly most?: bigint
}

/** Types of up to 32 bits are JavaScript numbers. `wrap` cuts to the width, as unchecked arithmetic does in C#. */
function small(bits: number, isSigned: boolean): NumberType {
  const size = 2n ** BigInt(bits)
  const [least, most] = isSigned ? [-size / 2n, size / 2n - 1n] : [0n, size - 1n]
  const wrap =
    bits === 32
      ? isSigned
        ? (value: number): number => value | 0
        : (value: number): number => value >>> 0
      : isSigned
        ? (value: number): number => (value << (32 - bits)) >> (32 - bits)
        : (value: number): number => value & (2 ** bits - 1)
  return {
    holds: "number",
    wrap: (value) => wrap(typeof value === "bigint" ? Number(BigInt.asIntN(32, value)) : value),
    least,
    most,
  }
}

function large(isSigned: boolean): NumberType {
  const [least, most] = isSigned ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n]
  const wrap = isSigned ? BigInt.asIntN : BigInt.asUintN
  return { holds: "bigint", wrap: (value) => wrap(64, BigInt(value)), least, most }
}

/** The number types of C#, in the order of implicit conversions. */
export const numberTypes: Readonly<Record<string, NumberType>> = {
  sbyte: small(8, true),
  byte: small(8, false),
  short: small(16, true),
  ushort: small(16, false),
  int: small(32, true),
  uint: small(32, false),
  long: large(true),
  ulong: large(false),
  float: { holds: "number", wrap: (value) => Math.fround(Number(value)) },
  double: { holds: "number", wrap: Number },
  decimal: { holds: "decimal", wrap: Number },
}

/** Whether `name` is a numeric type of C#, e.g. `int` or `decimal`. */
export function isNumberType(name: string): boolean {
  return Object.hasOwn(numberTypes, name)
}

function typeOf(name: string): NumberType {
  return numberTypes[name] as NumberType
}

const isFloating = (name: string): boolean => name === "double" || name === "float"

/** An explicit conversion between number types: wraps whole numbers, truncates fractions. `checked` throws if the value does not fit. */
export function convertNumber(value: unknown, from: string, to: string, checked: boolean): unknown {
  const target = typeOf(to)
  if (to === "decimal") {
    if (value instanceof Decimal) return value
    return isFloating(from) ? Decimal.fromDouble(value as number) : Decimal.fromInt(value as number | bigint)
  }
  if (isFloating(to))
    return target.wrap(value instanceof Decimal ? value.toNumber() : (value as number | bigint))
  const whole = wholePart(value, from)
  if (whole === undefined) {
    if (checked) throw overflow()
    return target.wrap(target.least ?? 0n)
  }
  const fits = target.least !== undefined && whole >= target.least && whole <= (target.most as bigint)
  // Decimals are always checked. A double that does not fit an int is undefined in C#, and the smallest int in practice.
  if (!fits && (checked || from === "decimal"))
    throw overflow(`Value was either too large or too small for ${article(to)}.`)
  if (!fits && isFloating(from)) return target.wrap(target.least ?? 0n)
  return target.holds === "bigint" ? target.wrap(BigInt(whole)) : target.wrap(whole)
}

function wholePart(value: unknown, from: string): number | bigint | undefined {
  if (value instanceof Decimal) return value.truncate()
  if (isFloating(from)) {
    const whole = Math.trunc(value as number)
    return Number.isFinite(whole) ? (Number.isSafeInteger(whole) ? whole : BigInt(whole)) : undefined
  }
  return value as number | bigint
}

/** Names of the types in .NET, for messages of casts. */
const dotnetNames: Readonly<Record<string, string>> = {
  sbyte: "SByte",
  byte: "Byte",
  short: "Int16",
  ushort: "UInt16",
  int: "Int32",
  uint: "UInt32",
  long: "Int64",
  ulong: "UInt64",
  float: "Single",
  double: "Double",
  decimal: "Decimal",
}

/** The .NET name of a number type: `int` → `Int32`. */
export function dotnetName(name: string): string {
  return dotnetNames[name] ?? name
}

function article(name: string): string {
  return /^[aeiou]/i.test(dotnetName(name)) ? `an ${dotnetName(name)}` : `a ${dotnetName(name)}`
}

type Operate = (a: never, b: never) => unknown

const divideByZero = (): CsException =>
  new CsException("DivideByZeroException", "Attempted to divide by zero.")

/** Operators of one number type; comparisons are equal for all types except decimals. */
export function numberOperator(op: string, type: string): Operate | undefined {
  if (type === "decimal") return Object.hasOwn(decimalOperators, op) ? decimalOperators[op] : undefined
  const shared = Object.hasOwn(comparisons, op) ? comparisons[op] : undefined
  if (shared !== undefined) return shared
  if (type === "int" && Object.hasOwn(intOperators, op)) return intOperators[op]
  if (isFloating(type)) {
    const table = type === "float" ? floatOperators : doubleOperators
    return Object.hasOwn(table, op) ? table[op] : undefined
  }
  const { holds, wrap } = typeOf(type)
  const table = holds === "bigint" ? bigOperators : wideOperators
  const plain = Object.hasOwn(table, op) ? table[op] : undefined
  return plain === undefined ? undefined : (a, b) => wrap((plain as (a: unknown, b: unknown) => number)(a, b))
}

const comparisons: Readonly<Record<string, Operate>> = {
  "==": (a: unknown, b: unknown) => a === b,
  "!=": (a: unknown, b: unknown) => a !== b,
  "<": (a: number, b: number) => a < b,
  "<=": (a: number, b: number) => a <= b,
  ">": (a: number, b: number) => a > b,
  ">=": (a: number, b: number) => a >= b,
}

/** Operators of `int`, the most frequent type: bit operations wrap without a check. */
const intOperators: Readonly<Record<string, Operate>> = {
  "+": (a: number, b: number) => (a + b) | 0,
  "-": (a: number, b: number) => (a - b) | 0,
  "*": (a: number, b: number) => Math.imul(a, b),
  "/": (a: number, b: number) => {
    if (b === 0) throw divideByZero()
    return (a / b) | 0
  },
  "%": (a: number, b: number) => {
    if (b === 0) throw divideByZero()
    return (a % b) | 0
  },
  "&": (a: number, b: number) => a & b,
  "|": (a: number, b: number) => a | b,
  "^": (a: number, b: number) => a ^ b,
  "<<": (a: number, b: number) => a << b,
  ">>": (a: number, b: number) => a >> b,
}

/** For uint: exact in doubles, except products, which need more than 53 bits. */
const wideOperators: Readonly<Record<string, Operate>> = {
  ...intOperators,
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "/": (a: number, b: number) => {
    if (b === 0) throw divideByZero()
    return Math.trunc(a / b)
  },
  "%": (a: number, b: number) => {
    if (b === 0) throw divideByZero()
    return a % b
  },
  ">>": (a: number, b: number) => a >>> b,
}

/** Operators of 64-bit types before they are wrapped. */
const bigOperators: Readonly<Record<string, Operate>> = {
  "+": (a: bigint, b: bigint) => a + b,
  "-": (a: bigint, b: bigint) => a - b,
  "*": (a: bigint, b: bigint) => a * b,
  "/": (a: bigint, b: bigint) => {
    if (b === 0n) throw divideByZero()
    return a / b
  },
  "%": (a: bigint, b: bigint) => {
    if (b === 0n) throw divideByZero()
    return a % b
  },
  "&": (a: bigint, b: bigint) => a & b,
  "|": (a: bigint, b: bigint) => a | b,
  "^": (a: bigint, b: bigint) => a ^ b,
  // The right operand of a shift is an int; only its low six bits are used.
  "<<": (a: bigint, b: number) => a << BigInt(b & 63),
  ">>": (a: bigint, b: number) => a >> BigInt(b & 63),
}

const doubleOperators: Readonly<Record<string, Operate>> = {
  "+": (a: number, b: number) => a + b,
  "-": (a: number, b: number) => a - b,
  "*": (a: number, b: number) => a * b,
  "/": (a: number, b: number) => a / b,
  "%": (a: number, b: number) => a % b,
}

const floatOperators: Readonly<Record<string, Operate>> = {
  "+": (a: number, b: number) => Math.fround(a + b),
  "-": (a: number, b: number) => Math.fround(a - b),
  "*": (a: number, b: number) => Math.fround(a * b),
  "/": (a: number, b: number) => Math.fround(a / b),
  "%": (a: number, b: number) => Math.fround(a % b),
}

/** Operators of `decimal`: exact to 28 digits. */
const decimalOperators: Readonly<Record<string, Operate>> = {
  "+": (a: Decimal, b: Decimal) => a.add(b),
  "-": (a: Decimal, b: Decimal) => a.subtract(b),
  "*": (a: Decimal, b: Decimal) => a.multiply(b),
  "/": (a: Decimal, b: Decimal) => a.divide(b),
  "%": (a: Decimal, b: Decimal) => a.remainder(b),
  "==": (a: Decimal, b: Decimal) => a.compareTo(b) === 0,
  "!=": (a: Decimal, b: Decimal) => a.compareTo(b) !== 0,
  "<": (a: Decimal, b: Decimal) => a.compareTo(b) < 0,
  "<=": (a: Decimal, b: Decimal) => a.compareTo(b) <= 0,
  ">": (a: Decimal, b: Decimal) => a.compareTo(b) > 0,
  ">=": (a: Decimal, b: Decimal) => a.compareTo(b) >= 0,
}
