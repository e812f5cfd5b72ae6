import type { DateParts } from "./date-format.ts"
import { dayNames, monthNames } from "./date-format.ts"
import { ticksOf } from "./date-time.ts"
import { badFormat } from "./errors.ts"

/** A parsed text: the local time, and its offset from UTC if present. */
export interface ParsedDate {
  readonly ticks: bigint
  readonly offsetMinutes: number | undefined
}

const notADate = (text: string): Error =>
  badFormat(`String '${text.slice(0, 100)}' was not recognized as a valid DateTime.`)

const zone = "(?:\\s*(Z|GMT|UTC|[+-]\\d{1,2}(?::?\\d{2})?))?"
const time = "(?:(\\d{1,2}):(\\d{2})(?::(\\d{2})(?:[.,](\\d{1,12}))?)?\\s*(AM|PM)?)"
const iso = new RegExp(`^(\\d{4})[-/](\\d{1,2})[-/](\\d{1,2})(?:[T ]\\s*${time})?${zone}$`, "i")
const american = new RegExp(`^(\\d{1,2})[/-](\\d{1,2})[/-](\\d{4})(?:\\s+${time})?${zone}$`, "i")
const months = monthNames.map((name) => name.slice(0, 3).toLowerCase())
const worded = new RegExp(
  `^(?:(?:${dayNames.map((name) => `${name}|${name.slice(0, 3)}`).join("|")}),?\\s+)?(?:(\\d{1,2})[ -]+([A-Za-z]{3,9})|([A-Za-z]{3,9})\\s+(\\d{1,2})),?[ -]+(\\d{4})(?:,?\\s+${time})?${zone}$`,
  "i",
)

/** Parses the formats of the invariant culture: ISO 8601, `MM/dd/yyyy`, RFC 1123 and dates in words. @throws FormatException */
export function parseDate(text: string): ParsedDate {
  const trimmed = text.trim()
  // The longest valid text is far shorter; the patterns never see a long one.
  if (trimmed.length > 100) throw notADate(text)
  let found = iso.exec(trimmed)
  if (found !== null) {
    const [, year, month, day, ...rest] = found
    return made(text, [year, month, day], rest)
  }
  found = american.exec(trimmed)
  if (found !== null) {
    // The invariant culture of .NET writes the month first.
    const [, month, day, year, ...rest] = found
    return made(text, [year, month, day], rest)
  }
  found = worded.exec(trimmed)
  if (found === null) throw notADate(text)
  const [, dayFirst, monthAfter, monthFirst, dayAfter, year, ...rest] = found
  const word = (monthAfter ?? monthFirst ?? "").toLowerCase()
  const month = months.indexOf(word.slice(0, 3)) + 1
  const full = monthNames[month - 1]?.toLowerCase() ?? ""
  // Either three letters or the whole name.
  if (month === 0 || (word.length > 3 && word !== full)) throw notADate(text)
  return made(text, [year, String(month), dayFirst ?? dayAfter], rest)
}

type Maybe = string | undefined

/** `date` is year, month, day; `rest` is hour, minute, second, fraction, AM or PM, offset. 12 AM is hour 0, 12 PM is hour 12. */
function made(text: string, date: readonly Maybe[], rest: readonly Maybe[]): ParsedDate {
  const [year, month, day] = date.map(Number)
  const [hour = "0", minute = "0", second = "0", part = "", half, offset] = rest
  const twelve =
    half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toUpperCase() === "PM" ? 12 : 0)
  const parts = {
    year,
    month,
    day,
    hour: twelve,
    minute: Number(minute),
    second: Number(second),
    fraction: fraction(part),
  }
  return { ticks: checked(text, parts as DateParts), offsetMinutes: offsetMinutes(offset) }
}

function fraction(digits: string): number {
  return Number(digits.slice(0, 7).padEnd(7, "0"))
}

function offsetMinutes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const found = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(text)
  if (found === null) return 0
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? "0")
  return found[1] === "-" ? -minutes : minutes
}

function checked(text: string, parts: DateParts): bigint {
  try {
    return ticksOf(parts)
  } catch {
    throw notADate(text)
  }
}

const exactPieces = /\\[\s\S]|'[^']*'|"[^"]*"|%?(?:d+|M+|y+|H+|h+|m+|s+|f+|F+|t+|z+|K)|[\s\S]/g
const readers: readonly (readonly [
  RegExp,
  string,
  keyof DateParts | "half" | "zone" | "month name" | "day name",
])[] = [
  [/^yyyy+$/, "(\\d{4})", "year"],
  [/^MMMM+$|^MMM$/, "([A-Za-z]{3,9})", "month name"],
  [/^MM$/, "(\\d{2})", "month"],
  [/^M$/, "(\\d{1,2})", "month"],
  [/^ddd+$/, "([A-Za-z]{3,9})", "day name"],
  [/^dd$/, "(\\d{2})", "day"],
  [/^d$/, "(\\d{1,2})", "day"],
  [/^[Hh]{2}$/, "(\\d{2})", "hour"],
  [/^[Hh]$/, "(\\d{1,2})", "hour"],
  [/^mm$/, "(\\d{2})", "minute"],
  [/^m$/, "(\\d{1,2})", "minute"],
  [/^ss$/, "(\\d{2})", "second"],
  [/^s$/, "(\\d{1,2})", "second"],
  [/^f+$/, "(\\d+)", "fraction"],
  [/^F+$/, "(\\d*)", "fraction"],
  [/^t+$/, "(AM|PM|A|P)", "half"],
  [/^z+$|^K$/, "(Z|[+-]\\d{1,2}(?::?\\d{2})?|)", "zone"],
]
/** The custom patterns that .NET's one-letter formats stand for, in the invariant culture. */
const standardExact: Readonly<Record<string, string>> = {
  o: "yyyy-MM-ddTHH:mm:ss.fffffffK",
  O: "yyyy-MM-ddTHH:mm:ss.fffffffK",
  s: "yyyy-MM-ddTHH:mm:ss",
  u: "yyyy-MM-dd HH:mm:ss'Z'",
  R: "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
  r: "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
  d: "MM/dd/yyyy",
}

/** Parses a text with exactly this format. @throws FormatException */
export function parseDateExact(text: string, format: string): ParsedDate {
  if (text.length > 200 || format.length > 200) throw notADate(text)
  const pattern = Object.hasOwn(standardExact, format) ? (standardExact[format] as string) : format
  const names: string[] = []
  let source = "^"
  for (const found of pattern.match(exactPieces) ?? []) {
    const piece = found.length > 1 && found.startsWith("%") ? found.slice(1) : found
    const reader = readers.find(([test]) => test.test(piece))
    if (reader !== undefined) {
      // Each part only once: with several adjacent parts of variable length, the pattern would try every split of the digits.
      if (names.includes(reader[2])) throw badFormat()
      names.push(reader[2])
      source += reader[1]
    } else source += escaped(/^['"\\]./.test(piece) ? piece.replace(/^\\|^['"]|['"]$/g, "") : piece)
  }
  const match = new RegExp(`${source}$`, "i").exec(text)
  if (match === null) throw notADate(text)
  const value = (name: string): string | undefined => match[names.indexOf(name) + 1]
  const has = (name: string): boolean => names.includes(name)
  const named =
    months.indexOf((has("month name") ? (value("month name") ?? "") : "").toLowerCase().slice(0, 3)) + 1
  return made(
    text,
    [
      has("year") ? value("year") : "1",
      has("month") ? value("month") : has("month name") ? String(named) : "1",
      has("day") ? value("day") : "1",
    ],
    [
      ...["hour", "minute", "second", "fraction"].map((name) => (has(name) ? value(name) : undefined)),
      has("half") ? `${value("half")?.[0]}M` : undefined,
      (has("zone") ? value("zone") : undefined) || (/'(GMT|Z)'/.test(pattern) ? "Z" : undefined),
    ],
  )
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
}
