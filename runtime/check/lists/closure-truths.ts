import { Closure } from "../evaluate/closure.ts"
import { IntList } from "../evaluate/int-list.ts"
import { innerParts, type ProgramPart } from "../evaluate/program.ts"
import { type EngineQuestion, isFalse, isTrue, type KnownSets } from "../evaluate/question.ts"

/** The closures of one subject over pure parts: a node in a closure is true, and a node outside a complete closure is false. */
export class ClosureTruths implements KnownSets {
  readonly #question: EngineQuestion
  /** By the part's number. */
  readonly #closures: (Closure | undefined)[] = []

  constructor(question: EngineQuestion) {
    this.#question = question
  }

  /**
   * The closure of a part, as far as it has grown. For a part that is not pure it contains only candidates and is not used as the truth.
   */
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

  /** Releases the closures. */
  release(): void {
    for (const closure of this.#closures) closure?.release()
    this.#closures.length = 0
  }

  /** Drops a closure whose growth was interrupted, because it no longer knows what it lacks. */
  drop(part: number): void {
    this.#closures[part] = undefined
  }

  /**
   * Finds the sets of the pure parts inside a part, but stops each after this many steps. Looking into a known set is cheaper than a walk
   * for every object, but a set may be much larger than the list of objects.
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
