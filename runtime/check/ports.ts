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
 * A stored tuple in the graph's form, one array per row (no object per column, because a load moves millions of rows): object `type:id`,
 * relation, subject `type:id` or `type:*`, the subject's relation (`""` when it has none), condition name (`""` when none), condition
 * context as JSON text (`""` when none).
 */
export type TupleRow = readonly [
  object: string,
  relation: string,
  subject: string,
  subjectRelation: string,
  condition: string,
  context: string,
]

/**
 * Rows as one text, because a load moves millions of them: object, subject, relation, subject relation, condition and context, with a tab
 * between two columns and a line feed after each row. Neither names nor JSON contain these characters.
 */
export type PackedRows = string

/** The rows as one text. */
export function packRows(rows: Iterable<TupleRow>): PackedRows {
  let text = ""
  for (const [object, relation, subject, subjectRelation, condition, context] of rows)
    text += `${object}\t${subject}\t${relation}\t${subjectRelation}\t${condition}\t${context}\n`
  return text
}

/**
 * A commit of a history (of a store, of plans, of subscriptions). A number alone does not identify a commit: after a failover or a restore
 * that lost commits, new commits reuse their numbers. The stamp is random and belongs to the commit, so number and stamp together prove
 * that a commit is still in the database's history. Recovery keeps a prefix: one proved commit proves all commits before it.
 */
export interface Commit {
  /** From 0, without gaps. */
  readonly revision: number
  /** 12 characters; empty for revision 0, and for commits from before stamps existed. */
  readonly stamp: string
}

/** The start of every history. */
export const firstCommit: Commit = { revision: 0, stamp: "" }

/** Number and stamp are equal: it is the same commit. */
export function isSameCommit(a: Commit, b: Commit): boolean {
  return a.revision === b.revision && a.stamp === b.stamp
}

/**
 * One entry of a store's change feed. `revision` and `stamp` are of the commit that made the change; all changes of one transaction share
 * them.
 */
export interface TupleChange extends Commit {
  /** Stamp of the previous commit. */
  readonly previous: string
  readonly operation: "write" | "delete"
  readonly row: TupleRow
}

/**
 * A page that the evaluator needs and the graph does not hold: the subjects of `object#relation`, the objects of
 * `subject[#subjectRelation]`, or a single tuple. `among` restricts a list to the part whose other end has these names: `subjectRelation`
 * is `*` for the type's wildcard and `""` for its objects.
 */
export type PageKey =
  | {
      readonly direction: "forward"
      readonly object: string
      readonly relation: string
      readonly among?: { readonly subjectType: string; readonly subjectRelation: string }
    }
  | {
      readonly direction: "reverse"
      readonly subject: string
      readonly subjectRelation: string
      readonly among?: { readonly objectType: string; readonly relation: string }
    }
  | {
      readonly direction: "point"
      readonly object: string
      readonly relation: string
      readonly subject: string
      readonly subjectRelation: string
    }

/** A part of a list. */
export type PartKey = Extract<PageKey, { readonly among?: unknown }> & { readonly among: object }

/**
 * The result for one page: its rows; "too many" when there are more than a page may have; undefined when the result was full before it:
 * request it again.
 */
export type PageRows = readonly TupleRow[] | "too many" | undefined

/**
 * Pages in the order of the requested keys, read in one statement together with the store's newest commit. The first is never undefined.
 */
export interface PageBatch {
  readonly at: Commit
  readonly pages: readonly PageRows[]
}

/** How rows are read; all optional. */
export interface ReadTerms {
  /** The rows must be of this revision or a later one (default: of the newest when the reading starts). */
  readonly revisionMin?: number | undefined
  /** The reading starts again from its beginning, perhaps at another commit: drop the rows read so far. Without it such a reading fails. */
  readonly onRestart?: (() => void) | undefined
}

/** Takes a batch of a load. `part` is the part of the store that has been read so far, from 0 to 1; undefined when unknown. */
export type LoadedBatch = (rows: PackedRows, part?: number | undefined) => Promise<void> | void

/**
 * The source of a store's tuples; runtime/store implements it over SQL. Revisions of a store are whole numbers from 0, without gaps, in
 * order of commit. Every method rejects with `SourceUnavailable` when the database is unavailable, and with `StoreGone` when it has no such
 * store.
 */
export interface TupleSource {
  /** The store's newest commit in the database. */
  newest(storeId: string): Promise<Commit>
  /** The stamp of a revision in the database; undefined when the revision does not exist, or is no longer kept. */
  stampOf(storeId: string, revision: number): Promise<string | undefined>
  /**
   * All tuples at one commit, in batches; resolves to that commit. The next batch waits until `onBatch` has resolved. An exception of
   * `onBatch` ends it.
   */
  load(storeId: string, onBatch: LoadedBatch, terms?: ReadTerms): Promise<Commit>
  /** Adjacency pages of one store, by one SQL statement. A part may contain extra tuples whose subject's name has the same beginning. */
  pages(storeId: string, keys: readonly PageKey[], terms?: ReadTerms): Promise<PageBatch>
  /**
   * A part of a list of any length, in batches of at most a few thousand rows so that the event loop is not blocked. An exception of
   * `onBatch` ends it.
   */
  list(
    storeId: string,
    key: PartKey,
    onBatch: (rows: readonly TupleRow[]) => void,
    terms?: ReadTerms,
  ): Promise<Commit>
  /**
   * Changes after a commit in order of revision, at most about `max` but always whole revisions; empty when there are none. A written tuple
   * did not exist before: a replacement is a deletion followed by a write. Rejects with `HistoryLost` when the database does not have the
   * commit.
   */
  changes(storeId: string, after: Commit, max: number): Promise<readonly TupleChange[]>
  /**
   * Tuples that existed at a past revision, by their keys (the first four columns), with their condition and context of that time, in the
   * order of the keys. The feed's deletions do not contain these.
   */
  stood(storeId: string, revision: number, keys: readonly TupleRow[]): Promise<readonly TupleRow[]>
  /** Calls back when another process reports a changed store. Returns a function that stops listening. A hint only: notices may be lost. */
  listen?(onChanged: (storeId: string) => void): () => void
}

/** All tuples of one relation whose object and user are of the same kinds. `subjectRelation` is `""` for objects and `*` for everybody. */
export interface TupleShape {
  readonly objectType: string
  readonly relation: string
  readonly subjectType: string
  readonly subjectRelation: string
  /** The name of the condition; `""` for none. */
  readonly condition: string
}

/**
 * A store at one commit, of which parts are read. No result has more than `max` entries: when it has that many, there may be more. Every
 * method rejects with `SourceUnavailable` when the database is unavailable.
 */
export interface TupleSnapshot {
  readonly at: Commit
  /** Objects that have a tuple of this shape. */
  objectsWith(shape: TupleShape, max: number): Promise<readonly string[]>
  /** Objects of a type that have a tuple by one of these relations. */
  objectsOf(type: string, relations: readonly string[], max: number): Promise<readonly string[]>
  /** Objects of a type whose set by one of these relations is the user of a tuple. */
  objectsOfSets(type: string, relations: readonly string[], max: number): Promise<readonly string[]>
  /** The tuples of objects by these relations. */
  tuplesOf(
    objects: readonly string[],
    relations: readonly string[],
    max: number,
  ): Promise<readonly TupleRow[]>
  /** For each set of these objects that is the user of a tuple, one such tuple. */
  tuplesOfSets(objects: readonly string[], max: number): Promise<readonly TupleRow[]>
  /** The tuples whose users are these objects, or sets of them. */
  tuplesNaming(objects: readonly string[], max: number): Promise<readonly TupleRow[]>
}

/** The database did not answer or refused; `message` is for logs, never for clients. */
export class SourceUnavailable extends Error {
  override readonly name = "SourceUnavailable"
}

/** The database answered that the store does not exist (any more). */
export class StoreGone extends SourceUnavailable {}

/**
 * The database lost a commit: a standby without it was promoted, or a backup restored. Data read before is not part of the history any
 * more.
 */
export class HistoryLost extends Error {
  override readonly name = "HistoryLost"
}

/**
 * May `user` have `relation` on `object`? Conditions read `context`. For this question, contextual tuples count as stored and hide stored
 * ones with the same key.
 */
export interface CheckRequest {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly contextualTuples?: readonly TupleKey[] | undefined
  readonly context?: Readonly<Record<string, unknown>> | undefined
  /** `higher-consistency` first asks the database for its revision and catches up to it. */
  readonly consistency?: "minimize-latency" | "higher-consistency" | undefined
  /** A commit (the token of a write) that the answer must include. */
  readonly atLeast?: Commit | undefined
  /** Exactly this commit, past or present. */
  readonly exactly?: Commit | undefined
  /** Also explain the answer. */
  readonly explain?: boolean | undefined
  /** When missing values would decide a condition, the answer names them instead of failing. */
  readonly ternary?: boolean | undefined
}

/** The one commit of the store at which the answer is true. */
export interface CheckAnswer extends Commit {
  readonly allowed: boolean
  /** With `ternary`: the sorted names of the values that would decide it; `allowed` is then false. */
  readonly missingContext?: readonly string[] | undefined
  readonly explanation?: Explanation | undefined
}

/** The values and the outcome of a tuple's condition. */
export interface ConditionSeen {
  readonly name: string
  readonly outcome: "true" | "false" | "error" | "missing_context"
  /** The values of its declared parameters; the tuple's own override the request's. */
  readonly values: Readonly<Record<string, unknown>>
  /** With the outcome `missing_context`: the sorted names of the missing values. */
  readonly missing_context?: readonly string[] | undefined
  /** With the outcome `error`: the reason. */
  readonly error?: string | undefined
}

/**
 * The rule by which a relation holds on an object, or does not.
 * `tuple`: the tuple names the user or the user's wildcard. `userset`: the tuple names a userset that contains the user. `from`: the tuple
 * names the object to check instead. `computed`: another relation of the same object. The child of the last three is the node they lead to.
 * `intersection`, `but not`: the children are the operands. `self`: the user is this very userset. `none`: nothing makes it hold; the
 * children are only the exclusions that prevent it. `above`: shown elsewhere in the tree. `cut`: the tree would be too large here.
 */
export type ProofRule =
  | "tuple"
  | "userset"
  | "from"
  | "computed"
  | "intersection"
  | "but not"
  | "self"
  | "none"
  | "above"
  | "cut"

/** One step of a proof. `relation` is a relation of the object, also for an operand without a name of its own. */
export interface ProofNode {
  readonly object: string
  readonly relation: string
  readonly holds: boolean
  readonly by: ProofRule
  readonly tuple?: TupleKey | undefined
  /** The tuple came with the request. */
  readonly contextual?: true | undefined
  readonly condition?: ConditionSeen | undefined
  readonly children?: readonly ProofNode[] | undefined
}

/**
 * Tuples that turn the deny into an allow when they are written, or deleted for `remove`; no subset is enough. With `missing_context` they
 * also need these values, with which the conditions must hold.
 */
export interface NearestMiss {
  readonly add: readonly TupleKey[]
  readonly remove: readonly TupleKey[]
  readonly missing_context?: readonly string[] | undefined
}

/** A tuple whose condition was not true where it might have granted something. */
export interface ConditionedTuple {
  readonly tuple: TupleKey
  readonly condition: ConditionSeen
}

/**
 * The reasons for a check's result. This is its JSON, which is the same everywhere.
 *
 * For an allow, `proof` is the proof and `tuples` are its tuples: with them alone the answer is the same. For a deny, `misses` are the
 * nearest ways to an allow, the smallest first: tuples of the user itself on the objects on the way, places the user already has, and
 * exclusions undone; at most five sets of at most three tuples, each tried by the engine. `blocked_by` are the proofs of exclusions that
 * take an otherwise true relation away. `conditions` are the tuples that do not count because of their condition. `missing_context` are the
 * names of the missing values.
 * `undecided`: tuples and exclusions depend on each other so that neither answer follows, which is a deny. `complete` is false when a limit
 * cut the tree or the search for misses.
 */
export interface Explanation {
  readonly version: 1
  readonly allowed: boolean
  readonly user: string
  readonly relation: string
  readonly object: string
  /** The store's revision of the answer. */
  readonly revision: number
  readonly proof?: ProofNode | undefined
  readonly tuples?: readonly TupleKey[] | undefined
  readonly misses?: readonly NearestMiss[] | undefined
  readonly blocked_by?: readonly ProofNode[] | undefined
  readonly conditions?: readonly ConditionedTuple[] | undefined
  readonly missing_context?: readonly string[] | undefined
  readonly undecided?: true | undefined
  readonly complete: boolean
}

/**
 * OpenFGA's error names that this engine uses (reference: its `errors_ignore.proto`), and additional ones: for an unavailable source, and
 * for a commit that is no longer in any history.
 */
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
  | "history_lost"

/** Why a check has no answer. It never allows. `message` may be sent to clients. */
export class CheckError extends Error {
  override readonly name = "CheckError"
  readonly code: CheckErrorCode

  constructor(code: CheckErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The outcome depends on a condition without a result: a value is missing, or the evaluation failed. The question itself was valid. */
export class UndecidedCheck extends CheckError {}

/** The error for a commit that a client or a cursor names and that is not in the store's history. */
export function commitLost({ revision }: Commit): CheckError {
  return new CheckError(
    "history_lost",
    `the store's history does not have the commit this token names (revision ${revision}): the database was set back to an earlier state, or the token is of another store; read the state again, and repeat the write if it is missing`,
  )
}
