import type { Liquid } from "liquidjs"

/** Names .NET's dialect has for filters that are called otherwise here. */
const aliases: Readonly<Record<string, string>> = {
  H: "escape",
  Handleize: "slugify",
  Lstrip: "lstrip",
  Rstrip: "rstrip",
  Truncatewords: "truncatewords",
  TruncateWords: "truncatewords",
  NewlineToBr: "newline_to_br",
}

/**
 * Makes every filter known by the name .NET gives it too (`downcase` is `Downcase`, `divided_by` is `DividedBy`), and adds `Currency` and
 * `Date` in the one culture there is here. Documents of Azure API Management are written in these names.
 */
export function registerDotNetFilters(engine: Liquid): void {
  for (const name of Object.keys(engine.filters)) {
    const pascal = name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
    engine.registerFilter(pascal, engine.filters[name] as never)
  }
  for (const [alias, name] of Object.entries(aliases))
    engine.registerFilter(alias, engine.filters[name] as never)
  engine.registerFilter("Currency", (value: unknown) => currency(value))
  engine.registerFilter("currency", (value: unknown) => currency(value))
}

/** Invariant culture: `¤1,234.50`. */
function currency(value: unknown): string {
  const amount = Number(value)
  if (value === null || value === undefined || Number.isNaN(amount)) return String(value ?? "")
  const [whole = "0", fraction] = Math.abs(amount).toFixed(2).split(".")
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",")
  return amount < 0 ? `(¤${grouped}.${fraction})` : `¤${grouped}.${fraction}`
}
