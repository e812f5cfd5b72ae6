import { type ModelPair, namesOf, pairOf } from "../../runtime/model/model-pair.ts"
import type { ModelPlan } from "../../runtime/plan/authorization-model.ts"
import { type AccessExample, exampleOf } from "./example.ts"
import { type Found, search } from "./search.ts"
import { type QuestionSpace, spaceOf } from "./spaces.ts"

/** Steps for one relation and one type of users: some hundred milliseconds at most. */
const stepsMaxDefault = 200_000

/** What a change of a model means for one relation, whatever the tuples are. */
export interface RelationMeaning {
  /** `order#viewer`. */
  readonly relation: string
  /** `same`: nobody gains or loses it; `wider`: users may gain it and none loses it; `incomparable`: some gain it, others lose it. */
  readonly verdict: "same" | "wider" | "narrower" | "incomparable"
  /** With the fewest tuples of all. */
  readonly gain?: AccessExample
  readonly loss?: AccessExample
  /** Why the part of the verdict without an example holds. */
  readonly shown: Shown
}

/**
 * `proved`: for all tuples. `without cycles`: for all tuples whose objects do not lead back to themselves, because the model excludes within a recursion.
 * A number: for all stores with fewer tuples that lead to no object twice; then the search ended. Where several tuples lead to one object, fewer may
 * do. `unknown`: nothing is shown.
 */
export type Shown = "proved" | "without cycles" | "unknown" | { readonly fewerThan: number }

/** How much is searched. */
export interface CompareBounds {
  readonly stepsMax?: number
}

/**
 * Compares each relation that both models have, for plain users of every type; `setExamples` has those of sets (`group:a#member`). Relations
 * are left out when all that decides them is equal.
 */
export function compareRelations(
  before: ModelPlan,
  after: ModelPlan,
  bounds: CompareBounds = {},
): RelationMeaning[] {
  const pair = pairOf(before, after)
  return comparedRelations(pair).flatMap((name) => compareRelation(pair, name, bounds) ?? [])
}

/** The relations that both models have, but for those of which all that decides them is equal. */
export function comparedRelations({ plans, affected }: ModelPair): string[] {
  const kept = namesOf(plans[1])
  return [...namesOf(plans[0]).keys()].filter((name) => kept.has(name) && affected.has(name))
}

/** Compares one relation; undefined when all that decides it is equal in both models. */
export function compareRelation(
  pair: ModelPair,
  relation: string,
  { stepsMax = stepsMaxDefault }: CompareBounds = {},
): RelationMeaning | undefined {
  if (!pair.affected.has(relation)) return undefined
  let gain: AccessExample | undefined
  let loss: AccessExample | undefined
  const shown: Shown[] = []
  for (const user of usersOf(pair, relation)) {
    const space = spaceOf(pair, relation, user)
    if (space.isParadox) {
      shown.push("unknown")
      continue
    }
    const found = search(space, stepsMax)
    shown.push(shownBy(found, space))
    gain = smaller(gain, found.gain && exampleOf(found.gain, relation, user))
    loss = smaller(loss, found.loss && exampleOf(found.loss, relation, user))
  }
  if (shown.length === 0) return undefined
  const verdict = verdictOf(gain, loss)
  return {
    ...{ relation, verdict, shown: weakest(shown) },
    ...(gain === undefined ? {} : { gain }),
    ...(loss === undefined ? {} : { loss }),
  }
}

/** The smallest examples in which a set (`group:a#member`), as the user of a check, has the relation in one model only. */
export interface SetExamples {
  readonly gain: AccessExample | undefined
  readonly loss: AccessExample | undefined
}

/** Searches examples for sets as users; where none is found, nothing is shown. */
export function setExamples(
  pair: ModelPair,
  relation: string,
  { stepsMax = stepsMaxDefault }: CompareBounds = {},
): SetExamples {
  let gain: AccessExample | undefined
  let loss: AccessExample | undefined
  for (const set of setsOf(pair)) {
    const space = spaceOf(pair, relation, set)
    if (space.isParadox || space.types.every(({ own }) => own === 0n)) continue
    const found = search(space, stepsMax)
    gain = smaller(gain, found.gain && exampleOf(found.gain, relation, set))
    loss = smaller(loss, found.loss && exampleOf(found.loss, relation, set))
  }
  return { gain, loss }
}

/** Sets that tuples can name, of relations that both models have: a check of another one fails in one of them. */
function setsOf({ plans }: ModelPair): string[] {
  const [old, next] = plans.map(namesOf)
  const named = plans.flatMap(({ subjects }) => subjects.filter((each) => each.includes("#")))
  return [...new Set(named)].filter((set) => old?.has(set) === true && next?.has(set) === true).sort()
}

/** The verdict of which these are the examples. */
export function verdictOf(
  gain: AccessExample | undefined,
  loss: AccessExample | undefined,
): RelationMeaning["verdict"] {
  if (gain === undefined) return loss === undefined ? "same" : "narrower"
  return loss === undefined ? "wider" : "incomparable"
}

/** Types of plain users that can have the relation in one of the models. */
function usersOf({ plans }: ModelPair, relation: string): string[] {
  const types = plans.flatMap(({ relations, subjects }) => {
    const row = relations.find((each) => `${each.type}#${each.relation}` === relation)
    return (row?.reach ?? []).map((at) => (subjects[at] ?? "").replace(/:\*$/, ""))
  })
  return [...new Set(types)].sort()
}

function shownBy({ searched }: Found, space: QuestionSpace): Shown {
  if (searched !== "all") return { fewerThan: searched }
  if (space.hasUserAsObject) return "unknown"
  return space.hasRecursiveExclusion ? "without cycles" : "proved"
}

function smaller(
  one: AccessExample | undefined,
  other: AccessExample | undefined,
): AccessExample | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return other.tuples.length < one.tuples.length ? other : one
}

function weakest(all: readonly Shown[]): Shown {
  if (all.includes("unknown")) return "unknown"
  const bounds = all.flatMap((each) => (typeof each === "object" ? [each.fewerThan] : []))
  if (bounds.length > 0) return { fewerThan: Math.min(...bounds) }
  return all.includes("without cycles") ? "without cycles" : "proved"
}
