/** A tuple as written: `user` is `type:id`, `type:*` or `type:id#relation`, `object` is `type:id`. */
export interface TupleKey {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly condition?:
    | { readonly name: string; readonly context?: Readonly<Record<string, unknown>> | undefined }
    | undefined
}

/**
 * A stored tuple in the form the graph takes, one array per row (no object per column: a load moves millions):
 * object `type:id`, relation, subject `type:id` or `type:*`, the subject's relation (`""` when it has none), condition name (`""` when none), condition context as JSON text (`""` when none).
 */
export type TupleRow = readonly [
  object: string,
  relation: string,
  subject: string,
  subjectRelation: string,
  condition: string,
  context: string,
]

/** One entry of a store's change feed. `revision` is the store's revision that the change made; all changes of one transaction share it. */
export interface TupleChange {
  readonly revision: number
  readonly operation: "write" | "delete"
  readonly row: TupleRow
}

/** An adjacency list the evaluator asked for and the graph does not hold: who stands on `object#relation`, or where `subject[#subjectRelation]` stands. */
export type PageKey =
  | { readonly direction: "forward"; readonly object: string; readonly relation: string }
  | { readonly direction: "reverse"; readonly subject: string; readonly subjectRelation: string }

/** Pages in the order of the keys asked for, all read in one statement together with the store's revision. */
export interface Pages {
  readonly revision: number
  readonly pages: readonly (readonly TupleRow[])[]
}

/**
 * Where a store's tuples come from; runtime/store implements it over SQL. Revisions of a store are whole numbers from 0, gapless, in order of commit.
 * Every method rejects with `SourceUnavailable` when the database cannot be asked.
 */
export interface TupleSource {
  /** The store's revision in the database now. */
  revision(storeId: string): Promise<number>
  /** Everything at one revision, in batches of at most a few thousand rows so that the event loop is never held; resolves to that revision. */
  load(storeId: string, onBatch: (rows: readonly TupleRow[]) => void): Promise<number>
  /** Adjacency pages of one store, by one SQL statement. */
  pages(storeId: string, keys: readonly PageKey[]): Promise<Pages>
  /** Changes after `revision` in order of revision, at most about `max` but always whole revisions; empty when there is none. */
  changes(storeId: string, revision: number, max: number): Promise<readonly TupleChange[]>
}

/** The database did not answer or refused; `message` is for logs, never for clients. */
export class SourceUnavailable extends Error {
  override readonly name = "SourceUnavailable"
}

/** May `user` have `relation` on `object`? `context` feeds conditions; contextual tuples count as stored for this question and shadow stored ones of the same key. */
export interface CheckRequest {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly contextualTuples?: readonly TupleKey[] | undefined
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** `higher-consistency` asks the database for the revision first and catches up to it. */
  readonly consistency?: "minimize-latency" | "higher-consistency" | undefined
  /** A revision (the token of a write) at or after which the answer must be true. */
  readonly atLeast?: number | undefined
  /** Also return the evaluated tree. */
  readonly explain?: boolean | undefined
  /** Where values for conditions are missing that would decide it, the answer says so instead of failing. */
  readonly ternary?: boolean | undefined
}

/** `revision` is the one revision of the store at which the answer is true. */
export interface CheckAnswer {
  readonly allowed: boolean
  readonly revision: number
  /** With `ternary`: the sorted names of the values that would decide it; `allowed` is false then. */
  readonly missingContext?: readonly string[] | undefined
  readonly explanation?: ExplainNode | undefined
}

/** One node of the evaluated tree: what was asked, how it came out, and the tuples that counted. */
export interface ExplainNode {
  /** e.g. `order:1#viewer` or the operator `union`, `intersection`, `but not`. */
  readonly label: string
  readonly result: "true" | "false" | "error"
  /** The tuple that made it true, or why it is false or an error (cycle, condition, missing context), in words. */
  readonly reason?: string | undefined
  readonly tuples?: readonly TupleKey[] | undefined
  readonly children?: readonly ExplainNode[] | undefined
}

/** OpenFGA's error names this engine can answer with (reference: its `errors_ignore.proto`), and two of our own for a source that is away. */
export type CheckErrorCode =
  | "validation_error"
  | "type_not_found"
  | "relation_not_found"
  | "invalid_tuple"
  | "invalid_user"
  | "invalid_object_format"
  | "invalid_contextual_tuple"
  | "duplicate_contextual_tuple"
  | "authorization_model_resolution_too_complex"
  | "deadline_exceeded"
  | "unavailable"
  | "resource_exhausted"

/** Why a check has no answer. Never an allow. `message` may go to clients. */
export class CheckError extends Error {
  override readonly name = "CheckError"
  readonly code: CheckErrorCode

  constructor(code: CheckErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
