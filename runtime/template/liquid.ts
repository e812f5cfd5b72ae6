import { Context, Liquid, LiquidError } from "liquidjs"
import { boundRendering, checkTime, runInTime } from "./bounds.ts"
import { problemOfFormats, registerDates } from "./dotnet-dates.ts"
import { registerDotNetFilters } from "./dotnet-filters.ts"
import { translateDotNetSource } from "./dotnet-source.ts"
import { JsonArrayFor } from "./json-array-for.ts"
import { operators, registerTextFilters } from "./text-filters.ts"

/** A template ready for use: what `render` gets are the variables by name. */
export interface CompiledTemplate {
  /** @throws TemplateProblem */
  render(variables: Readonly<Record<string, unknown>>): string
}

/** What is wrong with a template, or went wrong in one. `offset` counts characters of the template. */
export class TemplateProblem extends Error {
  override readonly name = "TemplateProblem"
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** Longest template, in characters. */
const templateMax = 262_144
/** Characters and items a rendering may make. */
const memoryMax = 20_000_000
const renderMaxMs = 200

/** What liquidjs and the engine say of bounds, for people. */
const words: Readonly<Record<string, string>> = {
  "template render limit exceeded": `it takes more than ${renderMaxMs} ms`,
  "memory alloc limit exceeded": `it makes more than ${memoryMax} characters and items`,
  "Maximum call stack size exceeded": "something is nested too deeply",
}

const engine = makeEngine()

/**
 * Compiles a Liquid template, in the dialect Azure API Management reads: filters are also known by the names .NET gives them (`Upcase`,
 * `DividedBy`), `\` is a character like any other, `JSONArrayFor` writes lists. Templates see own properties of plain data and nothing else; there are no other files, and work and memory have bounds.
 * @throws TemplateProblem
 */
export function compileTemplate(source: string): CompiledTemplate {
  if (source.length > templateMax)
    throw new TemplateProblem(`the template has more than ${templateMax} characters`, templateMax)
  const problem = problemOfFormats(source)
  if (problem !== undefined) throw new TemplateProblem(problem.message, problem.offset)
  const { text, offset } = translateDotNetSource(source)
  const parsed = run(() => engine.parse(text), offset)
  return {
    render: (variables) =>
      run(() => {
        const context = new Context(variables, engine.options, { sync: true }, { liquid: engine })
        return runInTime(engine._render(parsed, context, {}), () => checkTime(context)) as string
      }, offset),
  }
}

function makeEngine(): Liquid {
  const made = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    strictVariables: false,
    parseLimit: 2 * templateMax,
    renderLimit: renderMaxMs,
    memoryLimit: memoryMax,
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

function run<Result>(work: () => Result, offset: (of: number) => number): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof LiquidError)) throw error
    const message = error.message.replace(/, (?:file:\S+, )?line:\d+, col:\d+$/, "")
    throw new TemplateProblem(words[message] ?? message, offset(error.token.begin))
  }
}
