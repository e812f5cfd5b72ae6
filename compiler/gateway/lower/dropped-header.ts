import type { Report } from "../../core/diagnostic.ts"
import type { Span } from "../../core/source.ts"

/** Tells that a statement waits for a header which no request brings. */
export function reportDropped(name: string | null | undefined, at: Span, report: Report): void {
  if (name?.includes("_")) report.add("SP3042", at, `fields like \`${name}\` are dropped from requests`)
}
