import { BoundedPattern } from "../../pattern/bounded-pattern.ts"
import { PatternError, type PatternFlags } from "../../pattern/dialect.ts"
import type { SearchBudget } from "../../pattern/run-program.ts"

/** RegexOptions that change the matches of a pattern. */
export interface PatternOptions extends PatternFlags {
  /** Unnamed groups do not capture. */
  readonly onlyNamed?: boolean
}

/** A pattern of .NET. */
export interface Pattern {
  /** The numbers of named groups. */
  readonly names: ReadonlyMap<string, number>
  /** Searches one text. */
  over(text: string): Search
}

/**
 * Returns the first match at or after `from`: start and end of the whole match and of each group, -1 if a group did not participate. Takes its steps
 * from `work`.
 * @throws PatternWorkError if the steps are exhausted
 */
export type Search = (from: number, work: SearchBudget) => readonly number[] | undefined

/** A compiled pattern, or the reason why it cannot be used. */
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

/** The whole match and the selected groups, in this order. */
function chosen(found: ArrayLike<number> | undefined, groups: readonly number[]): number[] | undefined {
  return (
    found && [0, ...groups].flatMap((group) => [found[group * 2] as number, found[group * 2 + 1] as number])
  )
}

/** Expands a .NET replacement: `$1`, `${name}`, `$&`, `$0` and `$$`. References unknown to `group` stay unchanged. */
export function expandReplacement(replacement: string, group: (name: string) => string | undefined): string {
  return replacement.replace(
    /\$(?:(\d{1,2})|\{(\w+)\}|([$&]))/g,
    (written, digits?: string, name?: string, sign?: string) =>
      sign === "$" ? "$" : (group(sign === "&" ? "0" : (digits ?? name ?? "")) ?? written),
  )
}
