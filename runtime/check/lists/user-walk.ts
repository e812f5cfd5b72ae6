import { IntList } from "../evaluate/int-list.ts"
import { NodeTable } from "../evaluate/node-table.ts"
import type { AnyPart, Hop, ProgramPart } from "../evaluate/program.ts"
import { type EngineQuestion, isError, isFalse } from "../evaluate/question.ts"

/** The start of a walk, and its limits. */
export interface WalkStart {
  /** Pairs of object and relation (or a part inside one). */
  readonly nodes: readonly number[]
  /** Also walks through subtractions, and ignores conditions. */
  readonly everything: boolean
  readonly depthMax: number
  /** The walk stops after this many steps. */
  readonly stepsMax: number
}

const foundMark = 1

/**
 * The users named by tuples on the ways in which a relation on an object may hold, found from the object forwards, level by level. For a
 * pure relation they are the users that have it. Otherwise nothing is subtracted, and conditions are evaluated only on tuples that lead on.
 * So the walk finds every user that has the relation by more than a wildcard.
 */
export class UserWalk {
  /** Objects of users (of usersets: the object before the `#`), each once. */
  readonly users = new IntList()
  /** Pairs of object and relation that were walked through. */
  readonly nodes: number[] = []
  /** Pairs of object and relation behind tuples with an undecidable condition, and the problem. */
  readonly uncertain: number[] = []
  problem = -1
  /** A tuple of the wildcard was met. */
  wildcard = false
  missed = false
  /** Some nodes are beyond the depth limit. */
  tooDeep = false
  /** The walk was stopped. */
  cut = false
  readonly #question: EngineQuestion
  readonly #start: WalkStart
  readonly #seen = new NodeTable()
  /** Users have a table of their own, because a user may also be an object that is walked through. */
  readonly #found = new NodeTable()
  #frontier = new IntList()
  #depth = 0

  constructor(question: EngineQuestion, start: WalkStart) {
    this.#question = question
    this.#start = start
  }

  *run(): Generator<void> {
    const { nodes, depthMax } = this.#start
    const end = this.#question.steps + this.#start.stepsMax
    for (let at = 0; at < nodes.length; at += 2) this.#visit(nodes[at] as number, nodes[at + 1] as number)
    for (; this.#frontier.length > 0; this.#depth++) {
      const level = this.#frontier
      this.#frontier = new IntList()
      if (this.#depth > depthMax) {
        this.tooDeep = true
        return
      }
      for (let at = 0; at < level.length; at += 2) {
        yield* this.#open(level.get(at), level.get(at + 1))
        if (this.#question.steps <= end) continue
        this.cut = true
        return
      }
    }
  }

  /** Whether this user was named. */
  has(user: number): boolean {
    return this.#found.find(user, foundMark) >= 0
  }

  #visit(object: number, part: number): void {
    this.#question.steps++
    if (this.#seen.find(object, part) >= 0) return
    this.#seen.add(object, part, 0, 0)
    this.#frontier.push(object)
    this.#frontier.push(part)
  }

  #name(user: number): void {
    if (this.#found.find(user, foundMark) >= 0) return
    this.#found.add(user, foundMark, 0, 0)
    this.users.push(user)
  }

  /** Opens a node with all relations of the same object that it is computed from. */
  *#open(object: number, number: number): Generator<void> {
    const { program } = this.#question
    const here = [number]
    for (const next of here) {
      this.nodes.push(object, next)
      if (next === program.own) this.#name(object)
      const part = program.parts[next]
      if (part === undefined) continue
      for (const union of this.#unionsOf(part)) {
        yield* this.#union(object, union)
        for (const ref of union.refs) {
          if (this.#seen.find(object, ref) >= 0) continue
          this.#seen.add(object, ref, 0, 0)
          here.push(ref)
        }
      }
    }
  }

  #unionsOf(part: ProgramPart): AnyPart[] {
    if (part.op === "any") return [part, ...part.branches.flatMap((branch) => this.#unionsOf(branch))]
    if (part.op === "all") return part.children.flatMap((child) => this.#unionsOf(child))
    const base = this.#unionsOf(part.base)
    return this.#start.everything ? [...base, ...this.#unionsOf(part.subtract)] : base
  }

  *#union(object: number, { self, tests, hops }: AnyPart): Generator<void> {
    if (self) this.#name(object)
    for (const { slot, wildcard } of tests) {
      const ids = this.#list(object, slot)
      if (wildcard) this.wildcard ||= ids.length > 0
      else
        for (let at = 0; at < ids.length; at++) {
          this.#question.steps++
          this.#name(ids[at] as number)
          if ((at & 511) === 511) yield
        }
    }
    for (const hop of hops) {
      const ids = this.#list(object, hop.slot)
      for (let at = 0; at < ids.length; at++) {
        if (this.#leads(object, hop, ids[at] as number)) this.#visit(ids[at] as number, hop.target)
        if ((at & 255) === 255) yield
      }
    }
    yield
  }

  /** Whether the condition of a tuple lets the walk pass. It may pass an undecidable condition. */
  #leads(object: number, { slot, target, condition }: Hop, other: number): boolean {
    if (condition === undefined || this.#start.everything) return true
    const question = this.#question
    const value = question.edge(object, question.slots[slot] as number, other, condition)
    if (value === isError) {
      this.uncertain.push(other, target)
      this.problem = question.worse(this.problem, question.problem)
    }
    return value !== isFalse
  }

  /** A copy, because lists move when the graph changes in the turns of other work. */
  #list(object: number, slot: number): Int32Array {
    const question = this.#question
    if (!question.open(object, slot)) {
      this.missed = true
      return noIds
    }
    return question.list.slice(question.listStart, question.listEnd)
  }
}

const noIds = new Int32Array(0)
