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
export interface VariableReference {
  readonly path: readonly string[]
  readonly start: number
  readonly end: number
}
