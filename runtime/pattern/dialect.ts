/** .NET's patterns, or ECMAScript's with the flag `u`. */
export type Dialect = "dotnet" | "ecma"

/** What RegExp calls `i`, `m` and `s`. */
export interface PatternFlags {
  readonly ignoreCase?: boolean
  readonly multiline?: boolean
  /** The dot takes line ends too. */
  readonly dotAll?: boolean
}

/** What is no pattern, or cannot be run. The message goes on a sentence: "the pattern can't be used: …". */
export class PatternError extends Error {}
