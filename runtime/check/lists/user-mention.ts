import { NodeTable } from "../evaluate/node-table.ts"
import type { AnyPart } from "../evaluate/program.ts"
import { isFalse, isMiss, isTrue } from "../evaluate/question.ts"
import type { UserSets } from "./user-sets.ts"
import type { CandidateVerification } from "./verification.ts"

/**
 * A user has a relation on an object. Does a tuple that names the user, and not only a wildcard, contribute to it? Only true branches are
 * searched: any operand of an intersection, the base of an exclusion. True, false or miss.
 */
export function* isMentioned(
  verification: CandidateVerification,
  sets: UserSets,
  object: number,
  relation: number,
): Generator<void, number> {
  const search = new MentionSearch(verification, sets)
  return yield* search.run(object, relation)
}

class MentionSearch {
  readonly #verification: CandidateVerification
  readonly #sets: UserSets
  readonly #seen = new NodeTable()
  /** Pairs of object and part that hold. */
  readonly #waiting: number[] = []
  #missed = false

  constructor(verification: CandidateVerification, sets: UserSets) {
    this.#verification = verification
    this.#sets = sets
  }

  *run(object: number, relation: number): Generator<void, number> {
    const { question } = this.#verification
    this.#add(object, relation)
    while (this.#waiting.length > 0) {
      const number = this.#waiting.pop() as number
      const at = this.#waiting.pop() as number
      question.steps++
      const known = this.#sets.mentions(at, number)
      if (known === isTrue) return isTrue
      if (known === isFalse) continue
      const part = question.program.parts[number]
      if (part?.op === "but") this.#add(at, part.base.number)
      else if (part?.op === "all") for (const child of part.children) this.#add(at, child.number)
      else if (part !== undefined && (yield* this.#any(at, part))) return isTrue
    }
    return this.#missed ? isMiss : isFalse
  }

  #add(object: number, part: number): void {
    if (this.#seen.find(object, part) >= 0) return
    this.#seen.add(object, part, 0, 0)
    this.#waiting.push(object, part)
  }

  *#any(object: number, { tests, refs, branches, hops }: AnyPart): Generator<void, boolean> {
    const { question } = this.#verification
    for (const { slot, wildcard, condition } of tests) {
      if (wildcard) continue
      const graphSlot = question.slots[slot] as number
      let value = question.has(object, graphSlot, question.subject)
      if (value === isTrue && condition !== undefined)
        value = question.edge(object, graphSlot, question.subject, condition)
      if (value === isTrue) return true
      if (value === isMiss) this.#missed = true
    }
    const nodes: number[] = []
    for (const ref of refs) nodes.push(object, ref)
    for (const branch of branches) nodes.push(object, branch.number)
    for (const { slot, target, condition } of hops) {
      if (!question.open(object, slot)) {
        this.#missed = true
        continue
      }
      const ids = question.list.slice(question.listStart, question.listEnd)
      for (let place = 0; place < ids.length; place++) {
        const id = ids[place] as number
        const edge =
          condition === undefined
            ? isTrue
            : question.edge(object, question.slots[slot] as number, id, condition)
        if (edge === isTrue) nodes.push(id, target)
        if ((place & 255) === 255) yield
      }
    }
    const { values } = yield* this.#verification.decide(nodes)
    values.forEach((value, at) => {
      if (value === isTrue) this.#add(nodes[2 * at] as number, nodes[2 * at + 1] as number)
      if (value === isMiss) this.#missed = true
    })
    return false
  }
}
