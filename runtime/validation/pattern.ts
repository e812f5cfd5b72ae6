import { BoundedPattern } from "../pattern/bounded-pattern.ts"
import type { SearchBudget } from "../pattern/run-program.ts"

/** As much of a regular expression as the compiler of schemas asks for. */
export interface SchemaPattern {
  /** Whether it is found anywhere in the text. @throws PatternWorkError when the steps are used up */
  test(text: string): boolean
  /** Tells patterns apart: by it the compiler of schemas knows whether it has one already. */
  toString(): string
}

/**
 * Compiles the `pattern` of a JSON Schema (ECMA-262, flag `u`), also where it looks around or refers back. Its searches take their steps from `work`.
 * @throws PatternError
 */
export function schemaPattern(source: string, work: SearchBudget): SchemaPattern {
  const pattern = new BoundedPattern(source, "ecma")
  return { test: (text) => pattern.over(text).next(0, work) !== undefined, toString: () => source }
}
