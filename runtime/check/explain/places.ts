import { Closure } from "../evaluate/closure.ts"
import type { Hop, ProgramPart } from "../evaluate/program.ts"
import type { EngineQuestion } from "../evaluate/question.ts"

/** Limits: proposed places of the user per relation, places tried for it, and the extent of the search. */
const placesMax = 3
const candidatesMax = 12
const placeStepsMax = 3_000

/** The places where the user already has relations, to which a new tuple can lead. */
export class ReachedPlaces {
  /** Something was omitted because there was too much. */
  cut = false
  readonly #question: EngineQuestion
  readonly #known = new Map<number, readonly number[]>()
  readonly #targets = new Map<number, Set<number>>()
  readonly #holds: (object: number, relation: number) => boolean

  /** `holds` tells whether the user has a relation on an object. */
  constructor(question: EngineQuestion, holds: (object: number, relation: number) => boolean) {
    this.#question = question
    this.#holds = holds
  }

  /**
   * Places for a tuple of a tupleset: objects on which the user has any relation that is read through it, because the same tuple may also
   * provide the others. A userset has its relation on its own object.
   */
  behind(slot: number): ReadonlySet<number> {
    const { program, subject } = this.#question
    const found = new Set<number>()
    for (const target of this.#targetsOf(slot)) {
      if (target === program.own) found.add(subject)
      for (const place of this.of(target)) found.add(place)
    }
    return found
  }

  /** The relations that are read through the tuples of a slot. */
  #targetsOf(slot: number): ReadonlySet<number> {
    if (this.#targets.size === 0)
      for (const part of this.#question.program.parts)
        for (const hop of part === undefined ? [] : hopsOf(part)) {
          const targets = this.#targets.get(hop.slot) ?? new Set()
          this.#targets.set(hop.slot, targets.add(hop.target))
        }
    return this.#targets.get(slot) ?? new Set()
  }

  /** Some objects on which the user already has a relation, those nearest to the user. */
  of(target: number): readonly number[] {
    const known = this.#known.get(target)
    if (known !== undefined) return known
    const places = this.#candidatesOf(target).filter((object) => this.#holds(object, target))
    if (places.length > placesMax) this.cut = true
    this.#known.set(target, places.slice(0, placesMax))
    return places.slice(0, placesMax)
  }

  /** Objects on which the user may have the relation: backwards from the user. */
  #candidatesOf(target: number): number[] {
    const question = this.#question
    const found = new Set<number>()
    // The pages of a user's places may be large, and an explanation must not evict others from memory.
    if (question.graph.pages !== undefined) {
      this.cut = true
      return []
    }
    const closure = new Closure(question, target)
    const stepsMax = question.steps + placeStepsMax
    const enough = () => found.size >= candidatesMax || question.steps > stepsMax
    while (!closure.exhausted && !enough())
      for (const _ of closure.grow((object, relation) => {
        if (relation === target && found.size < candidatesMax) found.add(object)
      }))
        if (enough()) break
    if (!closure.exhausted) this.cut = true
    if (target === question.program.own) found.delete(question.subject)
    return [...found]
  }
}

/** All hops of a relation, at every level. The depth is that of the limit on models. */
function* hopsOf(part: ProgramPart): Generator<Hop> {
  if (part.op === "all") for (const child of part.children) yield* hopsOf(child)
  else if (part.op === "but") {
    yield* hopsOf(part.base)
    yield* hopsOf(part.subtract)
  } else if (part.op === "any") {
    yield* part.hops
    for (const branch of part.branches) yield* hopsOf(branch)
  }
}
