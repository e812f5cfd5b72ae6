import { badFormat } from "./errors.ts"

/** The parts of a local time. `fraction` is in ticks of 100 ns. */
export interface DateParts {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly fraction: number
}

/** A time to format: a DateTime has a kind, a DateTimeOffset has an offset from UTC. */
interface WrittenTime {
  readonly ticks: bigint
  readonly kind?: string
  readonly offsetMinutes?: number
  parts(): DateParts
  toOffset?(minutes: number): WrittenTime
}

export const dayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
/** Names of the invariant culture: policies run without a user's culture. */
export const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
]

/** Standard formats of the invariant culture as custom formats. R, u, U and s are independent of the culture in .NET. */
const standard: Readonly<Record<string, string>> = {
  d: "MM/dd/yyyy",
  D: "dddd, dd MMMM yyyy",
  f: "dddd, dd MMMM yyyy HH:mm",
  F: "dddd, dd MMMM yyyy HH:mm:ss",
  g: "MM/dd/yyyy HH:mm",
  G: "MM/dd/yyyy HH:mm:ss",
  M: "MMMM dd",
  m: "MMMM dd",
  O: "yyyy-MM-ddTHH:mm:ss.fffffffK",
  o: "yyyy-MM-ddTHH:mm:ss.fffffffK",
  R: "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'",
  r: "ddd, dd MMM yyyy HH':'mm':'ss 'GMT'",
  s: "yyyy-MM-ddTHH:mm:ss",
  t: "HH:mm",
  T: "HH:mm:ss",
  u: "yyyy-MM-dd HH:mm:ss'Z'",
  U: "dddd, dd MMMM yyyy HH:mm:ss",
  Y: "yyyy MMMM",
  y: "yyyy MMMM",
}

/** Longer formats are invalid. */
const lengthMax = 1000

/** Formats a time with a .NET format string in the invariant culture; an empty one is the type's default. @throws FormatException */
export function formatDate(moment: WrittenTime, format: string): string {
  const withOffset = moment.offsetMinutes !== undefined
  if (format.length > lengthMax) throw badFormat()
  if (format.length > 1) return custom(moment, format.startsWith("%") ? format.slice(1) : format)
  const letter = format === "" ? "G" : format
  if (!Object.hasOwn(standard, letter)) throw badFormat()
  const pattern = `${standard[letter]}${format === "" && withOffset ? " zzz" : ""}`
  const universal = withOffset && "RrUu".includes(letter)
  return custom(universal ? (moment.toOffset?.(0) ?? moment) : moment, pattern)
}

const pieces = /\\[\s\S]|'[^']*'|"[^"]*"|%?(?:d+|M+|y+|H+|h+|m+|s+|f+|F+|t+|z+|g+|K)|[\s\S]/g

/**
 * A custom pattern: letters are fields, quoted text and `\x` are literal, everything else is copied. Source: .NET, custom date and time
 * format strings.
 */
function custom(moment: WrittenTime, pattern: string): string {
  const parts = moment.parts()
  const clock = fields(moment, parts)
  let written = ""
  for (const found of pattern.match(pieces) ?? []) {
    const piece = found.length > 1 && found.startsWith("%") ? found.slice(1) : found
    if (piece.startsWith("\\")) written += piece.slice(1)
    else if (/^['"]./.test(piece)) written += piece.slice(1, -1)
    else if (Object.hasOwn(clock, piece[0] as string)) {
      const text = (clock[piece[0] as string] as (width: number) => string)(piece.length)
      // `.FFF` drops its point if no digits follow.
      if (piece.startsWith("F") && text === "" && written.endsWith(".")) written = written.slice(0, -1)
      written += text
    } else written += piece
  }
  return written
}

/**
 * The fields of a custom pattern by their first letter; `width` is the number of repeated letters. Day 0 of the calendar, 0001-01-01, is a
 * Monday, hence the `+ 1`.
 */
function fields(moment: WrittenTime, parts: DateParts): Readonly<Record<string, (width: number) => string>> {
  const weekday = dayNames[Number((moment.ticks / 864_000_000_000n + 1n) % 7n)] as string
  const month = monthNames[parts.month - 1] as string
  const fraction = String(parts.fraction).padStart(7, "0")
  const pad = (value: number, width: number): string => String(value).padStart(Math.min(width, 2), "0")
  return {
    d: (width) => (width < 3 ? pad(parts.day, width) : width === 3 ? weekday.slice(0, 3) : weekday),
    M: (width) => (width < 3 ? pad(parts.month, width) : width === 3 ? month.slice(0, 3) : month),
    y: (width) => (width < 3 ? pad(parts.year % 100, width) : String(parts.year).padStart(width, "0")),
    H: (width) => pad(parts.hour, width),
    h: (width) => pad(parts.hour % 12 === 0 ? 12 : parts.hour % 12, width),
    m: (width) => pad(parts.minute, width),
    s: (width) => pad(parts.second, width),
    f: (width) => fraction.slice(0, width).padEnd(width, "0"),
    F: (width) => fraction.slice(0, width).replace(/0+$/, ""),
    t: (width) => (parts.hour < 12 ? "AM" : "PM").slice(0, width),
    z: (width) => offsetText(offsetOf(moment), width),
    g: () => "A.D.",
    K: () =>
      moment.offsetMinutes !== undefined || moment.kind === "local"
        ? offsetText(offsetOf(moment), 3)
        : moment.kind === "utc"
          ? "Z"
          : "",
  }
}

function offsetOf(moment: WrittenTime): number {
  return moment.offsetMinutes ?? 0
}

function offsetText(minutes: number, width: number): string {
  const sign = minutes < 0 ? "-" : "+"
  const hours = Math.floor(Math.abs(minutes) / 60)
  const rest = String(Math.abs(minutes) % 60).padStart(2, "0")
  return `${sign}${String(hours).padStart(Math.min(width, 2), "0")}${width > 2 ? `:${rest}` : ""}`
}
