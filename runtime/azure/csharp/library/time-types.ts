import { CsEnum } from "../collections.ts"
import type { OutPlace } from "../context-object.ts"
import type { DateParts } from "../date-format.ts"
import { formatDate } from "../date-format.ts"
import { parseDate, parseDateExact } from "../date-parse.ts"
import {
  type DateKind,
  DateTime,
  DateTimeOffset,
  daysInMonth,
  isLeapYear,
  ticksOf,
  unixEpochTicks,
} from "../date-time.ts"
import { CsException } from "../errors.ts"
import { currentHost } from "../run.ts"
import { declareType } from "../table.ts"
import {
  formatTimeSpan,
  parseTimeSpan,
  TimeSpan,
  ticksPerDay,
  ticksPerMs,
  ticksPerSecond,
} from "../time-span.ts"
import type { CsObject } from "../values.ts"
import { declareEnum } from "./object.ts"

type Row = (...values: never[]) => unknown
type Moment = DateTime | DateTimeOffset

const units: Readonly<Record<string, bigint>> = {
  Days: ticksPerDay,
  Hours: 36_000_000_000n,
  Minutes: 600_000_000n,
  Seconds: ticksPerSecond,
  Milliseconds: ticksPerMs,
}

/** Parses a DateTime. A text with an offset becomes a local time, which is UTC here; `Z` alone does not set the kind to UTC. */
export function readDateTime(text: string): DateTime {
  return ofParsed(parseDate(text))
}

function ofParsed(parsed: { ticks: bigint; offsetMinutes: number | undefined }): DateTime {
  return parsed.offsetMinutes === undefined
    ? new DateTime(parsed.ticks, "unspecified")
    : new DateTime(parsed.ticks - BigInt(parsed.offsetMinutes) * 600_000_000n, "local")
}

function readOffset(text: string): DateTimeOffset {
  const { ticks, offsetMinutes } = parseDate(text)
  return new DateTimeOffset(ticks, offsetMinutes ?? 0)
}

/** Applies `DateTimeStyles`. The local time zone of the gateway is UTC, so kinds change and ticks do not. */
function styled(moment: DateTime, styles: CsEnum | null): DateTime {
  if (styles?.has("AdjustToUniversal") === true || styles?.has("AssumeUniversal") === true)
    return new DateTime(
      moment.ticks,
      styles.has("AdjustToUniversal") || moment.kind === "local" ? "utc" : "local",
    )
  if (styles?.has("RoundtripKind") === true && moment.kind === "local")
    return new DateTime(moment.ticks, "utc")
  return moment
}

/** `TryParse`: false and the fallback for any text that `Parse` refuses. Limits are not C# exceptions and go on. */
function attempt<T>(read: () => T, out: OutPlace, fallback: T): boolean {
  try {
    out.set(read())
    return true
  } catch (error) {
    if (!(error instanceof CsException || error instanceof TypeError)) throw error
    out.set(fallback)
    return false
  }
}

const dateOf = (parts: Partial<DateParts>): bigint =>
  ticksOf({ year: 1, month: 1, day: 1, hour: 0, minute: 0, second: 0, fraction: 0, ...parts })

/** Common members of DateTime and DateTimeOffset; `type` is the one to declare. */
function shared(type: string): Record<string, Row> {
  const rows: Record<string, Row> = {
    "DayOfWeek: DayOfWeek": (self: Moment) => weekdays[Number((self.ticks / ticksPerDay + 1n) % 7n)],
    "DayOfYear: int": (self: Moment) =>
      Number((self.ticks - dateOf({ year: self.parts().year })) / ticksPerDay) + 1,
    "Millisecond: int": (self: Moment) => Math.floor(self.parts().fraction / 10_000),
    "Ticks: long": (self: Moment) => self.ticks,
    "TimeOfDay: TimeSpan": (self: Moment) => new TimeSpan(self.ticks % ticksPerDay),
    [`Add(TimeSpan span): ${type}`]: (self: Moment, span: TimeSpan) => self.plus(span.ticks),
    [`AddMonths(int count): ${type}`]: (self: Moment, count: number) => self.plusMonths(count),
    [`AddYears(int count): ${type}`]: (self: Moment, count: number) => self.plusMonths(count * 12),
    [`AddTicks(long count): ${type}`]: (self: Moment, count: bigint) => self.plus(count),
    [`CompareTo(${type} other): int`]: (self: Moment, other: Moment) => self.compareTo(other),
    [`Equals(${type} other): bool`]: (self: Moment, other: Moment) => self.same(other),
    "ToString(string format): string": (self: Moment, format: string | null) =>
      formatDate(self, format ?? ""),
    "ToString(IFormatProvider provider): string": (self: Moment) => self.text(),
    [`static Compare(${type} a, ${type} b): int`]: (a: Moment, b: Moment) => a.compareTo(b),
    [`Subtract(${type} other): TimeSpan`]: difference,
    [`Subtract(TimeSpan span): ${type}`]: (self: Moment, span: TimeSpan) => self.plus(-span.ticks),
    [`static op_Subtraction(${type} a, ${type} b): TimeSpan`]: difference,
    [`static op_Addition(${type} a, TimeSpan b): ${type}`]: (a: Moment, b: TimeSpan) => a.plus(b.ticks),
    [`static op_Subtraction(${type} a, TimeSpan b): ${type}`]: (a: Moment, b: TimeSpan) => a.plus(-b.ticks),
    ...comparing(type),
  }
  for (const [name, unit] of Object.entries(units))
    rows[`Add${name}(double count): ${type}`] = (self: Moment, count: number) => self.plusUnits(count, unit)
  for (const name of ["Year", "Month", "Day", "Hour", "Minute", "Second"])
    rows[`${name}: int`] = (self: Moment) => self.parts()[name.toLowerCase() as keyof DateParts]
  return rows
}

function difference(a: Moment, b: Moment): TimeSpan {
  if (a instanceof DateTimeOffset && b instanceof DateTimeOffset) return new TimeSpan(a.utcTicks - b.utcTicks)
  return new TimeSpan(a.ticks - b.ticks)
}

interface Ordered extends CsObject {
  compareTo(other: unknown): number
}

/** The comparison operators of a type with an order. */
export function comparing(type: string): Record<string, Row> {
  const parameters = `(${type} a, ${type} b): bool`
  return {
    [`static op_LessThan${parameters}`]: (a: Ordered, b: unknown) => a.compareTo(b) < 0,
    [`static op_LessThanOrEqual${parameters}`]: (a: Ordered, b: unknown) => a.compareTo(b) <= 0,
    [`static op_GreaterThan${parameters}`]: (a: Ordered, b: unknown) => a.compareTo(b) > 0,
    [`static op_GreaterThanOrEqual${parameters}`]: (a: Ordered, b: unknown) => a.compareTo(b) >= 0,
  }
}

const weekdayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const weekdays = weekdayNames.map((name, index) => new CsEnum("System.DayOfWeek", [name], index))
const kinds: Readonly<Record<string, DateKind>> = { Unspecified: "unspecified", Utc: "utc", Local: "local" }
const kindOf = (value: CsEnum): DateKind => kinds[value.names[0] as string] as DateKind

/** The clock of the host, so that tests can set it. */
const clock = {
  "static default(): DateTime": () => new DateTime(0n, "unspecified"),
  "static UtcNow: DateTime": () => DateTime.fromMs(currentHost().nowMs(), "utc"),
  "static Now: DateTime": () => DateTime.fromMs(currentHost().nowMs(), "local"),
  "static Today: DateTime": () => today(),
  "static MinValue: DateTime": () => new DateTime(0n, "unspecified"),
  "static MaxValue: DateTime": () => new DateTime(3_155_378_975_999_999_999n, "unspecified"),
  "static UnixEpoch: DateTime": () => new DateTime(unixEpochTicks, "utc"),
}

function today(): DateTime {
  const now = DateTime.fromMs(currentHost().nowMs(), "local")
  return now.plus(-(now.ticks % ticksPerDay))
}

/** Members of `DateTime`. */
const dateTimeRows: Record<string, (...values: never[]) => unknown> = {
  ...shared("DateTime"),
  ...clock,
  "static Parse(string text): DateTime": readDateTime,
  "static Parse(string text, IFormatProvider provider): DateTime": readDateTime,
  "static Parse(string text, IFormatProvider provider, DateTimeStyles styles): DateTime": (
    text: string,
    _p: unknown,
    styles: CsEnum,
  ) => styled(readDateTime(text), styles),
  "static ParseExact(string text, string format, IFormatProvider provider): DateTime": (
    text: string,
    format: string,
  ) => ofParsed(parseDateExact(text, format)),
  "static ParseExact(string text, string format, IFormatProvider provider, DateTimeStyles styles): DateTime":
    (text: string, format: string, _p: unknown, styles: CsEnum) =>
      styled(ofParsed(parseDateExact(text, format)), styles),
  "static TryParse(string text, out DateTime result): bool": (text: string, out: OutPlace) =>
    attempt(() => readDateTime(text), out, new DateTime(0n, "unspecified")),
  "static TryParse(string text, IFormatProvider provider, DateTimeStyles styles, out DateTime result): bool":
    (text: string, _p: unknown, styles: CsEnum, out: OutPlace) =>
      attempt(() => styled(readDateTime(text), styles), out, new DateTime(0n, "unspecified")),
  "static TryParseExact(string text, string format, IFormatProvider provider, DateTimeStyles styles, out DateTime result): bool":
    (text: string, format: string, _p: unknown, styles: CsEnum, out: OutPlace) =>
      attempt(
        () => styled(ofParsed(parseDateExact(text, format)), styles),
        out,
        new DateTime(0n, "unspecified"),
      ),
  "static DaysInMonth(int year, int month): int": daysInMonth,
  "static IsLeapYear(int year): bool": isLeapYear,
  "static SpecifyKind(DateTime value, DateTimeKind kind): DateTime": (value: DateTime, kind: CsEnum) =>
    new DateTime(value.ticks, kindOf(kind)),
  "static op_Implicit(DateTime value): DateTimeOffset": (value: DateTime) =>
    new DateTimeOffset(value.ticks, 0),
  "new(): DateTime": () => new DateTime(0n, "unspecified"),
  "new(long ticks): DateTime": (ticks: bigint) => new DateTime(ticks, "unspecified"),
  "new(long ticks, DateTimeKind kind): DateTime": (ticks: bigint, kind: CsEnum) =>
    new DateTime(ticks, kindOf(kind)),
  "new(int year, int month, int day): DateTime": (year: number, month: number, day: number) =>
    new DateTime(dateOf({ year, month, day }), "unspecified"),
  "new(int year, int month, int day, int hour, int minute, int second): DateTime": (...p: number[]) =>
    fromParts(p, undefined),
  "new(int year, int month, int day, int hour, int minute, int second, DateTimeKind kind): DateTime": (
    ...p: (number | CsEnum)[]
  ) => fromParts(p.slice(0, 6) as number[], p[6] as CsEnum),
  "new(int year, int month, int day, int hour, int minute, int second, int millisecond, DateTimeKind kind): DateTime":
    (...p: (number | CsEnum)[]) => fromParts(p.slice(0, 7) as number[], p[7] as CsEnum),
  "Date: DateTime": (self: DateTime) => self.plus(-(self.ticks % ticksPerDay)),
  "Kind: DateTimeKind": (self: DateTime) =>
    new CsEnum(
      "System.DateTimeKind",
      [Object.keys(kinds).find((name) => kinds[name] === self.kind) as string],
      Object.values(kinds).indexOf(self.kind),
    ),
  "ToUniversalTime(): DateTime": (self: DateTime) => new DateTime(self.ticks, "utc"),
  "ToLocalTime(): DateTime": (self: DateTime) => new DateTime(self.ticks, "local"),
  "ToShortDateString(): string": (self: DateTime) => formatDate(self, "d"),
  "ToLongDateString(): string": (self: DateTime) => formatDate(self, "D"),
  "ToShortTimeString(): string": (self: DateTime) => formatDate(self, "t"),
  "ToLongTimeString(): string": (self: DateTime) => formatDate(self, "T"),
  "ToFileTimeUtc(): long": (self: DateTime) => self.ticks - 504_911_232_000_000_000n,
}

function declareDateTime(): void {
  declareType(
    "DateTime",
    { value: true, bases: ["IFormattable"], holds: (value) => value instanceof DateTime },
    dateTimeRows,
  )
}

/** A date from year, month, day, hour, minute, second, millisecond. Values outside of the calendar throw. */
function fromParts(p: readonly number[], kind: CsEnum | undefined): DateTime {
  const [year, month, day, hour, minute, second, millisecond = 0] = p as [
    number,
    number,
    number,
    number,
    number,
    number,
    number?,
  ]
  return new DateTime(
    ticksOf({ year, month, day, hour, minute, second, fraction: millisecond * 10_000 }),
    kind === undefined ? "unspecified" : kindOf(kind),
  )
}

const offsetMinutesOf = (span: TimeSpan): number => Number(span.ticks / 600_000_000n)

function declareDateTimeOffset(): void {
  const fallback = new DateTimeOffset(0n, 0)
  declareType(
    "DateTimeOffset",
    { value: true, bases: ["IFormattable"], holds: (value) => value instanceof DateTimeOffset },
    {
      ...shared("DateTimeOffset"),
      "static default(): DateTimeOffset": () => fallback,
      "static UtcNow: DateTimeOffset": () => DateTimeOffset.fromMs(currentHost().nowMs()),
      "static Now: DateTimeOffset": () => DateTimeOffset.fromMs(currentHost().nowMs()),
      "static MinValue: DateTimeOffset": () => fallback,
      "static MaxValue: DateTimeOffset": () => new DateTimeOffset(3_155_378_975_999_999_999n, 0),
      "static UnixEpoch: DateTimeOffset": () => DateTimeOffset.fromMs(0),
      "static FromUnixTimeSeconds(long seconds): DateTimeOffset": (seconds: bigint) =>
        DateTimeOffset.fromMs(seconds * 1000n),
      "static FromUnixTimeMilliseconds(long ms): DateTimeOffset": (ms: bigint) => DateTimeOffset.fromMs(ms),
      "static Parse(string text): DateTimeOffset": readOffset,
      "static Parse(string text, IFormatProvider provider): DateTimeOffset": readOffset,
      "static Parse(string text, IFormatProvider provider, DateTimeStyles styles): DateTimeOffset":
        readOffset,
      "static ParseExact(string text, string format, IFormatProvider provider): DateTimeOffset": (
        text: string,
        format: string,
      ) => {
        const { ticks, offsetMinutes } = parseDateExact(text, format)
        return new DateTimeOffset(ticks, offsetMinutes ?? 0)
      },
      "static TryParse(string text, out DateTimeOffset result): bool": (text: string, out: OutPlace) =>
        attempt(() => readOffset(text), out, fallback),
      "new(DateTime value): DateTimeOffset": (value: DateTime) => new DateTimeOffset(value.ticks, 0),
      "new(DateTime value, TimeSpan offset): DateTimeOffset": (value: DateTime, offset: TimeSpan) =>
        new DateTimeOffset(value.ticks, offsetMinutesOf(offset)),
      "new(int year, int month, int day, int hour, int minute, int second, TimeSpan offset): DateTimeOffset":
        (...p: (number | TimeSpan)[]) =>
          new DateTimeOffset(
            fromParts(p.slice(0, 6) as number[], undefined).ticks,
            offsetMinutesOf(p[6] as TimeSpan),
          ),
      "Date: DateTime": (self: DateTimeOffset) =>
        new DateTime(self.ticks - (self.ticks % ticksPerDay), "unspecified"),
      "DateTime: DateTime": (self: DateTimeOffset) => new DateTime(self.ticks, "unspecified"),
      "UtcDateTime: DateTime": (self: DateTimeOffset) => new DateTime(self.utcTicks, "utc"),
      "LocalDateTime: DateTime": (self: DateTimeOffset) => new DateTime(self.utcTicks, "local"),
      "Offset: TimeSpan": (self: DateTimeOffset) => new TimeSpan(BigInt(self.offsetMinutes) * 600_000_000n),
      "UtcTicks: long": (self: DateTimeOffset) => self.utcTicks,
      "ToUnixTimeSeconds(): long": (self: DateTimeOffset) => self.unix(ticksPerSecond),
      "ToUnixTimeMilliseconds(): long": (self: DateTimeOffset) => self.unix(ticksPerMs),
      "ToUniversalTime(): DateTimeOffset": (self: DateTimeOffset) => self.toOffset(0),
      "ToLocalTime(): DateTimeOffset": (self: DateTimeOffset) => self.toOffset(0),
      "ToOffset(TimeSpan offset): DateTimeOffset": (self: DateTimeOffset, offset: TimeSpan) =>
        self.toOffset(offsetMinutesOf(offset)),
    },
  )
}

/** `TimeSpan`: 64 bits of ticks of 100 ns. */
function declareTimeSpan(): void {
  const rows: Record<string, Row> = {
    "static default(): TimeSpan": () => new TimeSpan(0n),
    "static Zero: TimeSpan": () => new TimeSpan(0n),
    "static MaxValue: TimeSpan": () => new TimeSpan(2n ** 63n - 1n),
    "static MinValue: TimeSpan": () => new TimeSpan(-(2n ** 63n)),
    "static FromTicks(long ticks): TimeSpan": (ticks: bigint) => new TimeSpan(ticks),
    "static TicksPerSecond: long": () => ticksPerSecond,
    "static Parse(string text): TimeSpan": parseTimeSpan,
    "static TryParse(string text, out TimeSpan result): bool": (text: string, out: OutPlace) =>
      attempt(() => parseTimeSpan(text), out, new TimeSpan(0n)),
    "new(int hours, int minutes, int seconds): TimeSpan": (...p: number[]) => span([0, ...p]),
    "new(int days, int hours, int minutes, int seconds): TimeSpan": (...p: number[]) => span(p),
    "new(int days, int hours, int minutes, int seconds, int milliseconds): TimeSpan": (...p: number[]) =>
      span(p),
    "new(long ticks): TimeSpan": (ticks: bigint) => new TimeSpan(ticks),
    "Ticks: long": (self: TimeSpan) => self.ticks,
    "Days: int": (self: TimeSpan) => Number(self.ticks / ticksPerDay),
    "Hours: int": (self: TimeSpan) => self.part(36_000_000_000n, 24n),
    "Minutes: int": (self: TimeSpan) => self.part(600_000_000n, 60n),
    "Seconds: int": (self: TimeSpan) => self.part(ticksPerSecond, 60n),
    "Milliseconds: int": (self: TimeSpan) => self.part(ticksPerMs, 1000n),
    "Add(TimeSpan other): TimeSpan": plus,
    "Subtract(TimeSpan other): TimeSpan": (a: TimeSpan, b: TimeSpan) => new TimeSpan(a.ticks - b.ticks),
    "Negate(): TimeSpan": (self: TimeSpan) => new TimeSpan(-self.ticks),
    "Duration(): TimeSpan": (self: TimeSpan) => new TimeSpan(self.ticks < 0n ? -self.ticks : self.ticks),
    "CompareTo(TimeSpan other): int": (self: TimeSpan, other: TimeSpan) => self.compareTo(other),
    "ToString(string format): string": (self: TimeSpan, format: string | null) =>
      formatTimeSpan(self, format ?? ""),
    "static op_Addition(TimeSpan a, TimeSpan b): TimeSpan": plus,
    "static op_Subtraction(TimeSpan a, TimeSpan b): TimeSpan": (a: TimeSpan, b: TimeSpan) =>
      new TimeSpan(a.ticks - b.ticks),
    "static op_UnaryNegation(TimeSpan a): TimeSpan": (a: TimeSpan) => new TimeSpan(-a.ticks),
    ...comparing("TimeSpan"),
  }
  for (const [name, unit] of Object.entries(units)) {
    rows[`static From${name}(double count): TimeSpan`] = (count: number) => TimeSpan.of(count, unit)
    rows[`Total${name}: double`] = (self: TimeSpan) => self.total(unit)
  }
  declareType(
    "TimeSpan",
    { value: true, bases: ["IFormattable"], holds: (value) => value instanceof TimeSpan },
    rows,
  )
}

function plus(a: TimeSpan, b: TimeSpan): TimeSpan {
  return new TimeSpan(a.ticks + b.ticks)
}

function span([days = 0, hours = 0, minutes = 0, seconds = 0, ms = 0]: readonly number[]): TimeSpan {
  return new TimeSpan(
    BigInt(((days * 24 + hours) * 60 + minutes) * 60 + seconds) * ticksPerSecond + BigInt(ms) * ticksPerMs,
  )
}

/** DateTime, DateTimeOffset, TimeSpan. */
export function declareTime(): void {
  declareDateTime()
  declareDateTimeOffset()
  declareTimeSpan()
  declareEnum("DayOfWeek", "System", Object.fromEntries(weekdayNames.map((name, index) => [name, index])))
  declareEnum("DateTimeKind", "System", { Unspecified: 0, Utc: 1, Local: 2 })
  declareEnum("DateTimeStyles", "System.Globalization", {
    None: 0,
    AllowWhiteSpaces: 7,
    AssumeLocal: 32,
    AssumeUniversal: 64,
    AdjustToUniversal: 16,
    RoundtripKind: 128,
  })
}
