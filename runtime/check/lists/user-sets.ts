import { IntList } from "../evaluate/int-list.ts"
import { NodeTable } from "../evaluate/node-table.ts"
import type { AnyPart, Hop, ProgramPart, Test } from "../evaluate/program.ts"
import { type EngineQuestion, isError, isFalse, isTrue, type KnownSets } from "../evaluate/question.ts"
import { UserWalk } from "./user-walk.ts"

/** Exactly the users that hold a part of an object. */
interface UserSet {
  readonly users: Pick<IntList, "length" | "get">
  /** All users of the type hold it, by the wildcard. */
  readonly wildcard: boolean
  has(user: number): boolean
}

class FoundSet implements UserSet {
  readonly users = new IntList()
  readonly wildcard = false
  readonly #has = new Set<number>()

  has(user: number): boolean {
    return this.#has.has(user)
  }

  add(user: number): void {
    if (this.#has.has(user)) return
    this.#has.add(user)
    this.users.push(user)
  }
}

/**
 * Which users hold which part of which object, as whole sets: found once for a list of users instead of one check per user. For a pure part
 * it is plain reachability. Other sets are combined from those of the parts and objects below, the deepest first. No set is known where
 * that is impossible: a cycle through more than tuples and unions, an undecidable condition, a wildcard under an operator, a set that costs
 * more than checks.
 */
export class UserSets implements KnownSets {
  /** The user to look up. */
  user = -1
  readonly #question: EngineQuestion
  readonly #depthMax: number
  /** By object and part: the number of its set; -1: no set. */
  readonly #numbers = new NodeTable()
  readonly #sets: UserSet[] = []
  #setSteps = 0
  #end = 0

  constructor(question: EngineQuestion, depthMax: number) {
    this.#question = question
    this.#depthMax = depthMax
  }

  /** Finds the sets of nodes (pairs of object and relation, the deepest last) for a list of this many users. */
  *prepare(nodes: readonly number[], users: number): Generator<void> {
    const { program } = this.#question
    // Sets that are much larger than the list are not worth finding, and neither are very many sets.
    this.#setSteps = 256 + 4 * users
    this.#end = this.#question.steps + 16 * this.#setSteps + 10_000
    const open: number[] = []
    for (let at = nodes.length - 2; at >= 0; at -= 2)
      if (program.pure[nodes[at + 1] as number] !== true)
        open.push(nodes[at] as number, nodes[at + 1] as number)
    // A node mostly depends on deeper nodes, but not always. So repeat while new sets are found.
    for (let before = -1; before !== this.#sets.length && this.#question.steps <= this.#end; ) {
      before = this.#sets.length
      for (let at = 0; at < open.length; at += 2) {
        yield* this.#ofRelation(open[at] as number, open[at + 1] as number)
        if ((at & 1023) === 1022) yield
      }
    }
  }

  *#ofRelation(object: number, relation: number): Generator<void> {
    const { program } = this.#question
    const part = program.parts[relation]
    if (part === undefined || this.#numbers.find(object, relation) >= 0) return
    const found = yield* this.#ofPart(object, part)
    if (found === undefined || relation !== program.own) return
    // A userset has its own relation on itself.
    const whole = new FoundSet()
    whole.add(object)
    for (let at = 0; at < found.users.length; at++) whole.add(found.users.get(at))
    this.#keep(object, relation, whole)
  }

  truth(object: number, part: number): number {
    const found = this.#known(object, part)
    if (found === undefined) return -1
    return found.has(this.user) || (found.wildcard && this.#question.wildcard >= 0) ? isTrue : isFalse
  }

  /** Whether a tuple other than the wildcard's names the user on the way to a part; -1 when unknown. */
  mentions(object: number, part: number): number {
    const found = this.#known(object, part)
    if (found === undefined) return -1
    return found.has(this.user) ? isTrue : isFalse
  }

  #known(object: number, part: number): UserSet | undefined {
    const at = this.#numbers.find(object, part)
    return at < 0 ? undefined : this.#sets[this.#numbers.state(at)]
  }

  #keep(object: number, part: number, found: UserSet | undefined): UserSet | undefined {
    const number = found === undefined ? -1 : this.#sets.push(found) - 1
    const at = this.#numbers.find(object, part)
    if (at < 0) this.#numbers.add(object, part, number, 0)
    else this.#numbers.set(at, number, 0)
    return found
  }

  *#ofPart(object: number, part: ProgramPart): Generator<void, UserSet | undefined> {
    const { number } = part
    if (this.#numbers.find(object, number) >= 0) return this.#known(object, number)
    if (this.#question.steps > this.#end) return undefined
    if (this.#question.program.pure[number] === true) return yield* this.#pure(object, number)
    // Sets of inner parts are found even when the whole has none, because the machine reads them.
    const found =
      part.op === "any"
        ? yield* this.#union(object, part)
        : part.op === "but"
          ? yield* this.#without(object, part.base, part.subtract)
          : yield* this.#common(object, part.children)
    return found === undefined ? undefined : this.#keep(object, number, found)
  }

  *#pure(object: number, part: number): Generator<void, UserSet | undefined> {
    const walk = new UserWalk(this.#question, {
      nodes: [object, part],
      everything: false,
      depthMax: this.#depthMax,
      stepsMax: this.#setSteps,
    })
    yield* walk.run()
    return this.#keep(object, part, walk.missed || walk.tooDeep || walk.cut ? undefined : walk)
  }

  /** The set of a relation of an object below. */
  *#ofNode(object: number, relation: number): Generator<void, UserSet | undefined> {
    if (this.#numbers.find(object, relation) >= 0) return this.#known(object, relation)
    if (this.#question.program.pure[relation] !== true || this.#question.steps > this.#end) return undefined
    return yield* this.#pure(object, relation)
  }

  *#without(object: number, base: ProgramPart, subtract: ProgramPart): Generator<void, UserSet | undefined> {
    const from = yield* this.#ofPart(object, base)
    const taken = yield* this.#ofPart(object, subtract)
    if (from === undefined || taken === undefined || from.wildcard) return undefined
    const found = new FoundSet()
    if (taken.wildcard && this.#question.wildcard >= 0) return found
    return yield* this.#addAll(found, from, (user) => !taken.has(user))
  }

  *#common(object: number, parts: readonly ProgramPart[]): Generator<void, UserSet | undefined> {
    const sets: UserSet[] = []
    for (const part of parts) {
      const one = yield* this.#ofPart(object, part)
      if (one === undefined || one.wildcard) return undefined
      sets.push(one)
    }
    const [least, ...others] = sets.sort((one, other) => one.users.length - other.users.length)
    if (least === undefined) return undefined
    return yield* this.#addAll(new FoundSet(), least, (user) => others.every((other) => other.has(user)))
  }

  *#union(object: number, part: AnyPart): Generator<void, UserSet | undefined> {
    const found = new FoundSet()
    let whole = true
    for (const hop of part.hops) whole = whole && (yield* this.#canJoin(object, hop))
    if (part.self) found.add(object)
    for (const branch of part.branches) {
      const one = yield* this.#ofPart(object, branch)
      if (!(yield* this.#join(found, one))) whole = false
    }
    for (const ref of part.refs)
      if (!(yield* this.#join(found, yield* this.#ofNode(object, ref)))) whole = false
    for (const test of part.tests) if (!whole || !(yield* this.#tests(found, object, test))) return undefined
    for (const hop of part.hops) if (!whole || !(yield* this.#hops(found, object, hop))) return undefined
    return whole ? found : undefined
  }

  *#tests(found: FoundSet, object: number, test: Test): Generator<void, boolean> {
    const ids = this.#list(object, test.slot)
    if (ids === undefined || (test.wildcard && ids.length > 0)) return false
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number
      const value = this.#edge(object, test, id)
      if (value === isError) return false
      if (value === isTrue) found.add(id)
      if ((at & 511) === 511) yield
    }
    return true
  }

  /** Whether all sets that a hop leads to are known. */
  *#canJoin(object: number, { slot, target }: Hop): Generator<void, boolean> {
    if (this.#question.program.pure[target] === true) return true
    const ids = this.#list(object, slot)
    if (ids === undefined) return false
    this.#question.steps += ids.length
    for (let at = 0; at < ids.length; at++) {
      if (this.#numbers.find(ids[at] as number, target) < 0) return false
      if ((at & 1023) === 1023) yield
    }
    return true
  }

  *#hops(found: FoundSet, object: number, hop: Hop): Generator<void, boolean> {
    const ids = this.#list(object, hop.slot)
    if (ids === undefined) return false
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number
      const value = this.#edge(object, hop, id)
      if (value === isError) return false
      if (value === isTrue && !(yield* this.#join(found, yield* this.#ofNode(id, hop.target)))) return false
      if ((at & 255) === 255) yield
    }
    return true
  }

  #edge(object: number, { slot, condition }: Test | Hop, other: number): number {
    const question = this.#question
    question.steps++
    if (condition === undefined) return isTrue
    return question.edge(object, question.slots[slot] as number, other, condition)
  }

  #list(object: number, slot: number): Int32Array | undefined {
    const question = this.#question
    return question.open(object, slot) ? question.list.slice(question.listStart, question.listEnd) : undefined
  }

  /** False when the other set is unknown, or contains all users. */
  *#join(found: FoundSet, other: UserSet | undefined): Generator<void, boolean> {
    if (other === undefined || other.wildcard) return false
    return (yield* this.#addAll(found, other, () => true)) !== undefined
  }

  *#addAll(
    found: FoundSet,
    from: UserSet,
    belongs: (user: number) => boolean,
  ): Generator<void, FoundSet | undefined> {
    const { users } = from
    for (let at = 0; at < users.length; at++) {
      const user = users.get(at)
      this.#question.steps++
      if (belongs(user)) found.add(user)
      if ((at & 511) !== 511) continue
      if (this.#question.steps > this.#end) return undefined
      yield
    }
    return found
  }
}
