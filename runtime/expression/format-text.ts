import { toHex, utf8Bytes } from "#platform"
import { textOf } from "./conversions.ts"
import { fixedPoint, plainDecimal, scientific } from "./exact-decimal.ts"
import { ExpressionError } from "./expression-error.ts"
import { charge, chargeLength } from "./meter.ts"
import { type CelMap, type JsonObject, kindOf, mapEntries, type TypeValue, Uint } from "./values.ts"

const depthMax = 100
/** Largest number of decimals. A double has at most 1,074. */
const decimalsMax = 1100
const decimalsDefault = 6

function refuse(clause: string, value: unknown): ExpressionError {
  return new ExpressionError("type", `\`${clause}\` does not take ${kindOf(value)}`)
}

function specialDouble(value: unknown): string | undefined {
  if (typeof value !== "number" || Number.isFinite(value)) return undefined
  return String(value)
}

/** `%s`: any value; map keys in the order of their texts. */
function anyText(value: unknown, depth: number): string {
  charge(1)
  if (depth > depthMax) throw new ExpressionError("cost", "the value is nested too deeply to be written")
  const kind = kindOf(value)
  switch (kind) {
    case "null":
      return "null"
    case "double":
      return specialDouble(value) ?? plainDecimal(value as number)
    case "bytes":
      return new TextDecoder().decode(value as Uint8Array)
    case "type":
      return (value as TypeValue).name
    case "list":
      return `[${(value as readonly unknown[]).map((element) => anyText(element, depth + 1)).join(", ")}]`
    case "map": {
      const entries = Array.from(mapEntries(value as CelMap | JsonObject), ([key, part]) => ({
        key: anyText(key, depth + 1),
        text: anyText(part, depth + 1),
      }))
      entries.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
      return `{${entries.map(({ key, text }) => `${key}: ${text}`).join(", ")}}`
    }
    default: {
      const text = textOf(value)
      if (text === undefined) throw refuse("%s", value)
      chargeLength(text.length)
      return text
    }
  }
}

function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value
  return value instanceof Uint ? value.value : undefined
}

function decimalText(value: unknown): string {
  const whole = wholeNumber(value)
  if (whole !== undefined) return whole.toString()
  if (typeof value === "number") return specialDouble(value) ?? plainDecimal(value)
  throw refuse("%d", value)
}

function inBase(clause: string, base: number, value: unknown): string {
  const whole = base === 2 && typeof value === "boolean" ? BigInt(value) : wholeNumber(value)
  if (whole === undefined) throw refuse(clause, value)
  return whole.toString(base)
}

function hexText(value: unknown): string {
  if (typeof value === "string") return toHex(utf8Bytes(value))
  if (value instanceof Uint8Array) return toHex(value)
  return inBase("%x", 16, value)
}

function withDecimals(clause: "f" | "e", value: unknown, decimals: number): string {
  const whole = wholeNumber(value)
  const number = whole === undefined ? value : Number(whole)
  if (typeof number !== "number") throw refuse(`%${clause}`, value)
  charge(1 + (decimals >>> 4))
  const write = clause === "f" ? fixedPoint : scientific
  return specialDouble(number) ?? write(number, decimals)
}

/** One clause of `format`. */
function clauseText(clause: string, value: unknown, decimals: number): string {
  switch (clause) {
    case "s":
      return anyText(value, 0)
    case "d":
      return decimalText(value)
    case "f":
    case "e":
      return withDecimals(clause, value, decimals)
    case "b":
      return inBase("%b", 2, value)
    case "o":
      return inBase("%o", 8, value)
    case "x":
      return hexText(value)
    case "X":
      return hexText(value).toUpperCase()
    default:
      throw new ExpressionError("other", "the format has a clause that does not exist")
  }
}

const clausePattern = /%(?:\.(\d{1,9}))?(.?)/gsu

/** The fault of a constant format; undefined if there is none. */
export function formatFault(format: string): string | undefined {
  for (const [text, decimals, clause = ""] of format.matchAll(clausePattern)) {
    if (clause === "%" && decimals === undefined) continue
    if (clause === "" || !"sdfeboxX".includes(clause))
      return `\`${text}\` is not a format clause; write \`%%\` for a percent sign`
    if (Number(decimals ?? 0) > decimalsMax) return `a format has at most ${decimalsMax} decimals`
  }
  return undefined
}

/**
 * `format`: replaces the clauses `%s %d %f %e %b %o %x %X` (`%.2f`: two decimals) by the values of a list, and `%%` by a percent sign. @throws
 * ExpressionError for a clause that does not exist, has no value, or does not accept it.
 */
export function formatText(format: string, values: unknown): string {
  if (!Array.isArray(values)) throw new ExpressionError("type", `a list is expected, not ${kindOf(values)}`)
  let text = ""
  let at = 0
  let index = 0
  for (const match of format.matchAll(clausePattern)) {
    const [whole, precision, clause = ""] = match
    text += format.slice(at, match.index)
    at = match.index + whole.length
    if (clause === "%" && precision === undefined) {
      text += "%"
      continue
    }
    if (index >= values.length) throw new ExpressionError("other", "the format has more clauses than values")
    const decimals = precision === undefined ? decimalsDefault : Number(precision)
    if (decimals > decimalsMax) throw new ExpressionError("other", "the format has too many decimals")
    const part = clauseText(clause, values[index++], decimals)
    chargeLength(part.length)
    text += part
  }
  return text + format.slice(at)
}
