import { concatBytes } from "#platform"
import type { Literal, Reporter } from "./source-characters.ts"

const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["\\", "\\"],
  ["?", "?"],
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
])
const numericEscape = /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/y

const lineEnds = /[\n\r]/

/** The offset of the closing quotes; -1 if there are none. */
function findClose(source: string, from: number, marks: string, isRaw: boolean): number {
  let close = source.indexOf(marks, from)
  if (isRaw) return close
  let backslash = source.indexOf("\\", from)
  while (backslash !== -1 && close !== -1 && backslash < close) {
    if (close < backslash + 2) close = source.indexOf(marks, backslash + 2)
    backslash = source.indexOf("\\", backslash + 2)
  }
  return close
}

/** Fast path: the end of a text in single quotes on one line without a backslash; -1 if it is not that simple. */
function plainTextEnd(source: string, quote: number): number {
  const mark = source.charCodeAt(quote)
  if (source.charCodeAt(quote + 1) === mark) return source.charCodeAt(quote + 2) === mark ? -1 : quote + 1
  for (let at = quote + 1; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === mark) return at
    if (code === 92 || code === 10 || code === 13) return -1
  }
  return -1
}

/**
 * The end of a text that is not closed on its line. It is the end of the line, unless the remaining quotes after that line are odd in number: then the
 * next quote closes the text.
 */
function brokenEnd(source: string, from: number, marks: string, close: number): number {
  const line = marks.length === 3 ? -1 : source.slice(from).search(lineEnds)
  if (line === -1) return source.length
  const marksBehind = source.slice(from + line).split(marks).length - 1
  return close !== -1 && marksBehind % 2 === 1 ? close + 1 : from + line
}

/**
 * Reads the text or the bytes at `at`, whose quotes start at `quote`, after the prefix (`r`, `b`, `br`). It reports invalid escape sequences and an
 * unclosed text; the latter ends with its line.
 */
export function readText(source: string, at: number, quote: number, reporter: Reporter): Literal {
  const plain = at === quote ? plainTextEnd(source, quote) : -1
  if (plain !== -1) return { value: source.slice(quote + 1, plain), end: plain + 1 }
  const mark = source[quote] ?? '"'
  const marks = source.startsWith(mark.repeat(3), quote) ? mark.repeat(3) : mark
  const prefix = source.slice(at, quote).toLowerCase()
  const isRaw = prefix.endsWith("r")
  const isBytes = prefix.startsWith("b")
  const from = quote + marks.length
  const close = findClose(source, from, marks, isRaw)
  const isSplit = marks.length === 1 && close !== -1 && lineEnds.test(source.slice(from, close))
  if (close === -1 || isSplit) {
    const end = brokenEnd(source, from, marks, close)
    const message = isSplit
      ? "a string with single quotation marks ends on its line; use three marks for several lines"
      : `the string is not closed: \`${marks}\` is missing`
    reporter.mistake(message, at, end)
    return { value: isBytes ? new Uint8Array() : "", end }
  }
  const end = close + marks.length
  const backslash = isRaw ? -1 : source.indexOf("\\", from)
  if (backslash === -1 || backslash >= close) {
    const text = source.slice(from, close)
    return { value: isBytes ? new TextEncoder().encode(text) : text, end }
  }
  const decode = isBytes ? unescapeBytes : unescapeText
  return { value: decode(source, from, close, reporter), end }
}

interface Escape {
  /** The code point, or the byte. */
  readonly code: number
  readonly isByte: boolean
  readonly end: number
}

/** The escape sequence at `at`, the offset of its backslash. An unknown sequence is reported and yields nothing. */
function readEscape(source: string, at: number, stop: number, reporter: Reporter): Escape | undefined {
  const simple = simpleEscapes.get(source[at + 1] ?? "")
  if (simple !== undefined) return { code: simple.charCodeAt(0), isByte: false, end: at + 2 }
  numericEscape.lastIndex = at
  const match = numericEscape.exec(source)
  if (match === null || at + match[0].length > stop) {
    const part = source.slice(at, Math.min(at + 2, stop))
    reporter.mistake(`\`${part}\` is not an escape; write a backslash as \`\\\\\``, at, at + part.length)
    return undefined
  }
  const [text, byte, short, long, octal] = match
  const code =
    octal === undefined ? Number.parseInt(byte ?? short ?? long ?? "0", 16) : Number.parseInt(octal, 8)
  const end = at + text.length
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    reporter.mistake(`\`${text}\` is not an escape: there is no such character`, at, end)
    return undefined
  }
  return { code, isByte: byte !== undefined || octal !== undefined, end }
}

/** Replaces escapes. A wrong one is reported and skipped. */
function unescapeText(source: string, from: number, stop: number, reporter: Reporter): string {
  let text = ""
  let at = from
  for (;;) {
    const backslash = source.indexOf("\\", at)
    if (backslash === -1 || backslash >= stop) return text + source.slice(at, stop)
    text += source.slice(at, backslash)
    const sequence = readEscape(source, backslash, stop, reporter)
    if (sequence !== undefined) text += String.fromCodePoint(sequence.code)
    at = sequence?.end ?? backslash + 2
  }
}

/** In bytes, `\x` and octal escapes are bytes, and all other characters are encoded as UTF-8; `\u` and `\U` are invalid. */
function unescapeBytes(source: string, from: number, stop: number, reporter: Reporter): Uint8Array {
  const parts: Uint8Array[] = []
  const encoder = new TextEncoder()
  let at = from
  for (;;) {
    const backslash = source.indexOf("\\", at)
    if (backslash === -1 || backslash >= stop) {
      parts.push(encoder.encode(source.slice(at, stop)))
      return concatBytes(parts)
    }
    parts.push(encoder.encode(source.slice(at, backslash)))
    const sequence = readEscape(source, backslash, stop, reporter)
    at = sequence?.end ?? backslash + 2
    if (sequence !== undefined && !sequence.isByte && at - backslash > 2) {
      const part = source.slice(backslash, at)
      reporter.mistake(`\`${part}\` is not an escape of bytes; write the bytes with \`\\x\``, backslash, at)
    }
    if (sequence !== undefined) parts.push(Uint8Array.of(sequence.code))
  }
}
