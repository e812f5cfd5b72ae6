import type { NamedValue } from "../site.ts"

/** The text of a policy expression between its `@(` or `@{` and the closing bracket, with the position of each character in the file. */
export interface CsharpSource {
  readonly text: string
  /** Maps an offset in `text` (0 to its length) to an offset in the file. */
  at(offset: number): number
}

/** Kind of a mistake in an expression. */
export type CsharpFindingKind =
  | "syntax"
  | "unknown-name"
  | "unknown-member"
  | "unknown-type"
  | "no-overload"
  | "type"
  | "limit"

/**
 * One mistake. `start` and `end` are offsets in the file. `message` is lower-case without a full stop, with user text in backticks and the
 * nearest name for a misspelt one. `help` says what to do.
 */
export interface CsharpFinding {
  readonly kind: CsharpFindingKind
  readonly message: string
  readonly start: number
  readonly end: number
  readonly help: string
}

/** The context of an expression: what it may refer to. */
export interface CsharpScope {
  readonly section: "inbound" | "backend" | "outbound" | "on-error"
  /** Types of variables that are always set before, in C# notation. Others are `object`. */
  readonly variables?: ReadonlyMap<string, string>
  /** The named value behind `{{name}}`. Undefined for an unknown name. */
  readonly namedValue?: (name: string) => NamedValue | undefined
}

/** Thrown to skip a part that cannot be parsed or checked. `compileCsharp` catches it. Offsets refer to the text of the expression. */
export class CsharpMistake extends Error {
  readonly finding: CsharpFinding
  constructor(kind: CsharpFindingKind, message: string, start: number, end: number, help: string) {
    super(message)
    this.finding = { kind, message, start, end, help }
  }
}

/**
 * Maximum number of nodes, and of checks, per expression: clauses of a query repeat the previous names, and overloads check the bodies of
 * functions several times.
 */
export const workMax = 20_000

/** The mistake for an expression with more than `workMax` nodes, or with too many checks or variables. */
export function tooLarge({ start, end }: { readonly start: number; readonly end: number }): CsharpMistake {
  return new CsharpMistake(
    "limit",
    "the expression is too large",
    start,
    end,
    "Split it into several `set-variable`.",
  )
}
