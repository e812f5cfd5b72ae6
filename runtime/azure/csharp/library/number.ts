import type { CsEnum } from "../collections.ts"
import { formatValue } from "../composite-format.ts"
import type { OutPlace } from "../context-object.ts"
import { Decimal } from "../decimal.ts"
import { argumentNull, badFormat, CsException, overflow } from "../errors.ts"
import { convertNumber, numberTypes } from "../numbers.ts"
import { declareType } from "../table.ts"
import { named } from "../type.ts"
import { isInstance } from "../type-test.ts"
import { compareValues, same, toText } from "../values.ts"
import { declareEnum } from "./object.ts"

/** Parses a number of a type in the invariant culture. @throws FormatException, OverflowException */
export function parseNumber(text: string | null, type: string, style?: CsEnum | null): unknown {
  if (text === null || text === undefined) throw argumentNull("s")
  const trimmed = text.trim()
  if (style?.has("HexNumber") === true || style?.has("AllowHexSpecifier") === true)
    return wholeNumber(trimmed, type, 16)
  if (type === "decimal") return Decimal.parse(trimmed)
  if (type === "double" || type === "float") return floating(trimmed, type)
  const loose =
    style?.has("Any") === true || style?.has("Number") === true || style?.has("AllowThousands") === true
  return wholeNumber(loose ? trimmed.replaceAll(",", "").replace(/\.0+$/, "") : trimmed, type, 10)
}

function floating(text: string, type: string): number {
  if (/^[-+]?(?:infinity|∞)$/i.test(text))
    return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  if (/^nan$/i.test(text)) return Number.NaN
  if (!/^[-+]?(?:[0-9][0-9,]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.test(text)) throw badFormat()
  return numberTypes[type]?.wrap(Number(text.replaceAll(",", ""))) as number
}

/** Parses whole numbers in base 2, 8, 10 or 16; for bases other than 10, the digits are the bits of the type. */
export function wholeNumber(text: string, type: string, base: number): unknown {
  const digits = {
    2: /^[01]{1,64}$/,
    8: /^[0-7]{1,22}$/,
    10: /^[-+]?[0-9]{1,400}$/,
    16: /^(?:0[xX])?[0-9A-Fa-f]{1,16}$/,
  }[base]
  if (digits === undefined) throw new CsException("ArgumentException", "Invalid Base.")
  if (!digits.test(text)) throw badFormat()
  if (base === 10) return fitted(BigInt(text.replace(/^\+/, "")), type)
  const prefix = { 2: "0b", 8: "0o", 16: "0x" }[base]
  return numberTypes[type]?.wrap(BigInt(`${prefix}${text.replace(/^0[xX]/, "")}`))
}

function fitted(value: bigint, type: string): unknown {
  const { least, most, holds } = numberTypes[type] as { least: bigint; most: bigint; holds: string }
  if (value < least || value > most) throw overflow()
  return holds === "bigint" ? value : Number(value)
}

/** `TryParse`: false and zero for any text that `Parse` refuses. Limits are not C# exceptions and go on. */
function tryParse(text: string | null, type: string, out: OutPlace, style?: CsEnum): boolean {
  try {
    out.set(parseNumber(text, type, style))
    return true
  } catch (error) {
    if (!(error instanceof CsException)) throw error
    out.set(convertNumber(0, "int", type, false))
    return false
  }
}

/** Members that all number types share. */
function rowsOf(type: string): Record<string, (...values: never[]) => unknown> {
  const zero = convertNumber(0, "int", type, false)
  return {
    [`static default(): ${type}`]: () => zero,
    [`static Parse(string text): ${type}`]: (text: string) => parseNumber(text, type),
    [`static Parse(string text, IFormatProvider provider): ${type}`]: (text: string) =>
      parseNumber(text, type),
    [`static Parse(string text, NumberStyles style): ${type}`]: (text: string, style: CsEnum) =>
      parseNumber(text, type, style),
    [`static Parse(string text, NumberStyles style, IFormatProvider provider): ${type}`]: (
      text: string,
      style: CsEnum,
    ) => parseNumber(text, type, style),
    [`static TryParse(string text, out ${type} result): bool`]: (text: string | null, out: OutPlace) =>
      tryParse(text, type, out),
    [`static TryParse(string text, NumberStyles style, IFormatProvider provider, out ${type} result): bool`]:
      (text: string | null, style: CsEnum, _provider: unknown, out: OutPlace) =>
        tryParse(text, type, out, style),
    "ToString(): string": (self: unknown) => toText(self),
    "ToString(string format): string": (self: unknown, format: string | null) =>
      formatValue(self, format ?? "", type),
    "ToString(IFormatProvider provider): string": (self: unknown) => toText(self),
    "ToString(string format, IFormatProvider provider): string": (self: unknown, format: string | null) =>
      formatValue(self, format ?? "", type),
    [`CompareTo(${type} other): int`]: (self: unknown, other: unknown) => compareValues(self, other),
    [`Equals(${type} other): bool`]: (self: unknown, other: unknown) => same(self, other),
  }
}

/** Limits and constants of a type. Values over 2^53 are bigint, the others are numbers. */
function constantsOf(type: string): Record<string, (...values: never[]) => unknown> {
  const { least, most, holds } = numberTypes[type] as { least?: bigint; most?: bigint; holds: string }
  if (least !== undefined && most !== undefined)
    return {
      [`static MinValue: ${type}`]: () => (holds === "bigint" ? least : Number(least)),
      [`static MaxValue: ${type}`]: () => (holds === "bigint" ? most : Number(most)),
    }
  if (type === "decimal")
    return {
      "static MinValue: decimal": () => Decimal.parse("-79228162514264337593543950335"),
      "static MaxValue: decimal": () => Decimal.parse("79228162514264337593543950335"),
      "static Zero: decimal": () => Decimal.fromInt(0),
      "static One: decimal": () => Decimal.fromInt(1),
    }
  const largest = type === "double" ? Number.MAX_VALUE : Math.fround(3.4028234663852886e38)
  return {
    [`static MinValue: ${type}`]: () => -largest,
    [`static MaxValue: ${type}`]: () => largest,
    [`static NaN: ${type}`]: () => Number.NaN,
    [`static PositiveInfinity: ${type}`]: () => Number.POSITIVE_INFINITY,
    [`static NegativeInfinity: ${type}`]: () => Number.NEGATIVE_INFINITY,
    [`static Epsilon: ${type}`]: () => Number.MIN_VALUE,
    [`static IsNaN(${type} value): bool`]: (value: number) => Number.isNaN(value),
    [`static IsInfinity(${type} value): bool`]: (value: number) =>
      Math.abs(value) === Number.POSITIVE_INFINITY,
  }
}

export function declareNumbers(): void {
  for (const type of Object.keys(numberTypes))
    declareType(
      type,
      { value: true, bases: ["IFormattable"], holds: (value) => isInstance(value, named(type)) },
      {
        ...rowsOf(type),
        ...constantsOf(type),
        ...(type === "decimal" ? rounding : {}),
      },
    )
  declareEnum("NumberStyles", "System.Globalization", {
    None: 0,
    AllowLeadingWhite: 1,
    AllowTrailingWhite: 2,
    AllowLeadingSign: 4,
    Integer: 7,
    AllowDecimalPoint: 32,
    AllowThousands: 64,
    Number: 111,
    AllowExponent: 128,
    Float: 167,
    Any: 511,
    AllowHexSpecifier: 512,
    HexNumber: 515,
  })
}

const rounding = {
  "static Round(decimal value): decimal": (value: Decimal) => value.round(0, false),
  "static Round(decimal value, int digits): decimal": (value: Decimal, digits: number) =>
    value.round(digits, false),
  "static Truncate(decimal value): decimal": (value: Decimal) => Decimal.fromInt(value.truncate()),
  "static ToInt32(decimal value): int": (value: Decimal) => convertNumber(value, "decimal", "int", true),
  "static ToDouble(decimal value): double": (value: Decimal) => value.toNumber(),
}
