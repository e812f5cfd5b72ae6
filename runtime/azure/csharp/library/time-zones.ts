import { DateTime, type DateTimeOffset, ticksOf, unixEpochTicks } from "../date-time.ts"
import { argumentNull, CsException } from "../errors.ts"
import { charge } from "../run.ts"
import { declareType } from "../table.ts"
import { TimeSpan, ticksPerMs } from "../time-span.ts"
import { CsObject } from "../values.ts"
import { timeZoneName } from "../windows-zones.ts"

const ticksPerMinute = 600_000_000n
const zonesMax = 500
const zones = new Map<string, Zone>()

/** System.TimeZoneInfo, from the time zone database of Node.js. */
class Zone extends CsObject {
  readonly typeName = "System.TimeZoneInfo"
  readonly id: string
  readonly #clock: Intl.DateTimeFormat | undefined

  /** `name` is the IANA name. UTC needs no formatter, which costs most of the time of a conversion. */
  constructor(id: string, name: string) {
    super()
    this.id = id
    const numbers = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric" } as const
    this.#clock =
      name === "UTC"
        ? undefined
        : new Intl.DateTimeFormat("en-US", {
            ...{ ...numbers, minute: "numeric", second: "numeric", era: "short" },
            ...{ timeZone: name, hourCycle: "h23", calendar: "gregory" },
          })
  }

  /** Offset from UTC in minutes at an instant. */
  offsetAt(utcTicks: bigint): number {
    if (this.#clock === undefined) return 0
    charge(50)
    const ms = Number((utcTicks - unixEpochTicks) / ticksPerMs)
    const parts = new Map(this.#clock.formatToParts(ms).map(({ type, value }) => [type, value]))
    const read = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type))
    // At the earliest ticks, zones west of Greenwich are still in the year before year 1.
    if (parts.get("era") !== "AD") return 0
    const clock = ticksOf({
      ...{ year: read("year"), month: read("month"), day: read("day"), hour: read("hour") },
      ...{ minute: read("minute"), second: read("second"), fraction: 0 },
    })
    return Math.round(Number((clock - utcTicks) / ticksPerMs) / 60_000)
  }

  /** Offset from UTC in minutes for a local time. If the local time occurs twice, it is the second one, because .NET assumes standard time. */
  offsetOf(clockTicks: bigint): number {
    const [early, late] = [this.offsetAt(clockTicks - DAY), this.offsetAt(clockTicks + DAY)]
    const fits = (offset: number): boolean =>
      this.offsetAt(clockTicks - BigInt(offset) * ticksPerMinute) === offset
    const [first, second] = early < late ? [early, late] : [late, early]
    return fits(first) || !fits(second) ? first : second
  }

  /** The offset without daylight saving time: the smaller offset of the year. */
  standardOffset(utcTicks: bigint): number {
    const half = 182n * DAY
    return Math.min(
      this.offsetAt(utcTicks),
      this.offsetAt(utcTicks < half ? utcTicks + half : utcTicks - half),
    )
  }

  override text(): string {
    return this.id
  }
}

const DAY = 864_000_000_000n
/** The time at which `BaseUtcOffset` is computed: in 1970 some zones had other offsets. */
const recently = ticksOf({ year: 2024, month: 1, day: 1, hour: 0, minute: 0, second: 0, fraction: 0 })
const utc = new Zone("UTC", "UTC")

/** A zone by its Windows or IANA id. Formatters are slow to make and are kept; the oldest is dropped when there are too many. */
function zoneOf(id: string | null): Zone {
  if (id === null) throw argumentNull("id")
  const known = zones.get(id)
  if (known !== undefined) return known
  charge(2000)
  const name = timeZoneName(id)
  if (name === undefined)
    throw new CsException(
      "TimeZoneNotFoundException",
      `The time zone ID '${id.slice(0, 100)}' was not found on the local computer.`,
    )
  if (zones.size >= zonesMax) zones.delete(zones.keys().next().value as string)
  const made = new Zone(id, name)
  zones.set(id, made)
  return made
}

function fromUtc(time: DateTime, zone: Zone): DateTime {
  if (zone === utc) return new DateTime(time.ticks, "utc")
  return new DateTime(time.ticks + BigInt(zone.offsetAt(time.ticks)) * ticksPerMinute, "unspecified")
}

function toUtc(time: DateTime, zone: Zone): DateTime {
  const offset = time.kind === "utc" ? 0 : zone.offsetOf(time.ticks)
  return new DateTime(time.ticks - BigInt(offset) * ticksPerMinute, "utc")
}

function at(time: DateTimeOffset, zone: Zone): DateTimeOffset {
  return time.toOffset(zone.offsetAt(time.utcTicks))
}

function minutes(count: number): TimeSpan {
  return new TimeSpan(BigInt(count) * ticksPerMinute)
}

function offsetFor(zone: Zone, time: DateTime): number {
  return time.kind === "unspecified" ? zone.offsetOf(time.ticks) : zone.offsetAt(time.ticks)
}

/** TimeZoneInfo, by the names of Windows and of the time zone database. The zone of the gateway is UTC. */
export function declareTimeZones(): void {
  declareType(
    "TimeZoneInfo",
    { holds: (value) => value instanceof Zone },
    {
      "static Utc: TimeZoneInfo": () => utc,
      "static Local: TimeZoneInfo": () => utc,
      "static FindSystemTimeZoneById(string id): TimeZoneInfo": zoneOf,
      "static ConvertTimeFromUtc(DateTime time, TimeZoneInfo zone): DateTime": fromUtc,
      "static ConvertTimeToUtc(DateTime time): DateTime": (time: DateTime) => toUtc(time, utc),
      "static ConvertTimeToUtc(DateTime time, TimeZoneInfo zone): DateTime": toUtc,
      "static ConvertTime(DateTime time, TimeZoneInfo zone): DateTime": (time: DateTime, zone: Zone) =>
        fromUtc(toUtc(time, utc), zone),
      "static ConvertTime(DateTime time, TimeZoneInfo from, TimeZoneInfo to): DateTime": (
        time: DateTime,
        from: Zone,
        to: Zone,
      ) => fromUtc(toUtc(time, from), to),
      "static ConvertTime(DateTimeOffset time, TimeZoneInfo zone): DateTimeOffset": at,
      "static ConvertTimeBySystemTimeZoneId(DateTime time, string id): DateTime": (
        time: DateTime,
        id: string,
      ) => fromUtc(toUtc(time, utc), zoneOf(id)),
      "static ConvertTimeBySystemTimeZoneId(DateTime time, string from, string to): DateTime": (
        time: DateTime,
        from: string,
        to: string,
      ) => fromUtc(toUtc(time, zoneOf(from)), zoneOf(to)),
      "static ConvertTimeBySystemTimeZoneId(DateTimeOffset time, string id): DateTimeOffset": (
        time: DateTimeOffset,
        id: string,
      ) => at(time, zoneOf(id)),
      "Id: string": (self: Zone) => self.id,
      "StandardName: string": (self: Zone) => self.id,
      "DisplayName: string": (self: Zone) => self.id,
      "BaseUtcOffset: TimeSpan": (self: Zone) => minutes(self.standardOffset(recently)),
      "GetUtcOffset(DateTime time): TimeSpan": (self: Zone, time: DateTime) => minutes(offsetFor(self, time)),
      "GetUtcOffset(DateTimeOffset time): TimeSpan": (self: Zone, time: DateTimeOffset) =>
        minutes(self.offsetAt(time.utcTicks)),
      "IsDaylightSavingTime(DateTime time): bool": (self: Zone, time: DateTime) =>
        offsetFor(self, time) !== self.standardOffset(time.ticks),
    },
  )
}
