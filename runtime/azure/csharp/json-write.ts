import { toBase64 } from "#platform"
import { formatDate } from "./date-format.ts"
import { DateTime, DateTimeOffset } from "./date-time.ts"
import { CsLimitError } from "./errors.ts"
import { doubleText } from "./number-text.ts"
import { charge, chargeText } from "./run.ts"
import { toText } from "./values.ts"

/** Limit on the nesting of JSON that is read, built or written. */
export const jsonDepthMax = 128

/** The written parts of a token: its kind and value; a property's name; the children of others. */
interface WrittenToken {
  readonly kind: string
  readonly name?: string
  readonly value?: unknown
  children(): readonly WrittenToken[]
}

/** Writes JSON like Newtonsoft: `indented` by two spaces with line feeds, otherwise without whitespace. */
export function writeJson(token: WrittenToken, indented: boolean): string {
  const pieces: string[] = []
  write(token, indented, 0, pieces)
  const text = pieces.join("")
  chargeText(text.length)
  if (pieces.length > 32) charge(pieces.length)
  return text
}

/** Appends pieces to `into`; they are joined once at the end. The depth is limited, because each level is a call on the stack. */
function write(token: WrittenToken, indented: boolean, depth: number, into: string[]): void {
  if (depth > jsonDepthMax) throw new CsLimitError("the JSON is nested too deeply")
  if (token.kind !== "Object" && token.kind !== "Array" && token.kind !== "Property")
    into.push(writeScalar(token))
  else if (token.kind === "Property") {
    into.push(quote(token.name ?? ""), indented ? ": " : ":")
    write(token.value as WrittenToken, indented, depth, into)
  } else {
    const [open, close] = token.kind === "Array" ? "[]" : "{}"
    const children = token.children()
    into.push(open as string)
    children.forEach((child, index) => {
      if (index > 0) into.push(",")
      if (indented) into.push("\n", "  ".repeat(depth + 1))
      write(child, indented, depth + 1, into)
    })
    if (indented && children.length > 0) into.push("\n", "  ".repeat(depth))
    into.push(close as string)
  }
}

/** A float always has a point or an exponent, so that reading it again gives a float. NaN and infinities are quoted, as in Newtonsoft. */
function writeScalar({ value, kind }: WrittenToken): string {
  if (value === null || value === undefined) return "null"
  if (typeof value === "boolean") return value ? "true" : "false"
  if (kind === "Float" && typeof value === "number") {
    if (!Number.isFinite(value)) return quote(doubleText(value))
    const text = doubleText(value)
    return /[.E]/.test(text) ? text : `${text}.0`
  }
  if (value instanceof DateTime || value instanceof DateTimeOffset) return quote(isoText(value))
  if (value instanceof Uint8Array) return quote(toBase64(value))
  if (kind === "Uri") return quote((value as { readonly original: string }).original)
  const text = toText(value)
  if (kind === "Float" && !/[.E]/.test(text)) return `${text}.0`
  return kind === "Integer" || kind === "Float" ? text : quote(text)
}

/** ISO 8601 as Newtonsoft writes times. */
export function isoText(value: DateTime | DateTimeOffset): string {
  return formatDate(value, "yyyy-MM-ddTHH:mm:ss.FFFFFFFK")
}

function quote(text: string): string {
  const escaped = JSON.stringify(text)
  // Newtonsoft also escapes NEL and the two Unicode line separators.
  return /[\u0085\u2028\u2029]/.test(escaped)
    ? escaped.replace(/[\u0085\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
    : escaped
}
