/** The kind of a mistake in an expression. */
export type FindingKind =
  | "syntax"
  | "unknown-name"
  | "unknown-field"
  | "no-overload"
  | "type"
  | "regex"
  | "limit"
  | "secret"

/**
 * One mistake. `start` and `end` are UTF-16 offsets of the wrong part; `end` may equal `start` at the end of the source. `message` is lower case without
 * a final stop, with user text in backticks. `name` is the unknown variable, field or function, and `candidates` are the names known at that place, so
 * that the caller can suggest the nearest.
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
 * A chain that an expression reads, starting at a variable: `path.id` and `path["id"]` are `["path", "id"]`. A method ends the chain before its name.
 * `start` and `end` are the offsets of the chain.
 */
export interface VariableReference {
  readonly path: readonly string[]
  readonly start: number
  readonly end: number
}
