/** Kinds of `AccessChange`. */
export const accessChanges = ["gains", "loses", "may-gain", "may-lose", "undecided"] as const

/**
 * How a user's access to an object changes. `may-gain` and `may-lose`: a condition decides, in one of the models or in both. `undecided`: a
 * condition decides in both models, so both may be equal.
 */
export type AccessChange = (typeof accessChanges)[number]

/** One user, or `type:*` for everybody of a type whom no other row of the object names. `unchanged`: an exception of such a row. */
export interface ImpactRow {
  readonly user: string
  readonly relation: string
  readonly object: string
  readonly change: AccessChange | "unchanged"
}
