import { Closure } from "./closure.ts"
import type { AnyPart, Hop } from "./program.ts"
import { type EngineQuestion, isTrue } from "./question.ts"
import { ReachSearch } from "./reach-search.ts"

export interface MachineLimits {
  /** Hops (usersets and `from`) from the question's object; a node beyond is an error. */
  readonly depthMax: number
  /** After so many steps, or at a list an eighth as long, plain reachability is no longer walked but searched from both ends. */
  readonly walkSteps: number
}

/** How to go through a list of objects that are asked about one relation. */
export type Manner = "walk" | "test" | "search"

/** Decides where plain reachability is searched instead of walked, and keeps the subject's closures of a question. */
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
   * Short questions are walked: that needs no tables. Later, or at a long list, the objects are tested for direct tuples and what is
   * left is searched from both ends; at once when the subject stands in fewer places than the list is long.
   */
  mannerOf(hop: Hop, length: number): Manner {
    const { steps, program } = this.#question
    if (program.pure[hop.target] !== true || hop.condition !== undefined) return "walk"
    if (length <= this.#walkSteps >> 3 && steps < this.#walkSteps) return "walk"
    return length > this.#walkSteps >> 3 && this.#closure(hop.target).pending < length ? "search" : "test"
  }

  /** Does a tuple of the subject itself decide `target` on an object? */
  test(object: number, target: number): number {
    const { program, subject } = this.#question
    this.#question.steps++
    if (target === program.own && object === subject) return isTrue
    return this.#question.tests(object, program.parts[target] as AnyPart)
  }

  /** Undefined when tested objects lead nowhere else. */
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
