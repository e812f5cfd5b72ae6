import { Context, Liquid, LiquidError } from "liquidjs"
import { formatDateText, problemOfDateFormat } from "../csharp/date-text.ts"
import { boundRendering, type FilterScope, runInTurns, Work } from "./bounds.ts"
import { registerDotNetFilters } from "./dotnet-filters.ts"
import { markup, translateDotNetSource } from "./dotnet-source.ts"
import { JsonArrayFor } from "./json-array-for.ts"
import { operators, registerTextFilters } from "./text-filters.ts"

/** A compiled template: `render` takes the variables by name. */
export interface CompiledTemplate {
  /**
   * Long renderings return a promise: they yield to other requests by `turn`.
   * `now`: the wall clock, in milliseconds since the epoch.
   * @throws TemplateProblem, or rejects with it
   */
  render(
    variables: Readonly<Record<string, unknown>>,
    turn?: () => Promise<void>,
    now?: () => number,
  ): string | Promise<string>
}

type Handler = (this: FilterScope, ...values: unknown[]) => unknown

const dates = /\|\s*(Date|date)\s*:\s*(?:"([^"]*)"|'([^']*)')/g
const cultures = /\|\s*[Cc]urrency\s*:/g

/** A problem of a template, at compile time or run time. `offset` counts characters of the template. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem"
  readonly offset: number

  /** `cause`: an error from the access of a variable. */
  constructor(message: string, offset: number, cause?: unknown) {
    super(message, { cause })
    this.offset = offset
  }
}

/** Longest template, in characters. */
const templateMax = 262_144

/** The engine's messages about limits, rewritten for people. */
const words: Readonly<Record<string, string>> = {
  "Maximum call stack size exceeded": "something is nested too deeply",
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** The clock of a rendering, for the words `now` and `today` of the filter `date`. */
const clocks = new WeakMap<object, () => number>()

const engine = makeEngine()

/**
 * Compiles a Liquid template in the dialect of Azure API Management: filters also have their .NET names (`Upcase`, `DividedBy`), `\` is an ordinary
 * character, `JSONArrayFor` writes lists. Templates can access only own properties of plain data. There are no other files, and work and memory are
 * limited.
 * @throws TemplateProblem
 */
export function compileTemplate(source: string): CompiledTemplate {
  if (source.length > templateMax)
    throw new TemplateProblem(`the template has more than ${templateMax} characters`, templateMax)
  const problem = problemOfFormats(source)
  if (problem !== undefined) throw new TemplateProblem(problem.message, problem.offset)
  const { text, offset } = translateDotNetSource(source)
  const parsed = parse(text, offset)
  return {
    render: (variables, turn = nextTurn, now = Date.now) => {
      const rethrow = (error: unknown): never => {
        throw problemOf(error, offset)
      }
      try {
        const work = new Work()
        const limits = { memoryLimit: work, renderLimit: work } as unknown as ConstructorParameters<
          typeof Context
        >[3]
        const context = new Context(variables, engine.options, { sync: true }, { ...limits, liquid: engine })
        clocks.set(context, now)
        const made = runInTurns(engine._render(parsed, context, {}), work, turn)
        return made instanceof Promise ? made.catch(rethrow) : (made as string)
      } catch (error) {
        return rethrow(error)
      }
    },
  }
}

function parse(text: string, offset: (of: number) => number): ReturnType<Liquid["parse"]> {
  try {
    return engine.parse(text)
  } catch (error) {
    throw problemOf(error, offset)
  }
}

function makeEngine(): Liquid {
  const made = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: false,
    parseLimit: 2 * templateMax,
    relativeReference: false,
    operators,
    templates: {},
    cache: false,
  })
  for (const tag of ["include", "render", "layout", "block"]) delete made.tags[tag]
  registerTextFilters(made)
  registerDotNetFilters(made)
  registerDates(made)
  boundRendering(made)
  made.registerTag("JSONArrayFor", JsonArrayFor)
  return made
}

/** The problem in words for people; other errors are returned unchanged. */
function problemOf(error: unknown, offset: (of: number) => number): unknown {
  if (!(error instanceof LiquidError)) return error
  const message = error.message.replace(/, (?:file:\S+, )?line:\d+, col:\d+$/, "")
  let cause: unknown = error
  while (cause instanceof LiquidError) cause = cause.originalError
  return new TemplateProblem(words[message] ?? message, offset(error.token.begin), cause)
}

/** A .NET format has at most one `%`, at its start: `%d`. All others are formats of `strftime`: `%Y-%m-%d`. */
function isStrftime(format: string, name: string): boolean {
  return format.includes("%") && !(name === "Date" && /^%.$/.test(format))
}

/** `Date` and `date` accept .NET formats (`yyyy-MM-dd`) in addition to those of `strftime`. A text without a time stays unchanged. */
function registerDates(engine: Liquid): void {
  for (const name of ["date", "Date"]) {
    const filter = engine.filters[name]
    const known = (typeof filter === "function" ? filter : filter?.handler) as Handler
    engine.registerFilter(name, function (this: FilterScope, given: unknown, ...rest: unknown[]) {
      const [format] = rest
      // liquidjs would read the clock of the machine.
      const isNow = given === "now" || given === "today"
      const value = isNow ? new Date(clocks.get(this.context)?.() ?? Date.now()) : given
      if (typeof format !== "string" || format.trim() === "" || isStrftime(format, name))
        return known.call(this, value, ...rest)
      if (value === null || value === undefined) return ""
      const text = value instanceof Date ? value.toISOString() : String(value)
      return formatDateText(text, format) ?? text
    } as Handler)
  }
}

/** The first invalid date format or culture argument of `Currency` (not supported) in a template, and its place. */
function problemOfFormats(source: string): { message: string; offset: number } | undefined {
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
        message: "`Currency` takes no culture: only the invariant culture is supported",
        offset: index + culture.index + 1,
      }
  }
  return undefined
}
