import { lastPositionOf, piecesOf, positionOf } from "../pattern/text-search.ts"
import { ExpressionError } from "./expression-error.ts"
import { formatText } from "./format-text.ts"
import { charge, chargeLength } from "./meter.ts"
import { kindOf } from "./values.ts"

const surrogate = /[\ud800-\udfff]/

/** The characters of a text as a list, if some are beyond the BMP: positions count code points, not UTF-16 units. */
function wide(text: string): string[] | undefined {
  return surrogate.test(text) ? Array.from(text) : undefined
}

function asText(value: unknown): string {
  if (typeof value === "string") return value
  throw new ExpressionError("type", `a string is expected, not ${kindOf(value)}`)
}

function asNumber(value: unknown): number {
  const number = typeof value === "bigint" ? Number(value) : value
  if (typeof number === "number" && Number.isSafeInteger(number)) return number
  throw new ExpressionError("type", `an int is expected, not ${kindOf(value)}`)
}

function requireInside(position: number, length: number): void {
  if (position < 0 || position > length)
    throw new ExpressionError("other", "the position is outside of the string")
}

/** The number of code points. */
export function textSize(text: string): number {
  if (!surrogate.test(text)) return text.length
  let size = 0
  for (const _ of text) size++
  return size
}

/** A part by code points; the units of UTF-16 are the same unless the text has characters outside of the BMP. */
function slice(text: string, start: number, end: number | undefined): string {
  const characters = wide(text)
  const length = characters?.length ?? text.length
  const last = end ?? length
  requireInside(start, length)
  requireInside(last, length)
  if (last < start) throw new ExpressionError("other", "the end is before the start")
  return characters === undefined ? text.slice(start, last) : characters.slice(start, last).join("")
}

/** A position in code points, -1 if there is none. */
function indexOf(text: string, part: string, from: number | undefined, last: boolean): bigint {
  const characters = wide(text)
  const length = characters?.length ?? text.length
  const start = from ?? (last ? length : 0)
  requireInside(start, length)
  const unit = characters === undefined ? start : characters.slice(0, start).join("").length
  const found = last ? lastPositionOf(text, part, unit) : positionOf(text, part, unit)
  return BigInt(characters === undefined || found < 0 ? found : textSize(text.slice(0, found)))
}

function splitText(text: string, separator: string, limit: number | undefined): string[] {
  const parts = separator === "" ? Array.from(text) : piecesOf(text, separator)
  charge(parts.length)
  if (limit === undefined || limit < 0 || parts.length <= limit) return parts
  return limit === 0 ? [] : [...parts.slice(0, limit - 1), parts.slice(limit - 1).join(separator)]
}

/** Replaces at most `limit` occurrences; a negative limit means all. */
function replaceText(text: string, from: string, to: string, limit: number | undefined): string {
  const most = limit === undefined || limit < 0 ? undefined : limit
  if (from === "") {
    // An empty text matches before every character and at the end.
    const characters = Array.from(text)
    chargeLength(text.length + characters.length * to.length)
    const count = most ?? characters.length + 1
    return [...characters, ""]
      .map((character, index) => (index < count ? to + character : character))
      .join("")
  }
  const parts = splitText(text, from, most === undefined ? undefined : most + 1)
  chargeLength(text.length + parts.length * to.length)
  return parts.join(to)
}

const whiteSpace = /\p{White_Space}/u

// Not String.trim: Unicode's White_Space contains U+0085 but not U+FEFF. Not one pattern with `$`: that would take quadratic time.
function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && whiteSpace.test(text[start] ?? "")) start++
  while (end > start && whiteSpace.test(text[end - 1] ?? "")) end--
  return text.slice(start, end)
}

/** Joins texts; the result is charged before it is made. */
function joinTexts(list: unknown, separator: string): string {
  if (!Array.isArray(list)) throw new ExpressionError("type", `a list is expected, not ${kindOf(list)}`)
  charge(list.length)
  const texts = list.map(asText)
  let length = texts.length * separator.length
  for (const text of texts) length += text.length
  chargeLength(length)
  return texts.join(separator)
}

const quoted: ReadonlyMap<string, string> = new Map([
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ["\\", "\\\\"],
  ['"', '\\"'],
])

/** `strings.quote(…)`: a text as a literal of the language; an unpaired surrogate becomes U+FFFD. */
export function quoteText(value: unknown): string {
  const text = asText(value)
  chargeLength(text.length)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
  const inner = text.replace(/[\x07\b\f\n\r\t\v\\"]/g, (character) => quoted.get(character) ?? character)
  return `"${inner.replace(/\p{Surrogate}/gu, "\ufffd")}"`
}

const optionalNumber = (value: unknown): number | undefined =>
  value === undefined ? undefined : asNumber(value)

type Method = (text: string, first: unknown, second: unknown, third: unknown) => unknown

const methods: Readonly<Record<string, Method>> = {
  contains: (text, part) => positionOf(text, asText(part)) >= 0,
  startsWith: (text, part) => text.startsWith(asText(part)),
  endsWith: (text, part) => text.endsWith(asText(part)),
  charAt: (text, at) => {
    const position = asNumber(at)
    requireInside(position, textSize(text))
    return (wide(text) ?? text)[position] ?? ""
  },
  indexOf: (text, part, from) => indexOf(text, asText(part), optionalNumber(from), false),
  lastIndexOf: (text, part, from) => indexOf(text, asText(part), optionalNumber(from), true),
  lowerAscii: (text) => text.replace(/[A-Z]+/g, (upper) => upper.toLowerCase()),
  upperAscii: (text) => text.replace(/[a-z]+/g, (lower) => lower.toUpperCase()),
  trim: trimmed,
  replace: (text, from, to, limit) => replaceText(text, asText(from), asText(to), optionalNumber(limit)),
  split: (text, separator, limit) => splitText(text, asText(separator), optionalNumber(limit)),
  reverse: (text) => Array.from(text).reverse().join(""),
  format: (text, values) => formatText(text, values),
  substring: (text, start, end) => slice(text, asNumber(start), optionalNumber(end)),
}

type Applied = (receiver: unknown, ...args: unknown[]) => unknown

/** The methods of texts, and `join` for lists of texts. Positions count code points. */
export const textMethods: ReadonlyMap<string, Applied> = new Map<string, Applied>([
  ...Object.entries(methods).map(([name, method]): [string, Applied] => [
    name,
    (receiver, first, second, third) => {
      const text = asText(receiver)
      chargeLength(text.length)
      return method(text, first, second, third)
    },
  ]),
  ["join", (list, separator) => joinTexts(list, separator === undefined ? "" : asText(separator))],
])
