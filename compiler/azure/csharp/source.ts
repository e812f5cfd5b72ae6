import type { NamedValue } from "../site.ts"

/** The text of a policy expression between its `@(` or `@{` and the closing bracket, and where each of its characters stands in the file. */
export interface CsharpSource {
  readonly text: string
  /** The offset in the file of an offset in `text` (0 to its length). */
  at(offset: number): number
}

/** What is wrong in an expression. */
export type CsharpFindingKind =
  | "syntax"
  | "unknown-name"
  | "unknown-member"
  | "unknown-type"
  | "no-overload"
  | "type"
  | "limit"

/**
 * One mistake. `start` and `end` are offsets in the file around the wrong part. `message` is lower-case without a final stop, text of the user in
 * backticks, with the nearest name where one was misspelt; `help` says what to do.
 */
export interface CsharpFinding {
  readonly kind: CsharpFindingKind
  readonly message: string
  readonly start: number
  readonly end: number
  readonly help: string
}

/** Where an expression stands, and what it may name. */
export interface CsharpScope {
  readonly section: "inbound" | "backend" | "outbound" | "on-error"
  /** Types of variables known to be set before it, in C#'s notation; others are `object`. */
  readonly variables?: ReadonlyMap<string, string>
  /** What `{{name}}` stands for; undefined when nothing is called that. */
  readonly namedValue?: (name: string) => NamedValue | undefined
}

/** Thrown inside to leave a part that cannot be read; caught by the door. Offsets are those of the expression's text. */
export class CsharpMistake extends Error {
  readonly finding: CsharpFinding
  constructor(kind: CsharpFindingKind, message: string, start: number, end: number, help: string) {
    super(message)
    this.finding = { kind, message, start, end, help }
  }
}

/**
 * Nodes one expression may have, and checks it may take: a query's clauses repeat the names before them, overloads try the bodies of
 * functions several times.
 */
export const workMax = 20_000

/** What is said where an expression has more than `workMax` nodes, or needs more checks or variables than it may. */
export function tooLarge({ start, end }: { readonly start: number; readonly end: number }): CsharpMistake {
  return new CsharpMistake(
    "limit",
    "the expression is too large",
    start,
    end,
    "Spread it over several `set-variable`.",
  )
}
