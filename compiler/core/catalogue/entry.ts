/**
 * A row of the catalogue. `title` is the fixed headline, `help` the remedy shown with every finding, `why` the long text of `sallyport
 * explain CODE`.
 */
export interface CatalogueEntry {
  readonly severity: "error" | "warning" | "info"
  readonly title: string
  readonly help: string
  readonly why?: string
}

/** Checks the rows of one area, and keeps their codes as literal types. */
export function area<const Code extends `SP${number}`>(
  rows: Record<Code, CatalogueEntry>,
): Record<Code, CatalogueEntry> {
  return rows
}
