import { RE2JS } from "re2js"
import { ExpressionError } from "./expression-error.ts"
import { charge } from "./meter.ts"

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
    const pay = (text: string): void => {
      // The time of a match is text times program at worst, about 60 ns each: a step is paid for sixteen of them.
      charge(1 + Math.ceil((text.length * size) / 16))
    }
    return {
      test: (text) => {
        pay(text)
        return compiled.test(text)
      },
      search: (text) => {
        pay(text)
        return compiled.matcher(text).find()
      },
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

/** `matches` with a pattern known only now. @throws ExpressionError for a wrong pattern. */
export function matchesPattern(text: string, pattern: string): boolean {
  const regex = compileRegex(pattern)
  if ("fault" in regex) throw new ExpressionError("other", "the pattern is not a regular expression")
  return regex.search(text)
}
