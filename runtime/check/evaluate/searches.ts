import { Closure } from "./closure.ts"
import type { AnyPart, Hop } from "./program.ts"
import { type EngineQuestion, isTrue } from "./question.ts"
import { ReachSearch } from "./reach-search.ts"

export interface MachineLimits {
  /** Maximum hops (usersets and `from`) from the question's object; a node beyond is an error. */
  readonly depthMax: number
  /** After this many steps, or at a list of an eighth of this length, plain reachability is searched from both ends instead of walked. */
  readonly walkSteps: number
}

/** How to process a list of objects for one relation. */
export type Manner = "walk" | "test" | "search"

/** Decides where plain reachability is searched instead of walked, and keeps the closures of the question's subject. */
export class Searches {
  #question!: EngineQuestion
  #walkSteps = 0
  #depthMax = 0
  readonly #closures = new Map<number, Closure>()

  begin(question: EngineQuestion, limits: MachineLimits): void {
    this.#question = question
    this.#walkSteps = limits.walkSteps
    this.#depthMax = limits.depthMax
    if (this.#closures.size === 0) return
    for (const closure of this.#closures.values()) closure.release()
    this.#closures.clear()
  }

  /**
   * Short questions are walked, which needs no tables. Later, or at a long list, the objects are tested for direct tuples, and the
   * remaining ones are searched from both ends. When the subject is in fewer places than the list is long, the search starts at once.
   */
  mannerOf(hop: Hop, length: number): Manner {
    const { steps, program } = this.#question
    if (program.pure[hop.target] !== true || hop.condition !== undefined) return "walk"
    if (length <= this.#walkSteps >> 3 && steps < this.#walkSteps) return "walk"
    return length > this.#walkSteps >> 3 && this.#closure(hop.target).pending < length ? "search" : "test"
  }

  /** Whether a tuple of the subject itself decides `target` on an object. */
  test(object: number, target: number): number {
    const { program, subject } = this.#question
    this.#question.steps++
    if (target === program.own && object === subject) return isTrue
    return this.#question.tests(object, program.parts[target] as AnyPart)
  }

  /** Undefined when the tested objects lead to no other nodes. */
  start(objects: Int32Array, target: number, depth: number, tested: boolean): ReachSearch | undefined {
    if (tested && (this.#question.program.parts[target] as AnyPart).hops.length === 0) return undefined
    return new ReachSearch({
      question: this.#question,
      closure: this.#closure(target),
      objects,
      tested,
      target,
      depth,
      depthMax: this.#depthMax,
    })
  }

  #closure(target: number): Closure {
    const known = this.#closures.get(target)
    if (known !== undefined) return known
    const made = new Closure(this.#question, target)
    this.#closures.set(target, made)
    return made
  }
}
