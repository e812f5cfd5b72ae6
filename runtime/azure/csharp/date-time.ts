import { type DateParts, formatDate } from "./date-format.ts"
import { CsException, outOfRange } from "./errors.ts"
import { TimeSpan, ticksPerDay, ticksPerMs } from "./time-span.ts"
import { CsObject } from "./values.ts"

/** Ticks of 1970-01-01, and of the end of year 9999. */
export const unixEpochTicks = 621_355_968_000_000_000n
const ticksMax = 3_155_378_975_999_999_999n

export type DateKind = "unspecified" | "utc" | "local"

function inRange(ticks: bigint): bigint {
  if (ticks < 0n || ticks > ticksMax)
    throw new CsException(
      "ArgumentOutOfRangeException",
      "The added or subtracted value results in an un-representable DateTime. (Parameter 'value')",
    )
  return ticks
}

/** System.DateTime: ticks of 100 ns since year 1. The zone of the gateway is UTC, so that local and UTC times are equal. */
export class DateTime extends CsObject {
  readonly typeName = "System.DateTime"
  readonly ticks: bigint
  readonly kind: DateKind

  constructor(ticks: bigint, kind: DateKind) {
    super()
    this.ticks = inRange(ticks)
    this.kind = kind
  }
  static fromMs(ms: number, kind: DateKind): DateTime {
    return new DateTime(unixEpochTicks + BigInt(Math.floor(ms)) * ticksPerMs, kind)
  }
  parts(): DateParts {
    return partsOf(this.ticks)
  }
  plus(ticks: bigint): DateTime {
    return new DateTime(this.ticks + ticks, this.kind)
  }
  /** Fractional units are rounded to the tick. */
  plusUnits(count: number, unit: bigint): DateTime {
    return this.plus(TimeSpan.of(count, unit).ticks)
  }
  plusMonths(count: number): DateTime {
    return new DateTime(addMonths(this.ticks, count), this.kind)
  }
  compareTo(other: unknown): number {
    const { ticks } = other as DateTime
    return this.ticks < ticks ? -1 : this.ticks > ticks ? 1 : 0
  }
  override text(): string {
    return formatDate(this, "G")
  }
  override same(other: unknown): boolean {
    return other instanceof DateTime && other.ticks === this.ticks
  }
  override hash(): unknown {
    return `date:${this.ticks}`
  }
}

/** System.DateTimeOffset: a local time and its offset from UTC. */
export class DateTimeOffset extends CsObject {
  readonly typeName = "System.DateTimeOffset"
  /** The local time. */
  readonly ticks: bigint
  readonly offsetMinutes: number

  constructor(ticks: bigint, offsetMinutes: number) {
    super()
    this.ticks = inRange(ticks)
    // 14 hours, the largest offset of .NET and of any time zone.
    if (Math.abs(offsetMinutes) > 840) throw outOfRange("offset")
    this.offsetMinutes = offsetMinutes
  }
  static fromMs(ms: number | bigint): DateTimeOffset {
    return new DateTimeOffset(
      unixEpochTicks + BigInt(typeof ms === "number" ? Math.floor(ms) : ms) * ticksPerMs,
      0,
    )
  }
  get utcTicks(): bigint {
    return this.ticks - BigInt(this.offsetMinutes) * 600_000_000n
  }
  parts(): DateParts {
    return partsOf(this.ticks)
  }
  plus(ticks: bigint): DateTimeOffset {
    return new DateTimeOffset(this.ticks + ticks, this.offsetMinutes)
  }
  plusUnits(count: number, unit: bigint): DateTimeOffset {
    return this.plus(TimeSpan.of(count, unit).ticks)
  }
  plusMonths(count: number): DateTimeOffset {
    return new DateTimeOffset(addMonths(this.ticks, count), this.offsetMinutes)
  }
  toOffset(minutes: number): DateTimeOffset {
    return new DateTimeOffset(this.utcTicks + BigInt(minutes) * 600_000_000n, minutes)
  }
  /** Units since 1970, rounded down. */
  unix(unit: bigint): bigint {
    const since = this.utcTicks - unixEpochTicks
    // `bigint` division rounds towards zero, and times before 1970 are negative.
    return since >= 0n || since % unit === 0n ? since / unit : since / unit - 1n
  }
  compareTo(other: unknown): number {
    const { utcTicks } = other as DateTimeOffset
    return this.utcTicks < utcTicks ? -1 : this.utcTicks > utcTicks ? 1 : 0
  }
  override text(): string {
    return formatDate(this, "")
  }
  override same(other: unknown): boolean {
    // Equal moments are equal, whatever their offsets.
    return other instanceof DateTimeOffset && other.utcTicks === this.utcTicks
  }
  override hash(): unknown {
    return `offset:${this.utcTicks}`
  }
}

/** Ticks are 100 ns since 0001-01-01. The double modulo keeps the time of day positive before 1970. */
function partsOf(ticks: bigint): DateParts {
  const sinceEpoch = ticks - unixEpochTicks
  const inDay = ((sinceEpoch % ticksPerDay) + ticksPerDay) % ticksPerDay
  const date = new Date(Number((sinceEpoch - inDay) / ticksPerMs))
  const seconds = Number(inDay / 10_000_000n)
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: Math.floor(seconds / 3600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
    fraction: Number(inDay % 10_000_000n),
  }
}

/** The ticks of a local time. @throws ArgumentOutOfRangeException for an invalid time. */
export function ticksOf(parts: DateParts): bigint {
  const { year, month, day, hour, minute, second, fraction } = parts
  const wrong =
    year < 1 ||
    year > 9999 ||
    month < 1 ||
    month > 12 ||
    day < 1 ||
    day > daysInMonth(year, month) ||
    hour < 0 ||
    hour > 23 ||
    minute < 0 ||
    minute > 59 ||
    second < 0 ||
    second > 59
  if (wrong || ![year, month, day, hour, minute, second].every(Number.isInteger))
    throw new CsException(
      "ArgumentOutOfRangeException",
      "Year, Month, and Day parameters describe an un-representable DateTime.",
    )
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  return unixEpochTicks + BigInt(date.getTime()) * ticksPerMs + BigInt(fraction)
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

function addMonths(ticks: bigint, count: number): bigint {
  const parts = partsOf(ticks)
  const months = parts.year * 12 + parts.month - 1 + count
  const [year, month] = [Math.floor(months / 12), (((months % 12) + 12) % 12) + 1]
  // January 31 plus a month is the last day of February.
  return ticksOf({ ...parts, year, month, day: Math.min(parts.day, daysInMonth(year, month)) })
}
