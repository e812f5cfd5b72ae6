import type { AccessChange } from "../../runtime/check/access-change.ts"
import type { AccessImpact, RelationImpact } from "../../runtime/check/impact.ts"
import type { Risk } from "../analysis/finding.ts"
import type { RelationUses } from "./relation-uses.ts"

/** Who gains or loses access by one relation, and where it matters. */
export interface RelationPeople {
  readonly impact: RelationImpact
  readonly uses: RelationUses
  /**
   * `file:line` of the relation in the new text, if known; `file:line:column` of the branch that differs, or stands where one is gone, if its own
   * definition was changed.
   */
  readonly origin: string | undefined
}

/** What the change of a store's model means for people. */
export interface StorePeople {
  readonly store: string
  /** Where the tuples come from: a file, or `the running store`. */
  readonly source: string
  /** The revision of the tuples; null for those of a file. */
  readonly revision: number | null
  /** Number of tuples that were read. */
  readonly tuples: number
  /** Whether these are all tuples of the store; otherwise those that the change concerns. */
  readonly whole: boolean
  readonly impact: AccessImpact
  readonly relations: readonly RelationPeople[]
}

/** Numbers of accesses with a change: of named users, of sets as users, and of everybody on an object. */
export interface PeopleTotal {
  users: number
  sets: number
  everyone: number
}

/** Sums over all relations. A change of everybody on an object counts as one. */
export function totalOf({ impact }: StorePeople, change: AccessChange): PeopleTotal {
  let [users, sets, everyone] = [0, 0, 0]
  for (const relation of impact.relations) {
    users += relation.users[change]
    sets += relation.sets[change]
    for (const each of relation.everyone) if (each.change === change) everyone += each.objects
  }
  return { users, sets, everyone }
}

/** Whether somebody has, or may have, a change. */
export function isAnyone(people: StorePeople, change: AccessChange): boolean {
  const { users, sets, everyone } = totalOf(people, change)
  return users + sets + everyone > 0
}

/** New access opens, lost access closes; what a condition decides may open. */
export function riskOf(people: StorePeople): Risk {
  if (isAnyone(people, "gains") || isAnyone(people, "may-gain")) return "opens"
  if (isAnyone(people, "undecided")) return "opens"
  return isAnyone(people, "loses") || isAnyone(people, "may-lose") ? "closes" : "neutral"
}
