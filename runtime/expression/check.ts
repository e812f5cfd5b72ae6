import type { Environment } from "./environment.ts"
import type { CelType } from "./types.ts"

/** What is wrong in an expression. */
export type FindingKind =
  | "syntax"
  | "unknown-name"
  | "unknown-field"
  | "no-overload"
  | "type"
  | "regex"
  | "limit"

/**
 * One mistake. `start` and `end` are UTF-16 offsets in the source around the wrong part; `end` may equal `start` at the end
 * of the source. `message` is lower-case without a final stop, text of the user in backticks. `name` is the unknown
 * variable, field or function and `candidates` the names known at that place, so that the caller can offer the nearest.
 */
export interface ExpressionFinding {
  readonly kind: FindingKind
  readonly message: string
  readonly start: number
  readonly end: number
  readonly name?: string
  readonly candidates?: readonly string[]
}

/**
 * A chain an expression reads, from a variable downwards: `path.id` and `path["id"]` are `["path", "id"]`. A method ends the
 * chain before its name. `start` and `end` surround the chain in the source.
 */
export interface Reference {
  readonly path: readonly string[]
  readonly start: number
  readonly end: number
}

/** The outcome of a check: the type and what the expression reads, or at least one finding. */
export type Checked =
  | { readonly ok: true; readonly type: CelType; readonly references: readonly Reference[] }
  | { readonly ok: false; readonly findings: readonly ExpressionFinding[] }

/**
 * Parses and type-checks. Never throws and never runs long, whatever the source. With `expected`, a result that can't be
 * that type is a finding too (`dyn` can be anything, and is checked when it is evaluated).
 */
export declare function checkExpression(source: string, environment: Environment, expected?: CelType): Checked
