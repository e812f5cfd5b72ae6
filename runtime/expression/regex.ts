import { RE2JS } from "re2js"
import { ExpressionError } from "./expression-error.ts"
import { charge, chargeLength } from "./meter.ts"
import { kindOf } from "./values.ts"

/** Longest pattern in UTF-16 units: the time of a match is proportional to text length times pattern length. */
const patternLengthMax = 2048
/** Largest program: `[a-z]{1,900}` is a large program of a short pattern. */
const programSizeMax = 1000
const cacheSizeMax = 500

/** A compiled pattern (RE2): linear time in the length of the text. */
export interface Regex {
  /**
   * Whether the pattern occurs in the text. Caches automaton states of each text (up to 8 MiB per pattern), which makes it five times as fast as
   * `search`. For patterns written in an expression.
   */
  test(text: string): boolean
  /** Like `test`, without caching: for patterns from the data, of which there may be many. */
  search(text: string): boolean
  /** The matches in order, without overlaps. Each costs steps for the whole remaining text. */
  matches(text: string): Iterable<Match>
  /** Number of groups. */
  readonly groups: number
}

/** `at` and `end` are UTF-16 offsets; a group that did not participate is undefined. */
interface Match {
  readonly at: number
  readonly end: number
  readonly groups: readonly (string | undefined)[]
}

type Compiled = Regex | { readonly fault: string }

const cache = new Map<string, Compiled>()

/** Compiles a pattern. Long patterns and large automata are refused, because their search is slow. */
function compile(pattern: string): Compiled {
  if (pattern.length > patternLengthMax) {
    return { fault: `the pattern is longer than ${patternLengthMax} characters` }
  }
  try {
    const compiled = RE2JS.compile(pattern)
    const size = compiled.programSize()
    if (size > programSizeMax) return { fault: "the pattern is too large" }
    const pay = (length: number): void => {
      // A match takes at most text length times program size, about 60 ns each; one step pays for sixteen.
      charge(1 + Math.ceil((length * size) / 16))
    }
    return {
      test: (text) => {
        pay(text.length)
        return compiled.test(text)
      },
      search: (text) => {
        pay(text.length)
        return compiled.matcher(text).find()
      },
      *matches(text) {
        const matcher = compiled.matcher(text)
        for (let at = 0; ; at = matcher.end()) {
          pay(text.length - at)
          if (!matcher.find()) return
          const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, group) => {
            return matcher.group(group) ?? undefined
          })
          yield { at: matcher.start(), end: matcher.end(), groups }
        }
      },
      groups: compiled.groupCount(),
    }
  } catch (error) {
    const detail = error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : ""
    return {
      fault:
        detail === ""
          ? "the pattern is not a regular expression"
          : `the pattern is not a regular expression: ${detail}`,
    }
  }
}

/**
 * A regular expression with RE2's syntax, matched in linear time for any pattern; no look-around, no back-references. The process caches the last 500
 * compiled patterns.
 */
export function compileRegex(pattern: string): Compiled {
  const known = cache.get(pattern)
  if (known !== undefined) return known
  const made = compile(pattern)
  if (cache.size >= cacheSizeMax) {
    for (const oldest of cache.keys()) {
      cache.delete(oldest)
      break
    }
  }
  cache.set(pattern, made)
  return made
}

/** A pattern that is not constant; compiling it is charged to the evaluation. */
function regexOf(pattern: unknown): Regex {
  // Compiling takes about 20 steps for each unit of the pattern; a cached pattern costs nothing.
  if (typeof pattern === "string" && !cache.has(pattern))
    charge(Math.min(pattern.length, patternLengthMax) * 8)
  const regex =
    typeof pattern === "string" ? compileRegex(pattern) : { fault: "the pattern is not a regular expression" }
  if ("fault" in regex) throw new ExpressionError("other", "the pattern is not a regular expression")
  return regex
}

function asText(name: string, value: unknown): string {
  if (typeof value === "string") return value
  throw new ExpressionError("type", `\`regex.${name}\` takes a string, not ${kindOf(value)}`)
}

/** `regex.extractAll`: for each match the text of its only group, or else the whole match. A match whose group did not participate is skipped. */
export function extractAll(text: unknown, pattern: unknown): string[] {
  const regex = regexOf(pattern)
  if (regex.groups > 1) throw new ExpressionError("other", "`regex.extractAll` allows at most one group")
  const found = Array.from(regex.matches(asText("extractAll", text)), ({ groups }) => groups[regex.groups])
  return found.filter((each) => each !== undefined)
}

/** Expands `\1` and `\\` in a replacement; a missing group is an error. */
function substituted(template: string, { groups }: Match): string {
  return template.replace(/\\(.?)/gs, (_, mark: string) => {
    if (mark === "\\") return mark
    if (!/^\d$/.test(mark) || Number(mark) >= groups.length)
      throw new ExpressionError("other", "the replacement refers to a group that does not exist")
    return groups[Number(mark)] ?? ""
  })
}

/** `regex.replace`: replaces all matches, or the first `limit`. */
export function replaceMatches(text: unknown, pattern: unknown, by: unknown, limit?: unknown): string {
  const [source, template] = [asText("replace", text), asText("replace", by)]
  const most = limit === undefined || Number(limit) < 0 ? Number.POSITIVE_INFINITY : Number(limit)
  let made = ""
  let at = 0
  let count = 0
  for (const match of most === 0 ? [] : regexOf(pattern).matches(source)) {
    const part = substituted(template, match)
    chargeLength(part.length)
    made += source.slice(at, match.at) + part
    at = match.end
    count += 1
    if (count >= most) break
  }
  return made + source.slice(at)
}

/** `matches` with a pattern from the data. @throws ExpressionError for an invalid pattern. */
export function matchesPattern(text: string, pattern: string): boolean {
  return regexOf(pattern).search(text)
}
