import { toBase64 as base64Of, fromBase64 as bytesOfBase64, fromHex, toHex } from "#platform"
import { CsEnum } from "../collections.ts"
import { parseDate } from "../date-parse.ts"
import { DateTime } from "../date-time.ts"
import { Decimal } from "../decimal.ts"
import { badFormat, CsException, overflow } from "../errors.ts"
import { JValue } from "../json-tree.ts"
import { convertNumber, dotnetName, isNumberType, numberTypes } from "../numbers.ts"
import { chargeText } from "../run.ts"
import { declareType } from "../table.ts"
import { Boxed, toText, typeNameOf } from "../values.ts"
import { parseNumber, wholeNumber } from "./number.ts"
import { declareEnum, parseBool } from "./object.ts"

/** Base64 that allows white space, like .NET. @throws FormatException */
export function fromBase64(text: string): Uint8Array {
  chargeText(text.length)
  const packed = text.replace(/[ \t\r\n]/g, "")
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed))
    throw badFormat(
      "The input is not a valid Base-64 string as it contains a non-base 64 character, more than two padding characters, or an illegal character among the padding characters.",
    )
  return bytesOfBase64(packed)
}

export function toBase64(bytes: Uint8Array): string {
  chargeText(bytes.length * 2)
  return base64Of(bytes)
}

/** `Convert.ToInt32` and similar: rounds halves to even, parses texts, converts null to zero. */
function toNumber(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return convertNumber(0, "int", type, false)
  if (value instanceof JValue) return toNumber(value.value, type)
  if (typeof value === "string") return parseNumber(value, type)
  if (typeof value === "boolean") return convertNumber(value ? 1 : 0, "int", type, true)
  if (value instanceof Boxed)
    return value.typeName === "char"
      ? convertNumber(String(value.value).charCodeAt(0), "int", type, true)
      : fromNumber(value.value as number, value.typeName, type)
  if (value instanceof Decimal) return fromNumber(value, "decimal", type)
  if (value instanceof CsEnum) return convertNumber(value.value, "int", type, true)
  if (typeof value === "bigint") return fromNumber(value, "long", type)
  if (typeof value === "number") return fromNumber(value, Number.isInteger(value) ? "int" : "double", type)
  throw new CsException(
    "InvalidCastException",
    `Unable to cast object of type '${typeNameOf(value)}' to type 'System.IConvertible'.`,
  )
}

/** To whole numbers, `Convert` rounds half to even, unlike a cast, which cuts the fraction. */
function fromNumber(value: number | bigint | Decimal, from: string, to: string): unknown {
  const isWhole = numberTypes[to]?.least !== undefined
  if (isWhole && typeof value === "number" && !Number.isInteger(value)) {
    if (!Number.isFinite(value)) throw overflow()
    return convertNumber(halfEven(value), "double", to, true)
  }
  if (isWhole && value instanceof Decimal) return convertNumber(value.round(0, false), "decimal", to, true)
  return convertNumber(value, from, to, true)
}

function halfEven(value: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  return rest < 0.5 || (rest === 0.5 && floor % 2 === 0) ? floor : floor + 1
}

/** Null is false, as in .NET. Numbers are true unless they are 0. */
function toBoolean(value: unknown): boolean {
  if (value === null || value === undefined) return false
  if (value instanceof JValue) return toBoolean(value.value)
  if (typeof value === "boolean") return value
  if (typeof value === "string") {
    const found = parseBool(value)
    if (found === undefined) throw badFormat(`String '${value}' was not recognized as a valid Boolean.`)
    return found
  }
  return toText(value) !== "0"
}

/** A whole number in base 2, 8 or 16, as the bits of its type. */
function inBase(value: number | bigint, base: number, bits: number): string {
  if (base !== 2 && base !== 8 && base !== 16 && base !== 10)
    throw new CsException("ArgumentException", "Invalid Base.")
  return base === 10 ? value.toString() : BigInt.asUintN(bits, BigInt(value)).toString(base)
}

export function declareConvert(): void {
  const rows: Record<string, (...values: never[]) => unknown> = {
    "static ToBase64String(byte[] bytes): string": toBase64,
    "static ToBase64String(byte[] bytes, Base64FormattingOptions options): string": toBase64,
    "static FromBase64String(string text): byte[]": fromBase64,
    "static ToHexString(byte[] bytes): string": (bytes: Uint8Array) => toHex(bytes).toUpperCase(),
    "static FromHexString(string text): byte[]": (text: string) => {
      if (text.length % 2 !== 0 || !/^[0-9A-Fa-f]*$/.test(text))
        throw badFormat("The input is not a valid hex string.")
      return fromHex(text)
    },
    "static ToString(object value): string": toText,
    "static ToString(object value, IFormatProvider provider): string": toText,
    "static ToString(int value, int base): string": (value: number, base: number) => inBase(value, base, 32),
    "static ToString(long value, int base): string": (value: bigint, base: number) => inBase(value, base, 64),
    "static ToBoolean(object value): bool": toBoolean,
    "static ToChar(int value): char": (value: number) => String.fromCharCode(value),
    "static ToChar(string value): char": (value: string) => value.charAt(0),
    "static ToDateTime(string value): DateTime": (value: string) =>
      new DateTime(parseDate(value).ticks, "unspecified"),
    "static ToDateTime(object value): DateTime": (value: unknown) =>
      value instanceof DateTime ? value : new DateTime(parseDate(toText(value)).ticks, "unspecified"),
  }
  for (const type of Object.keys(numberTypes).filter(isNumberType)) {
    const name = `To${dotnetName(type)}`
    rows[`static ${name}(object value): ${type}`] = (value: unknown) => toNumber(value, type)
    rows[`static ${name}(char value): ${type}`] = (value: string) =>
      convertNumber(value.charCodeAt(0), "int", type, true)
    rows[`static ${name}(object value, IFormatProvider provider): ${type}`] = (value: unknown) =>
      toNumber(value, type)
    if (numberTypes[type]?.least !== undefined)
      rows[`static ${name}(string value, int base): ${type}`] = (value: string, base: number) =>
        wholeNumber(value, type, base)
    // The static type distinguishes a whole double from an int; the value alone does not.
    if (numberTypes[type]?.least !== undefined)
      rows[`static ${name}(double value): ${type}`] = (value: number) => fromNumber(value, "double", type)
  }
  declareType("Convert", {}, rows)
  declareEnum("Base64FormattingOptions", "System", { None: 0, InsertLineBreaks: 1 })
}
