import type { DateTime } from "./date-time.ts"
import { CsException } from "./errors.ts"
import { JArray, JObject, type JToken, JValue } from "./json-tree.ts"
import { jsonDepthMax } from "./json-write.ts"
import { charge, chargeText } from "./run.ts"

const isoDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:Z|[+-]\d\d:?\d\d)?$/

/** Cost of one value, in addition to its characters. */
const stepsOfValue = 8
const stepsOfObject = 6
const slash = 0x2f
const backslash = 0x5c

interface Reader {
  readonly text: string
  at: number
}

const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  "\n": "\n",
}

function fail(reader: Reader, what: string): CsException {
  const before = reader.text.slice(0, reader.at).split("\n")
  return new CsException(
    "JsonReaderException",
    `${what}. Path '', line ${before.length}, position ${before[before.length - 1]?.length ?? 0}.`,
  )
}

function unexpected(reader: Reader): CsException {
  if (reader.at >= reader.text.length) return fail(reader, "Unexpected end of content")
  return fail(reader, `Unexpected character encountered while parsing value: ${reader.text[reader.at]}`)
}

/**
 * Parses JSON like Newtonsoft, which also accepts comments, single quotes, bare names and trailing commas. A string with an ISO date becomes a time
 * unless `keepDates`. @throws JsonReaderException
 */
export function parseJson(text: string, readDate: (text: string) => DateTime): JToken {
  chargeText(text.length * 4)
  const reader = { text, at: text.startsWith("\ufeff") ? 1 : 0 }
  skipBlanks(reader)
  if (reader.at >= text.length)
    throw new CsException(
      "JsonReaderException",
      "Error reading JToken from JsonReader. Path '', line 0, position 0.",
    )
  const token = readValue(reader, 0, readDate)
  skipBlanks(reader)
  if (reader.at < text.length)
    throw fail(reader, `Additional text encountered after finished reading JSON content: ${text[reader.at]}`)
  return token
}

/** Skips white space and comments. Newtonsoft accepts both kinds of comments, and so do published documents. */
function skipBlanks(reader: Reader): void {
  const { text } = reader
  for (;;) {
    let code = text.charCodeAt(reader.at)
    while (code <= 32 || code >= 128) {
      if (!/\s/.test(text[reader.at] as string)) return
      code = text.charCodeAt(++reader.at)
    }
    if (code !== slash) return
    const ends = text[reader.at + 1] === "*" ? "*/" : text[reader.at + 1] === "/" ? "\n" : undefined
    if (ends === undefined) throw unexpected(reader)
    const end = text.indexOf(ends, reader.at + 2)
    reader.at = end < 0 ? text.length : end + ends.length
  }
}

/**
 * Strings of the form of an ISO date become dates, as Newtonsoft does by default. The length and the `T` are checked first, because the
 * pattern is slower.
 */
function readValue(reader: Reader, depth: number, readDate: (text: string) => DateTime): JToken {
  charge(stepsOfValue)
  if (depth > jsonDepthMax) throw fail(reader, `The reader's MaxDepth of ${jsonDepthMax} has been exceeded`)
  skipBlanks(reader)
  const c = reader.text[reader.at]
  if (c === "{") return readObject(reader, depth, readDate)
  if (c === "[") return readArray(reader, depth, readDate)
  if (c === '"' || c === "'") {
    const value = readString(reader)
    return value.length >= 19 && value.length <= 40 && value[10] === "T" && isoDate.test(value)
      ? dated(value, readDate)
      : new JValue(value, "String")
  }
  return readBare(reader)
}

function dated(text: string, readDate: (text: string) => DateTime): JValue {
  try {
    return new JValue(readDate(text), "Date")
  } catch {
    return new JValue(text, "String")
  }
}

/** A repeated name keeps the last value, and a comma before the closing brace is allowed, both as in Newtonsoft. */
function readObject(reader: Reader, depth: number, readDate: (text: string) => DateTime): JToken {
  const object = new JObject()
  charge(stepsOfObject)
  reader.at++
  for (;;) {
    skipBlanks(reader)
    if (reader.text[reader.at] === "}") break
    const name = readName(reader)
    skipBlanks(reader)
    if (reader.text[reader.at] !== ":")
      throw fail(
        reader,
        `Invalid character after parsing property name. Expected ':' but got: ${reader.text[reader.at] ?? "end"}`,
      )
    reader.at++
    object.set(name, readValue(reader, depth + 1, readDate))
    skipBlanks(reader)
    if (reader.text[reader.at] === "}") break
    if (reader.text[reader.at] !== ",")
      throw fail(
        reader,
        `After parsing a value an unexpected character was encountered: ${reader.text[reader.at] ?? "end"}`,
      )
    reader.at++
  }
  reader.at++
  return object
}

/** A comma before the closing bracket is allowed, as in Newtonsoft. */
function readArray(reader: Reader, depth: number, readDate: (text: string) => DateTime): JToken {
  const array = new JArray()
  reader.at++
  for (;;) {
    skipBlanks(reader)
    if (reader.text[reader.at] === "]") break
    array.add(readValue(reader, depth + 1, readDate))
    skipBlanks(reader)
    if (reader.text[reader.at] === "]") break
    if (reader.text[reader.at] !== ",")
      throw fail(
        reader,
        `After parsing a value an unexpected character was encountered: ${reader.text[reader.at] ?? "end"}`,
      )
    reader.at++
  }
  reader.at++
  return array
}

/** A name may be written without quotes, as in Newtonsoft. */
function readName(reader: Reader): string {
  const c = reader.text[reader.at]
  if (c === '"' || c === "'") return readString(reader)
  const found = /^[A-Za-z0-9_$]{1,200}/.exec(reader.text.slice(reader.at, reader.at + 200))
  if (found === null)
    throw fail(reader, `Invalid property identifier character: ${reader.text[reader.at] ?? "end"}`)
  reader.at += found[0].length
  return found[0]
}

/** Copies whole runs between escapes, because one concatenation for each character is slow for long strings. */
function readString(reader: Reader): string {
  const { text } = reader
  const quote = text.charCodeAt(reader.at)
  let made = ""
  let from = ++reader.at
  for (;;) {
    const code = text.charCodeAt(reader.at)
    if (code === quote) break
    if (code === backslash) {
      made += text.slice(from, reader.at) + readEscape(reader)
      from = reader.at
    } else if (reader.at++ >= text.length)
      throw fail(reader, `Unterminated string. Expected delimiter: ${String.fromCharCode(quote)}`)
  }
  return made + text.slice(from, reader.at++)
}

/** Reads one escape, from its backslash on. Each is charged, because it makes a piece of text. */
function readEscape(reader: Reader): string {
  charge(1)
  const c = reader.text[reader.at + 1] ?? ""
  if (c === "u") {
    const hex = reader.text.slice(reader.at + 2, reader.at + 6)
    if (!/^[0-9A-Fa-f]{4}$/.test(hex)) throw fail(reader, `Invalid Unicode escape sequence: \\u${hex}`)
    reader.at += 6
    return String.fromCharCode(Number.parseInt(hex, 16))
  }
  reader.at += 2
  if (Object.hasOwn(escapes, c)) return escapes[c] as string
  if (!"\"'\\/".includes(c)) throw fail(reader, `Bad JSON escape sequence: \\${c}`)
  return c
}

const bareWord = /[A-Za-z0-9_+.-]{1,400}/y

/** Numbers, `true`, `false`, `null` and other words without quotes. */
function readBare(reader: Reader): JToken {
  bareWord.lastIndex = reader.at
  const word = bareWord.exec(reader.text)?.[0]
  if (word === undefined) throw unexpected(reader)
  const scalar = bareValue(word)
  if (scalar === undefined) throw unexpected(reader)
  reader.at += word.length
  return scalar
}

function bareValue(word: string): JValue | undefined {
  if (word === "true" || word === "false") return new JValue(word === "true", "Boolean")
  if (word === "null" || word === "undefined") return new JValue(null, "Null")
  if (word === "NaN") return new JValue(Number.NaN, "Float")
  if (/^-?\d{1,300}$/.test(word)) return new JValue(BigInt(word), "Integer")
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(word)) return new JValue(Number(word), "Float")
  return undefined
}
