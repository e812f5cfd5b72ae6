import type { Explanation } from "./explanation.ts"

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

/** What came of one page: its rows; or they are more than a page may have; or undefined: the answer was full before it, ask again. */
export type PageRows = readonly TupleRow[] | "too many" | undefined

/** Pages in the order of the keys asked for, all read in one statement together with the store's revision. The first is never undefined. */
export interface Pages {
  readonly revision: number
  readonly pages: readonly PageRows[]
}

/**
 * Where a store's tuples come from; runtime/store implements it over SQL. Revisions of a store are whole numbers from 0, gapless, in order of commit.
 * Every method rejects with `SourceUnavailable` when the database cannot be asked.
 */
export interface TupleSource {
  /** The store's revision in the database now. */
  revision(storeId: string): Promise<number>
  /**
   * Everything at one revision, in batches of at most a few thousand rows so that the event loop is never held; resolves to that revision.
   * What `onBatch` throws ends it.
   */
  load(storeId: string, onBatch: (rows: readonly TupleRow[]) => void): Promise<number>
  /** Adjacency pages of one store, by one SQL statement. */
  pages(storeId: string, keys: readonly PageKey[]): Promise<Pages>
  /**
   * Changes after `revision` in order of revision, at most about `max` but always whole revisions; empty when there is none. A tuple that
   * is written was not there before: what replaces another is a delete and then a write.
   */
  changes(storeId: string, revision: number, max: number): Promise<readonly TupleChange[]>
  /**
   * Tuples that stood at a past revision, by their keys (the first four columns), with the condition and context they had then, in the order of the
   * keys: the feed's deletes don't say.
   */
  stood(storeId: string, revision: number, keys: readonly TupleRow[]): Promise<readonly TupleRow[]>
  /** Calls back when another process says that a store has changed, until the function it returns is called. A hint: none may be relied on. */
  listen?(onChanged: (storeId: string) => void): () => void
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
  /** Also say why. */
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
  readonly explanation?: Explanation | undefined
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
