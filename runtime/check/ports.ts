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

/**
 * A commit of a history (of a store, of plans, of subscriptions). Numbers alone do not tell histories apart: after a failover or a restore that lost commits, others take their numbers. The stamp is
 * random and the commit's own, so that who holds both can prove that what it has read is still in the database's history. Recovery keeps a prefix: with one commit all before it are proved.
 */
export interface Commit {
  /** From 0, gapless. */
  readonly revision: number
  /** 12 characters; empty for revision 0, and for what was committed before stamps were. */
  readonly stamp: string
}

/** Where every history begins. */
export const firstCommit: Commit = { revision: 0, stamp: "" }

/** Number and stamp are the same: it is the same commit. */
export function isSameCommit(a: Commit, b: Commit): boolean {
  return a.revision === b.revision && a.stamp === b.stamp
}

/** One entry of a store's change feed. `revision` and `stamp` are of the commit that made the change; all changes of one transaction share them. */
export interface TupleChange extends Commit {
  /** Stamp of the commit before. */
  readonly previous: string
  readonly operation: "write" | "delete"
  readonly row: TupleRow
}

/**
 * What the evaluator asked for and the graph does not hold: who stands on `object#relation`, where `subject[#subjectRelation]` stands, or whether a
 * single tuple does. With `among` a list is only that part of it where the other end has these: `subjectRelation` is `*` for the type's wildcard and `""` for its objects.
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

/** What came of one page: its rows; or they are more than a page may have; or undefined: the answer was full before it, ask again. */
export type PageRows = readonly TupleRow[] | "too many" | undefined

/** Pages in the order of the keys asked for, all read in one statement together with the store's newest commit. The first is never undefined. */
export interface PageBatch {
  readonly at: Commit
  readonly pages: readonly PageRows[]
}

/**
 * Where a store's tuples come from; runtime/store implements it over SQL. Revisions of a store are whole numbers from 0, gapless, in order of commit.
 * Every method rejects with `SourceUnavailable` when the database cannot be asked, and with `StoreGone` when it has no such store.
 */
export interface TupleSource {
  /** The store's newest commit in the database now. */
  newest(storeId: string): Promise<Commit>
  /** The stamp of a revision in the database now; undefined when it has no such revision, or keeps it no longer. */
  stampOf(storeId: string, revision: number): Promise<string | undefined>
  /**
   * Everything at one commit, in batches of at most a few thousand rows so that the event loop is never held; resolves to that commit.
   * What `onBatch` throws ends it.
   */
  load(storeId: string, onBatch: (rows: readonly TupleRow[]) => void): Promise<Commit>
  /** Adjacency pages of one store, by one SQL statement. A part may bring tuples whose subject's name begins like those of the part. */
  pages(storeId: string, keys: readonly PageKey[]): Promise<PageBatch>
  /** A part of a list, however long, as `load` brings a store. */
  list(storeId: string, key: PartKey, onBatch: (rows: readonly TupleRow[]) => void): Promise<Commit>
  /**
   * Changes after a commit in order of revision, at most about `max` but always whole revisions; empty when there is none. A tuple that
   * is written was not there before: what replaces another is a delete and then a write. Rejects with `HistoryLost` when the database does not have the commit.
   */
  changes(storeId: string, after: Commit, max: number): Promise<readonly TupleChange[]>
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

/** The database answered, and has no such store (any more). */
export class StoreGone extends SourceUnavailable {}

/** The database does not have a commit that it had: a standby without it was promoted, or a backup restored. What was read until then never was, as far as anybody can know. */
export class HistoryLost extends Error {
  override readonly name = "HistoryLost"
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
  /** A commit (the token of a write) at or after which the answer must be true. */
  readonly atLeast?: Commit | undefined
  /** Exactly this commit, past or present. */
  readonly exactly?: Commit | undefined
  /** Also say why. */
  readonly explain?: boolean | undefined
  /** Where values for conditions are missing that would decide it, the answer says so instead of failing. */
  readonly ternary?: boolean | undefined
}

/** The one commit of the store at which the answer is true. */
export interface CheckAnswer extends Commit {
  readonly allowed: boolean
  /** With `ternary`: the sorted names of the values that would decide it; `allowed` is false then. */
  readonly missingContext?: readonly string[] | undefined
  readonly explanation?: Explanation | undefined
}

/** What a tuple's condition saw and said. */
export interface ConditionSeen {
  readonly name: string
  readonly outcome: "true" | "false" | "error" | "missing_context"
  /** The declared parameters it was given, the tuple's own over the request's. */
  readonly values: Readonly<Record<string, unknown>>
  /** With the outcome `missing_context`: the names it lacked, sorted. */
  readonly missing_context?: readonly string[] | undefined
  /** With the outcome `error`: why there is none. */
  readonly error?: string | undefined
}

/**
 * The rule by which a relation holds on an object, or does not.
 * `tuple`: the tuple names the user or the user's wildcard. `userset`: the tuple names a userset the user is in, `from`: it names the object to
 * ask instead, `computed`: another relation of the same object; what they lead to is the child. `intersection`, `but not`: the children are the operands. `self`: the user
 * is this very userset. `none`: nothing makes it hold; children are only those exclusions that keep it from holding. `above`: shown elsewhere in the tree.
 * `cut`: the tree would be too large here.
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

/** One step of a proof. `relation` is that of the object, also for an operand of it that has no name of its own. */
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
 * Tuples whose writing, and of `remove` whose deletion, turn the deny into an allow; no part of them is enough. With `missing_context` they do so only if those
 * values are given, and such that the conditions hold.
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
 * Why a check came out as it did; this is its JSON, the same wherever it is shown.
 *
 * Of an allow `proof` is the proof and `tuples` are those it uses: with them alone the answer is the same. Of a deny `misses` are the nearest ways to an allow, the
 * smallest first: tuples of the user itself on the objects on the way, places the user already has, and exclusions undone; at most five sets of at most three
 * tuples, each tried by the engine. `blocked_by` are the proofs of exclusions that take an otherwise true relation away, `conditions` the tuples that
 * do not count because of their condition, `missing_context` the names that would have to be known, `undecided` that tuples and exclusions depend on each other so
 * that neither answer follows, which is a deny. `complete` is false where a bound cut something: the tree, or the search for misses.
 */
export interface Explanation {
  readonly version: 1
  readonly allowed: boolean
  readonly user: string
  readonly relation: string
  readonly object: string
  /** The store's revision it is true at. */
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

/** OpenFGA's error names this engine can answer with (reference: its `errors_ignore.proto`), and some of our own: for a source that is away, and for a commit that is in no history any more. */
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

/** Why a check has no answer. Never an allow. `message` may go to clients. */
export class CheckError extends Error {
  override readonly name = "CheckError"
  readonly code: CheckErrorCode

  constructor(code: CheckErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The outcome hangs on a condition that has none: a value is missing, or it failed on those it has. The question itself was right. */
export class UndecidedCheck extends CheckError {}

/** For a commit that a client or a cursor names, and that the store's history does not have. */
export function commitLost({ revision }: Commit): CheckError {
  return new CheckError(
    "history_lost",
    `the store's history does not have the commit this token names (revision ${revision}): the database was set back to an earlier state, or the token is of another store; read the state again, and repeat the write if it is not there`,
  )
}
