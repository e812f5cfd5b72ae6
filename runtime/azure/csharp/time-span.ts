import { badFormat, overflow } from "./errors.ts"
import { CsObject } from "./values.ts"

export const ticksPerMs = 10_000n
export const ticksPerSecond = 10_000_000n
export const ticksPerDay = 864_000_000_000n

/** System.TimeSpan: units of 100 ns. */
export class TimeSpan extends CsObject {
  readonly typeName = "System.TimeSpan"
  readonly ticks: bigint

  constructor(ticks: bigint) {
    super()
    if (BigInt.asIntN(64, ticks) !== ticks)
      throw overflow("TimeSpan overflowed because the duration is too long.")
    this.ticks = ticks
  }
  /** `count` units of `unit` ticks, rounded to the tick. */
  static of(count: number, unit: bigint): TimeSpan {
    const ticks = Math.round(count * Number(unit))
    if (!Number.isFinite(ticks)) throw overflow("TimeSpan overflowed because the duration is too long.")
    return new TimeSpan(BigInt(ticks))
  }
  total(unit: bigint): number {
    return Number(this.ticks) / Number(unit)
  }
  /** The component of a unit, of which `modulus` make the next larger unit. */
  part(unit: bigint, modulus: bigint): number {
    return Number((this.ticks / unit) % modulus)
  }
  compareTo(other: unknown): number {
    const { ticks } = other as TimeSpan
    return this.ticks < ticks ? -1 : this.ticks > ticks ? 1 : 0
  }
  override text(): string {
    return formatTimeSpan(this, "c")
  }
  override same(other: unknown): boolean {
    return other instanceof TimeSpan && other.ticks === this.ticks
  }
  override hash(): unknown {
    return `span:${this.ticks}`
  }
}

const two = (value: number): string => String(Math.abs(value)).padStart(2, "0")

/** Standard formats c, g, G and custom ones (`hh\:mm\:ss`). */
export function formatTimeSpan(span: TimeSpan, format: string): string {
  const days = span.ticks / ticksPerDay
  const [hours, minutes, seconds] = [
    span.part(36_000_000_000n, 24n),
    span.part(600_000_000n, 60n),
    span.part(ticksPerSecond, 60n),
  ]
  const fraction = String(Math.abs(span.part(1n, ticksPerSecond))).padStart(7, "0")
  const sign = span.ticks < 0n ? "-" : ""
  const day = days < 0n ? -days : days
  if (["", "c", "t", "T"].includes(format))
    return `${sign}${day === 0n ? "" : `${day}.`}${two(hours)}:${two(minutes)}:${two(seconds)}${fraction === "0000000" ? "" : `.${fraction}`}`
  if (format === "g" || format === "G") {
    const long = format === "G"
    const tail = long ? `.${fraction}` : fraction.replace(/0+$/, "").replace(/^(?=.)/, ".")
    const head = day === 0n && !long ? "" : `${day}:`
    return `${sign}${head}${long ? two(hours) : Math.abs(hours)}:${two(minutes)}:${two(seconds)}${tail}`
  }
  const fields: Readonly<Record<string, number>> = { d: Number(day), h: hours, m: minutes, s: seconds }
  const custom = /\\[\s\S]|'[^']*'|"[^"]*"|d{1,8}|h{1,2}|m{1,2}|s{1,2}|f{1,7}|F{1,7}|[\s\S]/g
  return (format.match(custom) ?? [])
    .map((piece) => {
      if (piece.startsWith("\\")) return piece.slice(1)
      if (/^['"]/.test(piece)) return piece.slice(1, -1)
      if (piece.startsWith("f")) return fraction.slice(0, piece.length)
      if (piece.startsWith("F")) return fraction.slice(0, piece.length).replace(/0+$/, "")
      const value = Object.hasOwn(fields, piece[0] as string) ? fields[piece[0] as string] : undefined
      if (value === undefined) throw badFormat()
      return String(Math.abs(value)).padStart(piece.length, "0")
    })
    .join("")
}

/** `[-][d.]hh:mm[:ss[.fffffff]]`, or days alone. @throws FormatException */
export function parseTimeSpan(text: string): TimeSpan {
  const shown = `String '${text}' was not recognized as a valid TimeSpan.`
  const found =
    /^\s*(-)?(?:(\d{1,8})[.:](?=\d+:\d+:))?(?:(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,7}))?)?|(\d{1,8}))\s*$/.exec(
      text,
    )
  if (found === null) throw badFormat(shown)
  const [, minus, days, hours = "0", minutes = "0", seconds = "0", part = "", alone] = found
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59)
    throw overflow(
      "The TimeSpan string could not be parsed because at least one of the numeric components is out of range or contains too many digits.",
    )
  const total =
    BigInt(days ?? alone ?? "0") * ticksPerDay +
    ((BigInt(hours) * 60n + BigInt(minutes)) * 60n + BigInt(seconds)) * ticksPerSecond +
    BigInt(part.padEnd(7, "0"))
  return new TimeSpan(minus === undefined ? total : -total)
}
