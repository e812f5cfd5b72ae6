import type { Liquid } from "liquidjs"
import { PatternWorkError, type SearchBudget } from "../../pattern/run-program.ts"
import { compilePattern, expandReplacement, type Pattern, type Search } from "../csharp/pattern.ts"
import { type FilterScope, workOf } from "./bounds.ts"

/** .NET names of filters that have another name in liquidjs. */
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
 * Registers every filter by its .NET name as well (`downcase` is `Downcase`, `divided_by` is `DividedBy`), because documents of Azure API Management use
 * these names. Adds `Currency` in the invariant culture. `Replace` searches for a pattern, as in .NET; `replace` for a text.
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
const patterns = new Map<string, Pattern>()

/** Step limits of one search, which blocks the process, and of all searches of one `Replace`. */
const searchStepsMax = 500_000
const replaceStepsMax = 1_250_000
/** Units of template work per pattern step. */
const unitsOfStep = 8

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
  const search = compiled.over(text)
  const { context } = this
  const by = String(replacement ?? "")
  let left = replaceStepsMax
  let made = ""
  let from = 0
  for (let at = 0; at <= text.length; ) {
    const work = { stepsLeft: Math.min(left, searchStepsMax) }
    const before = work.stepsLeft
    const found = searched(search, at, work)
    left -= before - work.stepsLeft
    workOf(context).pay((before - work.stepsLeft) * unitsOfStep)
    if (found === undefined) break
    const [start, end] = [found[0] as number, found[1] as number]
    const piece = text.slice(from, start) + expandReplacement(by, (name) => groupOf(found, name))
    context.memoryLimit.use(piece.length + 1)
    made += piece
    from = end
    at = end > start ? end : end + 1
    yield
  }
  return made + text.slice(from)

  function groupOf(found: ArrayLike<number>, name: string): string | undefined {
    const group = compiled.names.get(name) ?? (/^\d+$/.test(name) ? Number(name) : -1)
    const [start, end] = [found[group * 2], found[group * 2 + 1]]
    return start === undefined ? undefined : text.slice(Math.max(0, start), Math.max(0, end as number))
  }
}

function searched(search: Search, at: number, work: SearchBudget): ArrayLike<number> | undefined {
  try {
    return search(at, work)
  } catch (error) {
    if (error instanceof PatternWorkError) throw new Error("the pattern needs too many steps for this string")
    throw error
  }
}

function patternOf(pattern: string): Pattern {
  const known = patterns.get(pattern)
  if (known !== undefined) return known
  const made = compilePattern(pattern)
  if (typeof made === "string")
    throw new Error(`the pattern \`${pattern.slice(0, 100)}\` is not supported: ${made}`)
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
