/** .NET's patterns, or ECMAScript's with the flag `u`. */
export type Dialect = "dotnet" | "ecma"

/** The flags `i`, `m` and `s` of RegExp. */
export interface PatternFlags {
  readonly ignoreCase?: boolean
  readonly multiline?: boolean
  /** The dot matches line ends, too. */
  readonly dotAll?: boolean
}

/** A pattern that is invalid or cannot be run. The message completes the sentence "the pattern can't be used: …". */
export class PatternError extends Error {}
