import type { TupleKey } from "./ports.ts"

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
