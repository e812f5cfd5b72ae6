import { formatDate } from "./date-format.ts"
import { parseDate } from "./date-parse.ts"
import { DateTime } from "./date-time.ts"
import { CsException } from "./errors.ts"
import { budgeted } from "./run.ts"

/**
 * The time a text says (ISO 8601 or one of .NET's ways), in a format of .NET: `yyyy-MM-dd`, `o`. Times with an offset are written in UTC. Undefined for a text that says none.
 * @throws Error for a format there is not
 */
export function formatDateText(text: string, format: string): string | undefined {
  return budgeted(() => {
    const moment = momentOf(text)
    return moment === undefined ? undefined : written(moment, format)
  })
}

/** Why a text is no format of .NET for times; undefined for one that is. */
export function problemOfDateFormat(format: string): string | undefined {
  try {
    budgeted(() => written(DateTime.fromMs(0, "utc"), format))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Undefined where no time is said. The local zone is UTC. */
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
