const units = ["B", "KB", "MB", "GB", "TB"]

/** A size with three digits and its unit. `base`: 1024 for sizes of gateway.conf, where `1MB` is 1,048,576 bytes. */
export function sizeText(bytes: number, base: 1000 | 1024 = 1000): string {
  let value = bytes
  let unit = 0
  while (value >= base - 0.5 && unit < units.length - 1) {
    value /= base
    unit += 1
  }
  return `${digits(value)} ${units[unit]}`
}

/** A number with about three digits. */
export function digits(value: number): string {
  if (value === 0) return "0"
  const size = Math.abs(value)
  if (size >= 1000) return Math.round(value).toLocaleString("en")
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2)
}

/** Milliseconds; null: nothing was measured. */
export function msText(ms: number | null): string {
  if (ms === null) return "–"
  return ms >= 1000 ? `${digits(ms / 1000)} s` : `${digits(ms)} ms`
}

/** How long ago a time was. */
export function agoText(at: string, now: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

const moments = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })

/** A time in the reader's zone. */
export function momentText(at: string): string {
  return moments.format(new Date(at))
}

/** `1 process`, `2 processes`. */
export function counted(count: number, one: string, many: string = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`
}

const longer = [
  [86_400, "day"],
  [3_600, "hour"],
] as const

/** A period, as it follows `per`: `60 s`, `15 min`, `day`, `30 days`. */
export function periodText(seconds: number): string {
  for (const [length, name] of longer)
    if (seconds >= length && seconds % length === 0)
      return seconds === length ? name : counted(seconds / length, name)
  return seconds > 60 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds.toLocaleString("en")} s`
}
