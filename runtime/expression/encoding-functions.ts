import { fromBase64, toBase64, toHex } from "#platform"
import { ExpressionError } from "./expression-error.ts"
import { chargeLength } from "./meter.ts"
import { kindOf } from "./values.ts"
import { escapeXmlAttribute } from "./xml-characters.ts"

type Applied = (...args: unknown[]) => unknown

function asText(name: string, value: unknown): string {
  if (typeof value === "string") return value
  throw new ExpressionError("type", `\`${name}\` takes a string, not ${kindOf(value)}`)
}

const encode: Applied = (value) => {
  if (!(value instanceof Uint8Array))
    throw new ExpressionError("type", `\`base64.encode\` takes bytes, not ${kindOf(value)}`)
  chargeLength(value.length * 2)
  return toBase64(value)
}

/** RFC 4648 §4, with or without padding, as in CEL. */
const decode: Applied = (value) => {
  const text = asText("base64.decode", value)
  chargeLength(text.length)
  const digits = text.endsWith("==") ? text.slice(0, -2) : text.endsWith("=") ? text.slice(0, -1) : text
  const isPadded = digits.length === text.length || text.length % 4 === 0
  const bytes = fromBase64(digits)
  // It ignores invalid digits, and bits of the last digit that belong to no byte.
  if (!isPadded || toBase64(bytes).replace(/=+$/, "") !== digits)
    throw new ExpressionError("other", "the string is not valid base64")
  return bytes
}

const replacement: Readonly<Record<string, string>> = {
  "!": "%21",
  "'": "%27",
  "(": "%28",
  ")": "%29",
  "*": "%2A",
}

/** RFC 3986: unreserved characters stay, all others are encoded as UTF-8. An unpaired surrogate becomes U+FFFD. */
const percentEncode: Applied = (value) => {
  const text = asText("percentEncode", value)
  chargeLength(text.length * 3)
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd")).replace(
    /[!'()*]/g,
    (character) => replacement[character] ?? character,
  )
}

const xmlEscape: Applied = (value) => {
  const text = asText("xmlEscape", value)
  chargeLength(text.length * 5)
  const escaped = escapeXmlAttribute(text)
  if (escaped === undefined)
    throw new ExpressionError("other", "the string has a character that XML does not allow")
  return escaped
}

const hex: Applied = (value) => {
  if (!(value instanceof Uint8Array))
    throw new ExpressionError("type", `\`hex\` is a method of bytes, not of ${kindOf(value)}`)
  chargeLength(value.length * 2)
  return toHex(value)
}

/** Percent-decoding (RFC 3986). `+` is not a space. */
const percentDecode: Applied = (value) => {
  const text = asText("percentDecode", value)
  chargeLength(text.length)
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ExpressionError("other", "the string is not percent-encoded UTF-8")
  }
}

/** Functions that escape a text for markup and URLs, available as functions and as methods. `urlEncode` is the name of `percentEncode` in most languages. */
const escapes: readonly (readonly [string, Applied])[] = [
  ["xmlEscape", xmlEscape],
  ["urlEncode", percentEncode],
]

/** CEL's extension `encoders`, and the escaping functions. */
export const encodingFunctions: ReadonlyMap<string, Applied> = new Map<string, Applied>([
  ["base64.encode", encode],
  ["base64.decode", decode],
  ...escapes,
])

/** Methods that encode texts for a URL, a form or XML, and bytes as hex digits. */
export const encodingMethods: ReadonlyMap<string, Applied> = new Map<string, Applied>([
  ["percentEncode", percentEncode],
  ["percentDecode", percentDecode],
  ["hex", hex],
  ...escapes,
])
