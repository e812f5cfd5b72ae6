import { Decimal } from "./decimal.ts"
import { badFormat } from "./errors.ts"
import { doubleText, exponentText } from "./number-text.ts"

/** Limit on the digits that a format can request. */
const digitsMax = 100

type Numeric = number | bigint | Decimal

/**
 * Formats a number with a .NET format string in the invariant culture: standard ones (C D E F G N P R X, with a precision) and custom ones (`0 # . , %
 * ;` and text). `kind` is the static type (`int`, `double`, …). @throws FormatException
 */
export function formatNumber(value: Numeric, format: string, kind: string): string {
  if (format === "") return plainText(value)
  if (typeof value === "number" && !Number.isFinite(value)) return doubleText(value)
  const standard = /^([A-Za-z])([0-9]{0,3})$/.exec(format)
  if (standard === null) return customNumber(value, format)
  const [, letter = "", width = ""] = standard
  const precision = width === "" ? undefined : Math.min(Number(width), digitsMax)
  return standardNumber(value, letter, precision, kind)
}

/** Standard formats (`C`, `D`, `E`, `F`, `G`, `N`, `P`, `R`, `X`) in the invariant culture, whose currency sign is `¤`. */
function standardNumber(value: Numeric, letter: string, precision: number | undefined, kind: string): string {
  switch (letter.toUpperCase()) {
    case "C":
      return signed(
        value,
        (v) => `¤${grouped(fixed(v, precision ?? 2))}`,
        (text) => `(${text})`,
      )
    case "D":
      return signed(whole(value), (v) => plainText(v).padStart(precision ?? 0, "0"))
    case "E": {
      const [mantissa = "", power = "0"] = toNumber(value)
        .toExponential(precision ?? 6)
        .split("e")
      return `${mantissa}${letter}${exponentText(Number(power), 3)}`
    }
    case "F":
      return signed(value, (v) => fixed(v, precision ?? 2))
    case "G":
      return precision === undefined || precision === 0
        ? plainText(value)
        : general(toNumber(value), precision, letter)
    case "N":
      return signed(value, (v) => grouped(fixed(v, precision ?? 2)))
    case "P":
      return signed(times100(value), (v) => `${grouped(fixed(v, precision ?? 2))} %`)
    case "R":
      return plainText(value)
    case "X": {
      const hex = hexOf(BigInt(plainText(whole(value))), kind).padStart(precision ?? 0, "0")
      return letter === "X" ? hex.toUpperCase() : hex
    }
    default:
      throw badFormat("Format specifier was invalid.")
  }
}

/** `G` with a precision: the exponent is written from the precision upwards and below 10^-5. */
function general(value: number, precision: number, letter: string): string {
  const rounded = Number(value.toPrecision(precision))
  const power = rounded === 0 ? 0 : Math.floor(Math.log10(Math.abs(rounded)))
  if (power >= precision || power < -5) {
    const [mantissa = "", exponent = "0"] = rounded.toExponential().split("e")
    return `${mantissa}${letter === "g" ? "e" : "E"}${exponentText(Number(exponent), 2)}`
  }
  return doubleText(rounded)
}

/** Widths in bits, for the two's complement of negative numbers in `X`. */
const bits: Readonly<Record<string, number>> = {
  sbyte: 8,
  byte: 8,
  short: 16,
  ushort: 16,
  int: 32,
  uint: 32,
  long: 64,
  ulong: 64,
}

function hexOf(value: bigint, kind: string): string {
  return (Object.hasOwn(bits, kind) ? BigInt.asUintN(bits[kind] as number, value) : value).toString(16)
}

function plainText(value: Numeric): string {
  return typeof value === "number"
    ? doubleText(value)
    : typeof value === "bigint"
      ? value.toString()
      : value.text()
}

function toNumber(value: Numeric): number {
  return value instanceof Decimal ? value.toNumber() : Number(value)
}

function whole(value: Numeric): number | bigint {
  if (value instanceof Decimal || (typeof value === "number" && !Number.isInteger(value)))
    throw badFormat("Format specifier was invalid.")
  return value
}

function isNegative(value: Numeric): boolean {
  return value instanceof Decimal ? value.mantissa < 0n : value < 0
}

function absolute(value: Numeric): Numeric {
  if (!isNegative(value)) return value
  return value instanceof Decimal ? value.negate() : -value
}

function signed(
  value: Numeric,
  write: (value: Numeric) => string,
  negative: (text: string) => string = (text) => `-${text}`,
): string {
  const text = write(absolute(value))
  return isNegative(value) && /[1-9]/.test(text) ? negative(text) : text
}

/** With `digits` after the point; halves are rounded away from zero. */
function fixed(value: Numeric, digits: number): string {
  if (value instanceof Decimal) {
    const [units = "", part = ""] = value.round(digits, true).text().split(".")
    return digits === 0 ? units : `${units}.${part.padEnd(digits, "0")}`
  }
  if (typeof value === "bigint" || Math.abs(value) >= 1e21)
    return digits === 0 ? BigInt(value).toString() : `${BigInt(value)}.${"0".repeat(digits)}`
  return value.toFixed(digits)
}

function grouped(text: string): string {
  const [units = "", part] = text.split(".")
  const withCommas = units.replace(/\B(?=(\d{3})+(?!\d))/g, ",")
  return part === undefined ? withCommas : `${withCommas}.${part}`
}

function times100(value: Numeric): Numeric {
  if (value instanceof Decimal) return value.multiply(Decimal.fromInt(100))
  return typeof value === "bigint" ? value * 100n : Decimal.fromDouble(value).multiply(Decimal.fromInt(100))
}

/** `#,##0.00;(#);zero` and similar. */
function customNumber(value: Numeric, format: string): string {
  const sections = splitSections(format)
  const zero = toNumber(value) === 0
  const negative = isNegative(value)
  const section =
    zero && sections.length > 2 ? sections[2] : negative && sections[1] ? sections[1] : sections[0]
  const text = customSection(absolute(value), section ?? "")
  return negative && !(sections[1] && section === sections[1]) && /[1-9]/.test(text) ? `-${text}` : text
}

function splitSections(format: string): string[] {
  const sections = [""]
  for (const piece of format.match(/'[^']*'?|"[^"]*"?|\\[\s\S]?|;|[^'"\\;]/g) ?? [])
    if (piece === ";") sections.push("")
    else sections[sections.length - 1] += piece
  return sections
}

/** One section of a custom pattern: digits before and after the point, literals, percent, groups. */
function customSection(value: Numeric, section: string): string {
  const pieces: readonly string[] = section.match(/'[^']*'?|"[^"]*"?|\\[\s\S]?|[0#]|[.,%]|[\s\S]/g) ?? []
  const point = pieces.indexOf(".")
  const left = point < 0 ? pieces : pieces.slice(0, point)
  const right = point < 0 ? [] : pieces.slice(point + 1)
  const isDigit = (piece: string): boolean => piece === "0" || piece === "#"
  const decimals = right.filter(isDigit).length
  const scaled = pieces.includes("%") ? times100(value) : value
  const [units = "", part = ""] = fixed(scaled, Math.min(decimals, digitsMax)).split(".")
  const withGroups = left.some((piece, at) => piece === "," && left.slice(at).some(isDigit))
  return `${writeUnits(left, units.replace(/^0+/, ""), withGroups)}${writePart(right, part)}`
}

/** Writes the digits before the point into the places of the pattern. */
function writeUnits(pieces: readonly string[], digits: string, withGroups: boolean): string {
  const places = pieces.filter((piece) => piece === "0" || piece === "#")
  const zeros = places.length - (places.indexOf("0") < 0 ? places.length : places.indexOf("0"))
  const padded = digits.padStart(zeros, "0")
  const full = withGroups ? grouped(padded) : padded
  let written = ""
  let placed = false
  for (const piece of pieces) {
    if (piece === "0" || piece === "#") {
      // All digits go to the first place: text between places is rare, and .NET's own rule for it is obscure.
      if (!placed) written += full
      placed = true
    } else if (piece !== ",") written += literal(piece)
  }
  return written
}

function writePart(pieces: readonly string[], digits: string): string {
  const places = pieces.filter((piece) => piece === "0" || piece === "#")
  const least = places.lastIndexOf("0") + 1
  let kept = digits
  while (kept.length > least && kept.endsWith("0")) kept = kept.slice(0, -1)
  const texts = pieces.filter((piece) => piece !== "0" && piece !== "#" && piece !== ",").map(literal)
  return `${kept === "" ? "" : `.${kept}`}${texts.join("")}`
}

function literal(piece: string): string {
  if (piece.startsWith("\\")) return piece.slice(1)
  return /^['"]/.test(piece) && piece.length > 1 ? piece.slice(1, -1) : piece
}
