import { BoundedPattern } from "../pattern/bounded-pattern.ts"
import type { SearchBudget } from "../pattern/run-program.ts"

/** The part of RegExp's interface that the schema compiler uses. */
export interface SchemaPattern {
  /** Whether the pattern occurs in the text. @throws PatternWorkError if the steps are exhausted */
  test(text: string): boolean
  /** Identifies the pattern: the schema compiler uses it to reuse patterns. */
  toString(): string
}

/**
 * Compiles the `pattern` of a JSON Schema (ECMA-262, flag `u`), including look-around and back-references. Its searches take their steps from `work`.
 * @throws PatternError
 */
export function schemaPattern(source: string, work: SearchBudget): SchemaPattern {
  const pattern = new BoundedPattern(source, "ecma")
  return { test: (text) => pattern.over(text).next(0, work) !== undefined, toString: () => source }
}
