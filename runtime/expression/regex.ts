import { RE2JS } from "re2js"
import { ExpressionError } from "./expression-error.ts"
import { charge, chargeLength } from "./meter.ts"
import { kindOf } from "./values.ts"

/** Longest pattern in UTF-16 units: the time of a match is linear in text times pattern. */
const patternLengthMax = 2048
/** Largest program: `[a-z]{1,900}` is a long one in a short pattern. */
const programSizeMax = 1000
const cacheSizeMax = 500

export interface Regex {
  /**
   * Whether the pattern occurs in the text. Learns from each text (up to 8 MiB a pattern) and is five times as fast as `search`: for
   * patterns written in an expression.
   */
  test(text: string): boolean
  /** The same without learning: for patterns that come with the data, of which there may be many. */
  search(text: string): boolean
  /** The matches one behind the other, none where another ends. Each is paid for with all that is left of the text. */
  matches(text: string): Iterable<Match>
  /** How many groups there are. */
  readonly groups: number
}

/** `at` and `end` are UTF-16 units; a group that had no part in it is undefined. */
interface Match {
  readonly at: number
  readonly end: number
  readonly groups: readonly (string | undefined)[]
}

type Compiled = Regex | { readonly fault: string }

const cache = new Map<string, Compiled>()

function compile(pattern: string): Compiled {
  if (pattern.length > patternLengthMax) {
    return { fault: `the pattern is longer than ${patternLengthMax} characters` }
  }
  try {
    const compiled = RE2JS.compile(pattern)
    const size = compiled.programSize()
    if (size > programSizeMax) return { fault: "the pattern is too large" }
    const pay = (length: number): void => {
      // The time of a match is text times program at worst, about 60 ns each: a step is paid for sixteen of them.
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
 * A regular expression of RE2's syntax, matched in linear time whatever the pattern; no look-around, no back-references.
 * Compiled patterns are kept, the last 500 of the process.
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

function regexOf(pattern: unknown): Regex {
  // Making one takes about 20 steps for each unit of the pattern; what is known costs nothing.
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

/** `regex.extractAll`: of each match the text of its only group, else all of it; where the group had no part in it none. */
export function extractAll(text: unknown, pattern: unknown): string[] {
  const regex = regexOf(pattern)
  if (regex.groups > 1) throw new ExpressionError("other", "`regex.extractAll` takes one group at most")
  const found = Array.from(regex.matches(asText("extractAll", text)), ({ groups }) => groups[regex.groups])
  return found.filter((each) => each !== undefined)
}

/** What `\1` and `\\` stand for; a group there is not is an error. */
function substituted(template: string, { groups }: Match): string {
  return template.replace(/\\(.?)/gs, (_, mark: string) => {
    if (mark === "\\") return mark
    if (!/^\d$/.test(mark) || Number(mark) >= groups.length)
      throw new ExpressionError("other", "the replacement names a group there is not")
    return groups[Number(mark)] ?? ""
  })
}

/** `regex.replace`: each match, or the first `limit` of them, by the replacement. */
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

/** `matches` with a pattern known only now. @throws ExpressionError for a wrong pattern. */
export function matchesPattern(text: string, pattern: string): boolean {
  return regexOf(pattern).search(text)
}
