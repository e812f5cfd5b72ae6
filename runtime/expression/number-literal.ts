import { excerpt, isNamePart, type Literal, nameEnd, type Reporter } from "./source-characters.ts"
import { Uint, uintMax } from "./values.ts"

const whole = /^\d+$/
const wholeOrHex = /^(?:0x[0-9a-fA-F]+|\d+)([uU]?)$/
const decimal = /^(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?$/
/** Number of digits that a double always holds exactly. */
const shortMax = 15
/** More digits than any 64-bit number without leading zeros. */
const digitsMax = 25

/** The end of all characters that are written together as a number, so that `1.5x` is one mistake and not three. */
function numberEnd(source: string, at: number): number {
  let end = nameEnd(source, at)
  if (source.charCodeAt(end) === 46 && isDigit(source.charCodeAt(end + 1))) end = nameEnd(source, end + 1)
  const sign = source.charCodeAt(end)
  const last = source.charCodeAt(end - 1) | 32
  const isHex = (source.charCodeAt(at + 1) | 32) === 120
  if ((sign === 43 || sign === 45) && last === 101 && !isHex && isDigit(source.charCodeAt(end + 1))) {
    end = nameEnd(source, end + 1)
  }
  return end
}

function digitsEnd(source: string, from: number): number {
  let end = from
  while (isDigit(source.charCodeAt(end))) end++
  return end
}

/** The value of digits that a double holds exactly. This is cheaper than parsing a substring. */
function numberOf(source: string, from: number, end: number): number {
  let value = 0
  for (let at = from; at < end; at++) value = 10 * value + source.charCodeAt(at) - 48
  return value
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** Reads the number at `at`: an int as a bigint (its range is checked later, with the sign), a uint or a double. It reports an invalid number and reads it as 0. */
export function readNumber(source: string, at: number, reporter: Reporter): Literal {
  // Fast path: most numbers have a few digits.
  const stop = digitsEnd(source, at)
  const following = source.charCodeAt(stop)
  if (stop > at && stop - at <= shortMax && following !== 46 && !isNamePart(following)) {
    return { value: BigInt(numberOf(source, at, stop)), end: stop }
  }
  const decimals = following === 46 ? digitsEnd(source, stop + 1) : 0
  if (decimals > stop + 1 && decimals - at <= shortMax && !isNamePart(source.charCodeAt(decimals))) {
    return { value: Number(source.slice(at, decimals)), end: decimals }
  }
  const end = numberEnd(source, at)
  const text = source.slice(at, end)
  if (whole.test(text)) return { value: wholeNumber(text), end }
  const suffix = wholeOrHex.exec(text)?.[1]
  if (suffix !== undefined) {
    const value = wholeNumber(suffix === "" ? text : text.slice(0, -1))
    if (suffix === "") return { value, end }
    if (value <= uintMax) return { value: new Uint(value), end }
    reporter.mistake(`the number does not fit into a uint, whose largest is ${uintMax}`, at, end)
    return { value: new Uint(0n), end }
  }
  const value = decimal.test(text) ? Number(text) : Number.NaN
  if (Number.isFinite(value)) return { value, end }
  const reason = Number.isNaN(value) ? "is not a number" : "does not fit into a double"
  reporter.mistake(`\`${excerpt(text)}\` ${reason}`, at, end)
  return { value: 0, end }
}

function wholeNumber(text: string): bigint {
  const digits = text.length > digitsMax && !text.startsWith("0x") ? text.replace(/^0+(?=\d)/, "") : text
  // A number this long is out of range. Its exact value is irrelevant and slow to compute.
  return digits.length > digitsMax ? uintMax + 1n : BigInt(digits)
}
