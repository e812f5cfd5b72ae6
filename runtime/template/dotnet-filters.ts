import type { Liquid } from "liquidjs"
import type { RE2JS } from "re2js"
import { CountedText } from "../csharp/counted-text.ts"
import { compilePattern, expandReplacement } from "../csharp/pattern.ts"
import { type FilterScope, workOf } from "./bounds.ts"

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
 * Makes every filter known by the name .NET gives it too (`downcase` is `Downcase`, `divided_by` is `DividedBy`), and adds `Currency`
 * in the one culture there is here. `Replace` looks for a pattern, as in .NET; `replace` for the text itself. Documents of Azure API Management are written in these names.
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
  engine.registerFilter("Replace", replace)
}

const patternTextMax = 1_048_576
const patternsMax = 200
const patterns = new Map<string, RE2JS>()

/** One search takes at most the text times the states of the program, and nothing else is done meanwhile. */
const searchWorkMax = 4_000_000
/** All searches of one `Replace`: units looked at times states. */
const patternWorkMax = 40_000_000
/** Work of a pattern that counts as a unit of the template's. */
const workOfUnit = 4

function* replace(
  this: FilterScope,
  value: unknown,
  pattern: unknown,
  replacement: unknown = "",
): Generator<undefined, string> {
  const text = String(value ?? "")
  if (text === "" || String(pattern ?? "") === "") return text
  if (text.length > patternTextMax) throw new Error(`Replace takes up to ${patternTextMax} characters`)
  const compiled = patternOf(String(pattern))
  const size = compiled.programSize()
  if (text.length * size > searchWorkMax)
    throw new Error(`the pattern is too large for a text of ${text.length} characters`)
  const { context } = this
  const tooMuch = (): Error => new Error("the pattern looks at the text too often")
  const counted = new CountedText(text, patternWorkMax / size, tooMuch)
  const matcher = compiled.matcher(counted as unknown as string)
  const by = String(replacement ?? "")
  let made = ""
  let from = 0
  let read = 0
  while (matcher.find()) {
    const piece = text.slice(from, matcher.start()) + expandReplacement(by, groupOf)
    context.memoryLimit.use(piece.length + 1)
    made += piece
    from = matcher.end()
    workOf(context).pay(((counted.read - read) * size) / workOfUnit)
    read = counted.read
    yield
  }
  return made + text.slice(from)

  function groupOf(name: string): string | undefined {
    try {
      return matcher.group(/^\d+$/.test(name) ? Number(name) : name) ?? ""
    } catch {
      return undefined
    }
  }
}

function patternOf(pattern: string): RE2JS {
  const known = patterns.get(pattern)
  if (known !== undefined) return known
  const made = compilePattern(pattern, 0)
  if (typeof made === "string")
    throw new Error(`the pattern \`${pattern.slice(0, 100)}\` can't be used: ${made}`)
  if (patterns.size >= patternsMax) patterns.delete(patterns.keys().next().value as string)
  patterns.set(pattern, made)
  return made
}

/** Invariant culture: `¤1,234.50`. */
function currency(value: unknown): string {
  const amount = Number(value)
  if (value === null || value === undefined || Number.isNaN(amount)) return String(value ?? "")
  const [whole = "0", fraction] = Math.abs(amount).toFixed(2).split(".")
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ",")
  return amount < 0 ? `(¤${grouped}.${fraction})` : `¤${grouped}.${fraction}`
}
