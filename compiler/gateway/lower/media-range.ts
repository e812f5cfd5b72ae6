import { mediaRange } from "../../../runtime/plan/http-syntax.ts"
import type { Report } from "../../core/diagnostic.ts"
import { shown } from "../../core/shown.ts"
import type { Filled } from "../bind/bound.ts"

/** A media type or range in lower case. Reported if invalid; the reader of plans has the same rule, but no place for it. */
export function lowerMediaRange({ argument, value }: Filled, report: Report): string | undefined {
  const media = (value as string).trim().toLowerCase()
  if (mediaRange.safeParse(media).success) return media
  report.add("SP2040", argument.span, `\`${shown(media)}\` is not a media type`)
  return undefined
}
