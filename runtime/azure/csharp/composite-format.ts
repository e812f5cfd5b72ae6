import { formatDate } from "./date-format.ts"
import { DateTime, DateTimeOffset } from "./date-time.ts"
import { Decimal } from "./decimal.ts"
import { badFormat } from "./errors.ts"
import { formatNumber } from "./number-format.ts"
import { chargeText } from "./run.ts"
import { formatTimeSpan, TimeSpan } from "./time-span.ts"
import { Boxed, CsObject, toText } from "./values.ts"

/** Widest column of an alignment. */
const widthMax = 100_000

/** A value with its own format strings, other than numbers and times. */
export interface Formattable extends CsObject {
  format(format: string): string
}

/** `value.ToString(format)` in the invariant culture. `kind` is the static type, needed if the value does not determine it. */
export function formatValue(value: unknown, format: string, kind = ""): string {
  if (typeof value === "number" || typeof value === "bigint" || value instanceof Decimal)
    return formatNumber(value, format, kind || (typeof value === "bigint" ? "long" : "int"))
  if (value instanceof DateTime || value instanceof DateTimeOffset) return formatDate(value, format)
  if (value instanceof TimeSpan) return formatTimeSpan(value, format)
  if (value instanceof Boxed && typeof value.value !== "string")
    return formatNumber(value.value, format, value.typeName)
  if (value instanceof CsObject && "format" in value) return (value as Formattable).format(format)
  return toText(value)
}

/** Pads to `width` columns: on the left if positive, on the right if negative. */
export function align(text: string, width: number): string {
  if (Math.abs(width) > widthMax) throw badFormat()
  chargeText(Math.abs(width))
  return width < 0 ? text.padEnd(-width) : text.padStart(width)
}

/** `String.Format`: `{0}`, `{1,-8}`, `{2:yyyy}`, `{{` and `}}`. @throws FormatException */
export function compositeFormat(format: string, args: readonly unknown[]): string {
  let written = ""
  let at = 0
  while (at < format.length) {
    const next = nextBrace(format, at)
    written += format.slice(at, next)
    if (next >= format.length) break
    const brace = format[next] as string
    if (format[next + 1] === brace) {
      written += brace
      at = next + 2
      continue
    }
    const end = format.indexOf("}", next)
    const item =
      brace === "{" && end > 0
        ? /^(\d{1,6})\s*(?:,\s*(-?\d{1,6})\s*)?(?::([\s\S]*))?$/.exec(format.slice(next + 1, end))
        : null
    if (item === null) throw badFormat()
    const [, index, width, style] = item
    if (Number(index) >= args.length)
      throw badFormat(
        "Index (zero based) must be greater than or equal to zero and less than the size of the argument list.",
      )
    const text = formatValue(args[Number(index)], style ?? "")
    written += width === undefined ? text : align(text, Number(width))
    chargeText(written.length)
    at = end + 1
  }
  chargeText(written.length)
  return written
}

function nextBrace(format: string, from: number): number {
  for (let at = from; at < format.length; at++) if (format[at] === "{" || format[at] === "}") return at
  return format.length
}
