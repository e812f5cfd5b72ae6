import type { Liquid } from "liquidjs"
import { formatDateText, problemOfDateFormat } from "../csharp/date-text.ts"
import type { FilterScope } from "./bounds.ts"
import { markup } from "./dotnet-source.ts"

type Handler = (this: FilterScope, ...values: unknown[]) => unknown

/** A format of .NET has one `%` at most, at its beginning: `%d`. All others are those of `strftime`: `%Y-%m-%d`. */
function isStrftime(format: string, name: string): boolean {
  return format.includes("%") && !(name === "Date" && /^%.$/.test(format))
}

/** `Date` and `date` take formats of .NET (`yyyy-MM-dd`) besides those of `strftime`. A text that says no time stays as it is. */
export function registerDates(engine: Liquid): void {
  for (const name of ["date", "Date"]) {
    const filter = engine.filters[name]
    const known = (typeof filter === "function" ? filter : filter?.handler) as Handler
    engine.registerFilter(name, function (this: FilterScope, value: unknown, ...rest: unknown[]) {
      const [format] = rest
      if (typeof format !== "string" || format.trim() === "" || isStrftime(format, name))
        return known.call(this, value, ...rest)
      if (value === null || value === undefined) return ""
      const text = value instanceof Date ? value.toISOString() : String(value)
      return formatDateText(text, format) ?? text
    } as Handler)
  }
}

const dates = /\|\s*(Date|date)\s*:\s*(?:"([^"]*)"|'([^']*)')/g
const cultures = /\|\s*[Cc]urrency\s*:/g

/** The first format that is none, or argument that nothing could follow, of a template, and where it stands. */
export function problemOfFormats(source: string): { message: string; offset: number } | undefined {
  for (const { 0: part, index } of source.matchAll(markup)) {
    if (/^\{%-?\s*raw/.test(part)) continue
    for (const found of part.matchAll(dates)) {
      const [all, name = "", double, single] = found
      const format = double ?? single ?? ""
      const problem = format === "" || isStrftime(format, name) ? undefined : problemOfDateFormat(format)
      if (problem !== undefined)
        return { message: problem, offset: index + found.index + all.length - format.length - 1 }
    }
    const culture = cultures.exec(part)
    cultures.lastIndex = 0
    if (culture !== null)
      return {
        message: "`Currency` takes no culture: there is one culture here, the invariant one",
        offset: index + culture.index + 1,
      }
  }
  return undefined
}
