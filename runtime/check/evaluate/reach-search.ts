import type { Closure } from "./closure.ts"
import { NodeTable } from "./node-table.ts"
import type { AnyPart } from "./program.ts"
import { type EngineQuestion, isError, isFalse, isMiss, isTrue } from "./question.ts"

export interface SearchStart {
  readonly question: EngineQuestion
  readonly closure: Closure
  readonly objects: Int32Array
  /** The objects were already tested for tuples of the subject itself. */
  readonly tested: boolean
  readonly target: number
  /** Hops between the question's own object and `objects`, and the maximum. */
  readonly depth: number
  readonly depthMax: number
}

/**
 * Has the subject the pure relation `target` on one of some objects? Plain reachability, searched from both ends: the side that would visit
 * fewer nodes next grows by one level. This bounds both bad cases: many nested groups above a user with few memberships, and a user in
 * thousands of groups against one small group. A generator, because only searches of thousands of nodes are interrupted.
 *
 * Returns true, false, miss, or error when only paths beyond the depth limit are left.
 */
export class ReachSearch {
  /** Nodes reached from the objects, with their depth as state. */
  readonly seen = new NodeTable()
  readonly #start: SearchStart
  #frontier: number[] = []
  #depth: number
  #missed = false
  #met = false
  /** Both sides met, but on a path with too many hops. */
  #metTooFar = false
  /** The limit stopped this side before it had visited all nodes. */
  #cut = false

  constructor(start: SearchStart) {
    this.#start = start
    this.#depth = start.depth
  }

  *run(): Generator<void, number> {
    const { question, closure, objects, target, depthMax, tested } = this.#start
    if (!tested) yield* this.#test()
    // The subject is in no tuple, so the objects need no search.
    if (closure.complete && closure.isEmpty) return isFalse
    for (let at = 0; at < objects.length; at++) {
      this.#see(objects[at] as number, target)
      question.steps++
      if ((at & 255) === 255) yield
    }
    while (!this.#met) {
      yield
      const canGrow = !closure.exhausted && closure.reached <= depthMax
      if (closure.complete) return this.#metTooFar ? isError : isFalse
      if (this.#frontier.length === 0) {
        if (!this.#missed && !this.#cut) return this.#metTooFar ? isError : isFalse
        if (!canGrow) return this.#missed || closure.missed ? isMiss : isError
      }
      if (canGrow && closure.pending <= this.#frontier.length / 2)
        yield* closure.grow((object, relation, level) => this.#meet(object, relation, level))
      else if (this.#frontier.length > 0) yield* this.#forward()
      else yield* closure.grow((object, relation, level) => this.#meet(object, relation, level))
    }
    return isTrue
  }

  /** Level 0 of the closure contains the direct tuples; the objects are tested one by one only when it has gaps. */
  *#test(): Generator<void> {
    const { question, closure, objects, target } = this.#start
    if (closure.reached < 0) yield* closure.grow(() => {})
    if (!closure.missed) return
    for (let at = 0; at < objects.length; at++) {
      const value = this.#direct(objects[at] as number, target)
      if (value === isTrue) this.#met = true
      if (value === isMiss) this.#missed = true
      question.steps++
      if ((at & 255) === 255) yield
    }
  }

  #direct(object: number, relation: number): number {
    const { question } = this.#start
    if (relation === question.program.own && object === question.subject) return isTrue
    return question.tests(object, question.program.parts[relation] as AnyPart)
  }

  /** A new node of the closure: checks whether the other side has seen it. */
  #meet(object: number, relation: number, level: number): void {
    const at = this.seen.find(object, relation)
    if (at >= 0) this.#join(this.seen.state(at) + level)
  }

  #join(hops: number): void {
    if (hops <= this.#start.depthMax) this.#met = true
    else this.#metTooFar = true
  }

  #see(object: number, relation: number): void {
    if (this.seen.find(object, relation) >= 0) return
    this.seen.add(object, relation, this.#depth, 0)
    const level = this.#start.closure.level(object, relation)
    if (level >= 0) this.#join(this.#depth + level)
    this.#frontier.push(object, relation)
  }

  *#forward(): Generator<void> {
    const { question, depthMax } = this.#start
    const frontier = this.#frontier
    this.#frontier = []
    this.#depth++
    for (let at = 0; at < frontier.length && !this.#met; at += 2) {
      const object = frontier[at] as number
      const part = question.program.parts[frontier[at + 1] as number] as AnyPart
      for (const { slot, target } of part.hops) {
        if (!question.open(object, slot)) {
          this.#missed = true
          continue
        }
        if (question.listEnd === question.listStart) continue
        if (this.#depth > depthMax) {
          this.#cut = true
          this.#frontier = []
          return
        }
        const ids = question.list.slice(question.listStart, question.listEnd)
        yield* this.#visit(ids, target)
        if (this.#met) return
      }
    }
  }

  *#visit(ids: Int32Array, target: number): Generator<void> {
    const { question } = this.#start
    for (let at = 0; at < ids.length; at++) {
      const object = ids[at] as number
      if ((at & 255) === 255) yield
      question.steps++
      if (this.seen.find(object, target) >= 0) continue
      const value = this.#direct(object, target)
      if (value === isTrue) {
        this.#met = true
        return
      }
      if (value === isMiss) this.#missed = true
      this.#see(object, target)
      if (this.#met) return
    }
  }
}
