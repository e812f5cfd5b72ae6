import { Closure } from "../evaluate/closure.ts"
import { IntList } from "../evaluate/int-list.ts"
import { innerParts, type ProgramPart } from "../evaluate/program.ts"
import { type EngineQuestion, isFalse, isTrue, type KnownSets } from "../evaluate/question.ts"

/** The closures of one subject over pure parts: what is in one is true, and when it is complete, what is not is false. */
export class ClosureTruths implements KnownSets {
  readonly #question: EngineQuestion
  /** By the part's number. */
  readonly #closures: (Closure | undefined)[] = []

  constructor(question: EngineQuestion) {
    this.#question = question
  }

  /** The closure of a part, as far as it has grown. Of a part that is not pure it says only who may hold it, and is not taken for the truth. */
  closure(part: number): Closure {
    const known = this.#closures[part]
    if (known !== undefined) return known
    const made = new Closure(this.#question, part)
    if (this.#question.program.pure[part] === true) this.#closures[part] = made
    return made
  }

  truth(object: number, part: number): number {
    const closure = this.#closures[part]
    if (closure === undefined) return -1
    if (closure.level(object, part) >= 0) return isTrue
    return closure.complete ? isFalse : -1
  }

  /** Nobody asks them any more. */
  release(): void {
    for (const closure of this.#closures) closure?.release()
    this.#closures.length = 0
  }

  /** Forgets a closure whose growing was broken off: it can't tell any more what it lacks. */
  drop(part: number): void {
    this.#closures[part] = undefined
  }

  /**
   * Finds the sets of the pure parts inside a part, but gives each up after so many steps: looking into a set that is at hand is cheaper than a walk for
   * every object, yet a set may be far larger than the objects asked about.
   */
  *prepare(part: ProgramPart, steps: number): Generator<void> {
    const { program } = this.#question
    for (const { number } of [part, ...innerParts(part)]) {
      if (program.pure[number] !== true || this.#closures[number]?.complete === true) continue
      const end = this.#question.steps + steps
      const growing = growAll(this.closure(number))
      while (growing.next().done !== true) {
        if (this.#question.steps > end) {
          this.drop(number)
          break
        }
        yield
      }
    }
  }
}

/** Grows a closure to its end; yields every thousand nodes. */
export function* growAll(closure: Closure, number = -1, found = new IntList()): Generator<void> {
  while (!closure.exhausted)
    yield* closure.grow((object, relation) => {
      if (relation === number) found.push(object)
    })
}
