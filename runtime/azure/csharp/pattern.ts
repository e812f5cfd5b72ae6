import { BoundedPattern } from "../../pattern/bounded-pattern.ts"
import { PatternError, type PatternFlags } from "../../pattern/dialect.ts"
import type { SearchBudget } from "../../pattern/run-program.ts"

/** RegexOptions that change what a pattern finds. */
export interface PatternOptions extends PatternFlags {
  /** Groups without a name keep nothing. */
  readonly onlyNamed?: boolean
}

/** A pattern of .NET. */
export interface Pattern {
  /** The numbers of the groups that have names. */
  readonly names: ReadonlyMap<string, number>
  /** Searches of one text. */
  over(text: string): Search
}

/**
 * Gives the first match at `from` or behind it: of the whole and of each group from and to, -1 where a group took nothing. Takes from `work` what it costs.
 * @throws PatternWorkError where the steps are used up
 */
export type Search = (from: number, work: SearchBudget) => readonly number[] | undefined

/** A pattern that can be run, or a text that says why it can't be used. */
export function compilePattern(source: string, options: PatternOptions = {}): Pattern | string {
  try {
    const pattern = new BoundedPattern(source, "dotnet", options)
    const all = Array.from({ length: pattern.groupCount }, (_, index) => index + 1)
    const kept = options.onlyNamed === true ? all.filter((index) => hasName(pattern, index)) : all
    return {
      names: new Map([...pattern.names].map(([name, number]) => [name, kept.indexOf(number) + 1])),
      over: (text) => {
        const search = pattern.over(text)
        return (from, work) => chosen(search.next(from, work), kept)
      },
    }
  } catch (error) {
    if (error instanceof PatternError) return error.message
    throw error
  }
}

const hasName = ({ names }: BoundedPattern, index: number): boolean => [...names.values()].includes(index)

/** The whole match and some groups, in this order. */
function chosen(found: ArrayLike<number> | undefined, groups: readonly number[]): number[] | undefined {
  return (
    found && [0, ...groups].flatMap((group) => [found[group * 2] as number, found[group * 2 + 1] as number])
  )
}

/** A replacement as .NET reads it: `$1`, `${name}`, `$&`, `$0` and `$$`. What `group` does not know stays as it is written. */
export function expandReplacement(replacement: string, group: (name: string) => string | undefined): string {
  return replacement.replace(
    /\$(?:(\d{1,2})|\{(\w+)\}|([$&]))/g,
    (written, digits?: string, name?: string, sign?: string) =>
      sign === "$" ? "$" : (group(sign === "&" ? "0" : (digits ?? name ?? "")) ?? written),
  )
}
