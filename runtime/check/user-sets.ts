import { NodeTable } from "./node-table.ts"
import { innerParts } from "./program.ts"
import { isFalse, isTrue, type Known, type Question } from "./question.ts"
import { UserWalk } from "./user-walk.ts"

/**
 * Who holds a pure part of an object, as whole sets: found once for a list of users instead of asked for each. Sets are found for the objects the list's walk went
 * through, and only as far as that costs less than asking.
 */
export class UserSets implements Known {
  /** The user whose truth is asked. */
  user = -1
  readonly #question: Question
  /** By object and part: the number of its set. */
  readonly #sets = new NodeTable()
  readonly #walks: UserWalk[] = []

  constructor(question: Question) {
    this.#question = question
  }

  /** Finds the sets of the parts inside these nodes (pairs of object and relation). */
  *prepare(nodes: readonly number[], users: number, depthMax: number): Generator<void> {
    const { program } = this.#question
    // A set far larger than the list is not worth being found; nor are very many.
    const stepsMax = 256 + 4 * users
    const end = this.#question.steps + 4 * stepsMax + 10_000
    for (let at = 0; at < nodes.length && this.#question.steps < end; at += 2) {
      const object = nodes[at] as number
      const part = program.parts[nodes[at + 1] as number]
      if (part === undefined) continue
      for (const { number } of [part, ...innerParts(part)]) {
        if (program.pure[number] !== true || this.#sets.find(object, number) >= 0) continue
        const walk = new UserWalk(this.#question, {
          nodes: [object, number],
          everything: false,
          depthMax,
          stepsMax,
        })
        yield* walk.run()
        if (walk.missed || walk.tooDeep || walk.cut) continue
        this.#sets.add(object, number, this.#walks.push(walk) - 1, 0)
      }
    }
  }

  truth(object: number, part: number): number {
    const at = this.#sets.find(object, part)
    if (at < 0) return -1
    const walk = this.#walks[this.#sets.state(at)] as UserWalk
    return walk.has(this.user) || (walk.wildcard && this.#question.wildcard >= 0) ? isTrue : isFalse
  }

  /** Does a tuple other than the wildcard's name the user on the way to a pure part? -1 where that is not known. */
  mentions(object: number, part: number): number {
    const at = this.#sets.find(object, part)
    if (at < 0) return -1
    return (this.#walks[this.#sets.state(at)] as UserWalk).has(this.user) ? isTrue : isFalse
  }
}
