/** Kinds of `AccessChange`. */
export const accessChanges = ["gains", "loses", "may-gain", "may-lose", "undecided"] as const

/**
 * How a user's access to an object changes. `may-gain`: with some values for conditions the user gains the access, with none the user loses it;
 * `may-lose` is the opposite. `undecided`: conditions decide in both models, and either may grant what the other denies, as far as is known.
 */
export type AccessChange = (typeof accessChanges)[number]

/** One user, or `type:*` for everybody of a type whom no other row of the object names. `unchanged`: an exception of such a row. */
export interface ImpactRow {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly change: AccessChange | "unchanged"
}

/** A set of users as a tuple names it: `group:eng#member`, and the named users that it has. */
export interface UserGroup {
  readonly set: string
  readonly users: number
}

/**
 * Tuples that only one of the models reads, and what follows from them. Several causes may have the same effect, which counts for each of them.
 */
export interface AccessCause {
  /** The model that reads them. */
  readonly in: "before" | "after"
  /** `user:ann`, `user:*`, `group:eng#member`, or an object: then `reads` is the relation that users have there. */
  readonly subject: string
  readonly reads: string | null
  /** The relation of the tuples; null when `reads` is a relation of the same object, without a tuple. */
  readonly relation: string | null
  /** The object of the first tuple. */
  readonly object: string
  /** Number of objects with such a tuple. */
  readonly tuples: number
  /** Named users that the subject stands for, of other types than `everyone`. */
  readonly users: number
  /** Types of which the subject stands for everybody. */
  readonly everyone: readonly string[]
  /** Objects on which the access of these users changes. */
  readonly objects: number
  /** Named users times objects and relations, by kind of change, without those that a change of everybody concerns. */
  readonly changes: Readonly<Record<AccessChange, number>>
}

/** A set of which every named user has a change, on a number of objects. */
export interface GroupChange extends UserGroup {
  readonly change: AccessChange
  readonly objects: number
}
