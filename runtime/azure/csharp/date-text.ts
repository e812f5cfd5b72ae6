import { formatDate } from "./date-format.ts"
import { parseDate } from "./date-parse.ts"
import { DateTime } from "./date-time.ts"
import { CsException } from "./errors.ts"
import { budgeted } from "./run.ts"

/**
 * Formats the time in a text (ISO 8601 or a .NET format) with a .NET format: `yyyy-MM-dd`, `o`. Times with an offset are written in UTC. Undefined if
 * the text contains no time.
 * @throws Error for an invalid format
 */
export function formatDateText(text: string, format: string): string | undefined {
  return budgeted(() => {
    const moment = momentOf(text)
    return moment === undefined ? undefined : written(moment, format)
  })
}

/** Why a text is not a valid .NET format for times; undefined if it is valid. */
export function problemOfDateFormat(format: string): string | undefined {
  try {
    budgeted(() => written(DateTime.fromMs(0, "utc"), format))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Undefined if the text contains no time. The local zone is UTC. */
function momentOf(text: string): DateTime | undefined {
  if (/^(?:now|today)$/i.test(text.trim())) return DateTime.fromMs(Date.now(), "local")
  try {
    const { ticks, offsetMinutes } = parseDate(text)
    return offsetMinutes === undefined
      ? new DateTime(ticks, "unspecified")
      : new DateTime(ticks - BigInt(offsetMinutes) * 600_000_000n, "local")
  } catch (error) {
    if (error instanceof CsException) return undefined
    throw error
  }
}

function written(moment: DateTime, format: string): string {
  try {
    return formatDate(moment, format)
  } catch {
    throw new Error(`\`${format.slice(0, 100)}\` is not a valid time format`)
  }
}
