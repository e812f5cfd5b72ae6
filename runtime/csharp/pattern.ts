import { RE2JS } from "re2js"
import { BoundedPattern } from "../pattern/bounded-pattern.ts"
import { type Dialect, PatternError, type PatternFlags } from "../pattern/dialect.ts"
import { PatternWorkError, type Work } from "../pattern/run-program.ts"
import { CountedText } from "./counted-text.ts"

const lengthMax = 2048
const programSizeMax = 2000
const dialect: Dialect = "dotnet"

/** RegexOptions that change what a pattern finds. */
export interface PatternOptions extends PatternFlags {
  /** Groups without a name keep nothing. */
  readonly onlyNamed?: boolean
}

/** A pattern of .NET, however it is run. */
export interface Pattern {
  /** The numbers of the groups that have names. */
  readonly names: ReadonlyMap<string, number>
  /** What a search through so many characters may cost at most, where that is known before. */
  costOf(length: number): number
  /**
   * The first match at `from` or behind it: of the whole and of each group from and to, -1 where a group took nothing. Takes from `work` what it costs.
   * @throws PatternWorkError where the steps of a pattern that goes back are used up
   */
  search(text: string, from: number, work: Work): ArrayLike<number> | undefined
}

/**
 * A pattern in the way it can be run: RE2's, in linear time, where it is one; with look-around, back-references and atomic groups by going back, step by counted step.
 * Gives a text that says why where it can't be used.
 */
export function compilePattern(source: string, options: PatternOptions = {}): Pattern | string {
  if (source.length > lengthMax) return `it has more than ${lengthMax} characters`
  const linear = linearPattern(source, options)
  if (linear !== undefined) return linear
  try {
    const pattern = new BoundedPattern(source, dialect, options)
    const all = Array.from({ length: pattern.groupCount }, (_, index) => index + 1)
    const kept = options.onlyNamed === true ? numbersOf(pattern.names.values()) : all
    return {
      names: new Map([...pattern.names].map(([name, number]) => [name, kept.indexOf(number) + 1])),
      costOf: () => 0,
      search: (text, from, work) => chosen(pattern.search(text, from, work), kept),
    }
  } catch (error) {
    if (error instanceof PatternError) return error.message
    throw error
  }
}

const numbersOf = (numbers: Iterable<number>): number[] => [...new Set(numbers)].sort((a, b) => a - b)

/** The whole match and some groups, in this order. */
function chosen(found: ArrayLike<number> | undefined, groups: readonly number[]): number[] | undefined {
  return (
    found && [0, ...groups].flatMap((group) => [found[group * 2] as number, found[group * 2 + 1] as number])
  )
}

/** .NET counts groups with names behind the others; named groups may be written its way. Undefined: no pattern of RE2, or too large. */
function linearPattern(source: string, options: PatternOptions): Pattern | undefined {
  const flags =
    (options.ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0) |
    (options.multiline === true ? RE2JS.MULTILINE : 0) |
    (options.dotAll === true ? RE2JS.DOTALL : 0)
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(source.replace(/\(\?'([A-Za-z_]\w*)'/g, "(?<$1>"), flags)
  } catch {
    return undefined
  }
  const size = compiled.programSize()
  if (size > programSizeMax) return undefined
  const named = Object.entries(compiled.namedGroups()).map(([name, index]) => [name, Number(index)] as const)
  const last = numbersOf(named.map(([, index]) => index))
  const all = Array.from({ length: compiled.groupCount() }, (_, index) => index + 1)
  const first = options.onlyNamed === true ? [] : all.filter((index) => !last.includes(index))
  const order = [0, ...first, ...last]
  return {
    names: new Map(named.map(([name, index]) => [name, order.indexOf(index)])),
    costOf: (length) => linearCost(size, length),
    search: (text, from, work) => {
      const unitsMax = (work.stepsLeft * workOfStep) / size
      const counted = new CountedText(text, unitsMax, () => new PatternWorkError())
      const matcher = compiled.matcher(counted as unknown as string)
      const isFound = matcher.find(from)
      work.stepsLeft -= linearCost(size, counted.read)
      return isFound ? order.flatMap((index) => [matcher.start(index), matcher.end(index)]) : undefined
    },
  }
}

/** Units of the text times states of the program, as in the worst case of the automaton, that count as a step. */
const workOfStep = 32

function linearCost(size: number, units: number): number {
  return Math.ceil((units * size) / workOfStep)
}

/** A replacement as .NET reads it: `$1`, `${name}`, `$&`, `$0` and `$$`. What `group` does not know stays as it is written. */
export function expandReplacement(replacement: string, group: (name: string) => string | undefined): string {
  return replacement.replace(
    /\$(?:(\d{1,2})|\{(\w+)\}|([$&]))/g,
    (written, digits?: string, name?: string, sign?: string) =>
      sign === "$" ? "$" : (group(sign === "&" ? "0" : (digits ?? name ?? "")) ?? written),
  )
}
