import { ExpressionError } from "./expression-error.ts"
import { Duration, Timestamp } from "./values.ts"

const nanosecondsPerSecond = 1_000_000_000n
function nanosecondsOf(fraction: string | undefined): bigint {
  return fraction === undefined ? 0n : BigInt(fraction.slice(0, 9).padEnd(9, "0"))
}

/** The number of two digits; NaN if they are not digits. */
function pair(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48
  const ones = text.charCodeAt(at + 1) - 48
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

function isDate(year: number, month: number, day: number): boolean {
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1)) return false
  if (month === 2) return day <= (year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28)
  return day <= (month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31)
}

/** Days of a Gregorian date, counted in years that start in March, so that the leap day is the last day. */
function daysSince1970(year: number, month: number, day: number): number {
  const inMarchYears = month > 2 ? year : year - 1
  const leapDays =
    Math.floor(inMarchYears / 4) - Math.floor(inMarchYears / 100) + Math.floor(inMarchYears / 400)
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return inMarchYears * 365 + leapDays + dayOfYear - 719_468
}

const dateTimePattern = /^.{4}-.{2}-.{2}[Tt].{2}:.{2}:.{2}/
const fractionAndZone = /^(?:\.(\d{1,32}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** Offset of a zone from UTC in seconds; NaN if it is invalid. */
function zoneSeconds(
  sign: string | undefined,
  hours: string | undefined,
  minutes: string | undefined,
): number {
  if (sign === undefined) return 0
  const [h, m] = [Number(hours), Number(minutes)]
  if (h > 23 || m > 59) return Number.NaN
  return (sign === "-" ? -1 : 1) * (h * 3600 + m * 60)
}

/** Parses RFC 3339 with nanoseconds; undefined if the text is invalid, the date does not exist or is outside the years 1 … 9999. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const end =
    text.length === 20 && (text[19] === "Z" || text[19] === "z") ? [] : fractionAndZone.exec(text.slice(19))
  if (end === null || !dateTimePattern.test(text)) return undefined
  const year = pair(text, 0) * 100 + pair(text, 2)
  const month = pair(text, 5)
  const day = pair(text, 8)
  const [hour, minute, second] = [pair(text, 11), pair(text, 14), pair(text, 17)]
  const [, fraction, sign, zoneHours, zoneMinutes] = end
  const zone = zoneSeconds(sign, zoneHours, zoneMinutes)
  if (!isDate(year, month, day) || !(hour <= 23 && minute <= 59 && second <= 59) || Number.isNaN(zone))
    return undefined
  const seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - zone
  try {
    return new Timestamp(BigInt(seconds) * nanosecondsPerSecond + nanosecondsOf(fraction))
  } catch {
    return undefined
  }
}

/** Seconds rounded down, and the remaining nanoseconds. */
function split(nanoseconds: bigint): { seconds: bigint; rest: bigint } {
  const rest = ((nanoseconds % nanosecondsPerSecond) + nanosecondsPerSecond) % nanosecondsPerSecond
  return { seconds: (nanoseconds - rest) / nanosecondsPerSecond, rest }
}

function fractionText(rest: bigint): string {
  return rest === 0n ? "" : `.${rest.toString().padStart(9, "0").replace(/0+$/, "")}`
}

/** RFC 3339 in UTC, as many decimals as needed: `2026-01-31T08:00:00.5Z`. */
export function formatTimestamp(timestamp: Timestamp): string {
  const { seconds, rest } = split(timestamp.nanoseconds)
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19)
  return `${whole}${fractionText(rest)}Z`
}

/** Units of durations. µ has two code points that look the same. */
const unitNanoseconds: Readonly<Record<string, bigint>> = {
  h: 3_600_000_000_000n,
  m: 60_000_000_000n,
  s: nanosecondsPerSecond,
  ms: 1_000_000n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ns: 1n,
}
const durationPattern = /^[+-]?(?:0|(?:(?:\d{1,24}(?:\.\d{0,24})?|\.\d{1,24})(?:h|ms|m|s|us|µs|μs|ns))+)$/
const durationPart = /(\d*)(?:\.(\d*))?(h|ms|m|s|us|µs|μs|ns)/g

/** Parses `1h30m`, `-1.5s`, `0`: numbers with the units h, m, s, ms, us, µs, ns; undefined if the text is invalid or out of range. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > 200 || !durationPattern.test(text)) return undefined
  let total = 0n
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(durationPart)) {
    const unitSize = unitNanoseconds[unit] ?? 0n
    total += BigInt(whole || "0") * unitSize
    if (fraction !== "") total += (BigInt(fraction) * unitSize) / 10n ** BigInt(fraction.length)
  }
  try {
    return new Duration(text.startsWith("-") ? -total : total)
  } catch {
    return undefined
  }
}

/** Seconds with as many decimals as needed: `5400s`, `-1.5s`. */
export function formatDuration(duration: Duration): string {
  const negative = duration.nanoseconds < 0n
  const size = negative ? -duration.nanoseconds : duration.nanoseconds
  return `${negative ? "-" : ""}${size / nanosecondsPerSecond}${fractionText(size % nanosecondsPerSecond)}s`
}

const offsetPattern = /^([+-]?)(\d\d):(\d\d)$/
const zones = new Map<string, Intl.DateTimeFormat>()
// There are about 600 names. The limit is for the many spellings (`utc`, `Utc`, …) that a request could use.
const zonesMax = 1000

/** A formatter for a time zone; undefined for unknown names. Formatters are slow to make and are kept. */
function zoneFormat(name: string): Intl.DateTimeFormat | undefined {
  const known = zones.get(name)
  if (known !== undefined) return known
  try {
    const numeric = "numeric" as const
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    })
    if (zones.size < zonesMax) zones.set(name, format)
    return format
  } catch {
    return undefined
  }
}

function fixedOffset(zone: string): number | undefined {
  const match = offsetPattern.exec(zone)
  if (match === null) return undefined
  const [hours, minutes] = [Number(match[2]), Number(match[3])]
  if (hours > 23 || minutes > 59) return undefined
  return (match[1] === "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
}

/** Whether `zone` is a fixed offset (`+02:00`, `02:00`) or a name of the tz database. */
export function isTimeZone(zone: string): boolean {
  return offsetPattern.test(zone) ? fixedOffset(zone) !== undefined : zoneFormat(zone) !== undefined
}

/** The local time in the zone, as a Date whose UTC fields hold that time. @throws ExpressionError for an unknown zone. */
function wallClock(timestamp: Timestamp, zone: string | undefined): Date {
  const seconds = Number(split(timestamp.nanoseconds).seconds)
  if (zone === undefined || zone === "UTC") return new Date(seconds * 1000)
  const offset = fixedOffset(zone)
  if (offset !== undefined) return new Date((seconds + offset) * 1000)
  const format = offsetPattern.test(zone) ? undefined : zoneFormat(zone)
  if (format === undefined) throw new ExpressionError("other", "unknown time zone")
  const part: Record<string, number> = {}
  for (const { type, value } of format.formatToParts(seconds * 1000)) part[type] = Number(value)
  const clock = new Date(0)
  clock.setUTCFullYear(part["year"] ?? 0, (part["month"] ?? 1) - 1, part["day"] ?? 1)
  clock.setUTCHours(part["hour"] ?? 0, part["minute"] ?? 0, part["second"] ?? 0)
  return clock
}

function dayOfYear(clock: Date): number {
  const start = new Date(0)
  start.setUTCFullYear(clock.getUTCFullYear(), 0, 1)
  return Math.floor((clock.getTime() - start.getTime()) / 86_400_000)
}

/** The parts of a time in its zone. Months, days of the month and of the year begin at 0, as in CEL. */
const readers: Readonly<Record<string, (clock: Date) => number>> = {
  getFullYear: (clock) => clock.getUTCFullYear(),
  getMonth: (clock) => clock.getUTCMonth(),
  getDate: (clock) => clock.getUTCDate(),
  getDayOfMonth: (clock) => clock.getUTCDate() - 1,
  getDayOfWeek: (clock) => clock.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (clock) => clock.getUTCHours(),
  getMinutes: (clock) => clock.getUTCMinutes(),
  getSeconds: (clock) => clock.getUTCSeconds(),
}

const durationUnits: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: nanosecondsPerSecond,
  getMilliseconds: 1_000_000n,
}

/** The names `getFullYear` … `getMilliseconds`. */
export const timeReaderNames: readonly string[] = [...Object.keys(readers), "getMilliseconds"]

/** A part of a timestamp in a zone (default: UTC). Months, days of the month and days of the year count from 0, `getDate` from 1. */
export function readTimestamp(name: string, timestamp: Timestamp, zone: string | undefined): bigint {
  if (name === "getMilliseconds") return split(timestamp.nanoseconds).rest / 1_000_000n
  const read = readers[name]
  if (read === undefined) throw new ExpressionError("type", `a timestamp has no \`${name}\``)
  return BigInt(read(wallClock(timestamp, zone)))
}

/** The whole duration in a unit, truncated towards zero. */
export function readDuration(name: string, duration: Duration): bigint {
  const unit = durationUnits[name]
  if (unit === undefined) throw new ExpressionError("type", `a duration has no \`${name}\``)
  return duration.nanoseconds / unit
}
