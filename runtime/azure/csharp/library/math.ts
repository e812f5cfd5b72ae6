import type { CsEnum } from "../collections.ts"
import { Decimal } from "../decimal.ts"
import { overflow } from "../errors.ts"
import { declareType } from "../table.ts"
import { compareValues } from "../values.ts"
import { declareEnum } from "./object.ts"

/** Rounds to `digits` places: halves to even, or away from zero. */
function roundDouble(value: number, digits: number, mode: CsEnum | undefined): number {
  const scale = 10 ** digits
  const scaled = value * scale
  if (!Number.isFinite(scaled)) return value
  const floor = Math.floor(scaled)
  const rest = scaled - floor
  if (rest !== 0.5) return Math.round(scaled) / scale
  if (mode?.has("AwayFromZero") === true) return (value < 0 ? floor : floor + 1) / scale
  return (floor % 2 === 0 ? floor : floor + 1) / scale
}

/** Functions of one double that JavaScript computes in the same way. */
const unary: Readonly<Record<string, (value: number) => number>> = {
  Sqrt: Math.sqrt,
  Cbrt: Math.cbrt,
  Exp: Math.exp,
  Log: Math.log,
  Log10: Math.log10,
  Log2: Math.log2,
  Sin: Math.sin,
  Cos: Math.cos,
  Tan: Math.tan,
  Asin: Math.asin,
  Acos: Math.acos,
  Atan: Math.atan,
}

/** `System.Math`. `Round` rounds half to even unless a mode says otherwise, as in .NET. */
export function declareMath(): void {
  const rows: Record<string, (...values: never[]) => unknown> = {
    "static PI: double": () => Math.PI,
    "static E: double": () => Math.E,
    "static Pow(double a, double b): double": (a: number, b: number) => a ** b,
    "static Log(double value, double base): double": (value: number, base: number) =>
      Math.log(value) / Math.log(base),
    "static Atan2(double y, double x): double": (y: number, x: number) => Math.atan2(y, x),
    "static Ceiling(double value): double": (value: number) => Math.ceil(value),
    "static Floor(double value): double": (value: number) => Math.floor(value),
    "static Truncate(double value): double": (value: number) => Math.trunc(value),
    "static Ceiling(decimal value): decimal": (value: Decimal) => whole(value, 1n),
    "static Floor(decimal value): decimal": (value: Decimal) => whole(value, -1n),
    "static Truncate(decimal value): decimal": (value: Decimal) => Decimal.fromInt(value.truncate()),
    "static Round(double value): double": (value: number) => roundDouble(value, 0, undefined),
    "static Round(double value, int digits): double": (value: number, digits: number) =>
      roundDouble(value, digits, undefined),
    "static Round(double value, MidpointRounding mode): double": (value: number, mode: CsEnum) =>
      roundDouble(value, 0, mode),
    "static Round(double value, int digits, MidpointRounding mode): double": roundDouble,
    "static Round(decimal value): decimal": (value: Decimal) => value.round(0, false),
    "static Round(decimal value, int digits): decimal": (value: Decimal, digits: number) =>
      value.round(digits, false),
    "static Round(decimal value, int digits, MidpointRounding mode): decimal": (
      value: Decimal,
      digits: number,
      mode: CsEnum,
    ) => value.round(digits, mode.has("AwayFromZero")),
  }
  for (const [name, run] of Object.entries(unary)) rows[`static ${name}(double value): double`] = run
  for (const type of ["int", "long", "double", "decimal"]) {
    rows[`static Abs(${type} value): ${type}`] = absolute
    rows[`static Sign(${type} value): int`] = (value: number | bigint | Decimal) =>
      compareValues(value, zeroOf(value))
    rows[`static Min(${type} a, ${type} b): ${type}`] = (a: unknown, b: unknown) =>
      compareValues(a, b) <= 0 ? a : b
    rows[`static Max(${type} a, ${type} b): ${type}`] = (a: unknown, b: unknown) =>
      compareValues(a, b) >= 0 ? a : b
    rows[`static Clamp(${type} value, ${type} least, ${type} most): ${type}`] = (
      value: unknown,
      least: unknown,
      most: unknown,
    ) => (compareValues(value, least) < 0 ? least : compareValues(value, most) > 0 ? most : value)
  }
  declareType("Math", {}, rows)
  declareEnum("MidpointRounding", "System", { ToEven: 0, AwayFromZero: 1 })
}

function zeroOf(value: number | bigint | Decimal): unknown {
  return value instanceof Decimal ? Decimal.fromInt(0) : typeof value === "bigint" ? 0n : 0
}

function absolute(value: number | bigint | Decimal): unknown {
  if (value instanceof Decimal) return value.mantissa < 0n ? value.negate() : value
  if (value === -2147483648)
    throw overflow("Negating the minimum value of a twos complement number is invalid.")
  return value < 0 ? -value : value
}

function whole(value: Decimal, sign: bigint): Decimal {
  const cut = Decimal.fromInt(value.truncate())
  const order = cut.compareTo(value)
  return order === 0 || order > 0 === sign > 0n ? cut : Decimal.fromInt(value.truncate() + sign)
}
