import { dropFrames, type Frame, takeFrame } from "./frame.ts"
import { memoFlagged, memoOpen, memoTentative, NodeMemo } from "./memo.ts"
import type { AllPart, AnyPart, ButPart, Hop, ProgramPart } from "./program.ts"
import { type EngineQuestion, isError, isFalse, isMiss, isTrue } from "./question.ts"
import { type MachineLimits, Searches } from "./searches.ts"

/** In addition to the truth values: the work continues in a newly pushed frame; or the steps of this turn are used up. */
const pushed = -1
export const suspended = -2
/** The top frame has not received a value yet. */
const start = -3

const framesKept = 1_024
/** Maximum number of nodes that an unsuccessful search leaves in the memo. */
const rememberedMax = 8_192

/** A discovery number above those of all open nodes: the value depends on no open node. */
const free = 0x7fff_ffff

/**
 * The evaluator: a depth-first walk over (object, relation) nodes with a stack of its own.
 *
 * A node that is met again while it is open reads as false. A false result that depends on such a reading is *tentative*; `low` is the
 * discovery number of the node that it depends on, as in Tarjan's algorithm. When a node ends true or with an error, the tentative results
 * above it are dropped. When a node ends false and depends on no open node, they become final. In cases where this reasoning does not hold
 * (a tentative result under `but not`, an error inside a cycle) the machine gives up with `flagged`, and the caller takes the slow path.
 */
export class Machine {
  question!: EngineQuestion
  /** The walk cannot decide; fixpoint.ts can. */
  flagged = false
  /** The walk met a node beyond the depth limit. */
  tooDeep = false
  /** Discovery number of the open node on which the last returned value depends, or `free`. */
  #low = free
  #limits: MachineLimits = { depthMax: 25, walkSteps: 256 }
  readonly #memo = new NodeMemo()
  readonly #searches = new Searches()
  readonly #frames: Frame[] = []
  #top = -1
  #discovered = 0
  #handed = start
  #until = 0

  /** Prepares for a question and forgets unfinished work. */
  begin(question: EngineQuestion, limits: MachineLimits): void {
    this.question = question
    this.flagged = false
    this.tooDeep = false
    this.#limits = limits
    this.#memo.clear()
    // One deep question must not keep its stack for ever.
    dropFrames(this.#frames, framesKept)
    this.#searches.begin(question, limits)
    this.#top = -1
    this.#discovered = 0
    this.#handed = start
    this.#low = free
  }

  /** Frees the memory of a large question. */
  release(): void {
    this.begin(this.question, this.#limits)
    for (const frame of this.#frames) frame.release()
  }

  /**
   * Evaluates a node: returns a truth value, or `suspended`; then call `run`. After the decision another node may be asked about the same
   * subject, and reuses known results. After `flagged`, call `abandon` first.
   */
  ask(object: number, relation: number): number {
    this.#handed = start
    const value = this.#enter(object, relation, 0)
    return value === pushed ? suspended : value
  }

  /**
   * Forgets the unfinished work of a flagged question. Decided nodes stay known; a node that needs one of the open nodes is flagged at
   * once.
   */
  abandon(): void {
    const open: number[] = []
    for (let at = 0; at <= this.#top; at++) {
      const frame = this.#frames[at] as Frame
      if (frame.kind === "node") open.push(frame.object, frame.relation)
    }
    this.#memo.abandon(open)
    this.#top = -1
    this.flagged = false
  }

  /** Continues for about this many steps. */
  run(steps: number): number {
    const { question } = this
    // One more, because entering a frame is already a step, and every call must make progress.
    this.#until = question.steps + steps + 1
    while (question.steps < this.#until) {
      const frame = this.#frames[this.#top] as Frame
      const value = this.#step(frame, this.#handed)
      if (this.flagged) return isFalse
      if (value === pushed) {
        this.#handed = start
        continue
      }
      if (value === suspended) {
        this.#handed = start
        return suspended
      }
      this.#top--
      if (this.#top < 0) return value
      this.#handed = value
    }
    return suspended
  }

  #step(frame: Frame, handed: number): number {
    this.question.steps++
    switch (frame.kind) {
      case "node":
        return handed === start ? this.#part(frame.part, frame) : this.#closeNode(frame, handed)
      case "any":
        return this.#any(frame, handed)
      case "all":
        return this.#all(frame, handed)
      case "but":
        return this.#but(frame, handed)
      case "search":
        return this.#search(frame)
    }
  }

  #push(kind: Frame["kind"], part: ProgramPart, above: Frame | undefined): Frame {
    this.#top++
    let frame = this.#frames[this.#top]
    if (frame === undefined) {
      frame = takeFrame()
      this.#frames.push(frame)
    }
    frame.open(kind, part)
    if (above !== undefined) {
      frame.object = above.object
      frame.depth = above.depth
    }
    return frame
  }

  /** Whether `relation` holds on `object`. Returns at once when direct tuples or the memo decide. */
  #enter(object: number, relation: number, depth: number): number {
    const { question } = this
    const { program } = question
    question.steps++
    this.#low = free
    if (depth > this.#limits.depthMax) return this.#beyond()
    if (relation === program.own && object === question.subject) return isTrue
    const part = program.parts[relation]
    if (part === undefined) return isFalse
    const known = question.known?.truth(object, relation) ?? -1
    if (known >= 0) return known
    let flags = isFalse
    let problem = -1
    if (part.op === "any") {
      flags = question.tests(object, part)
      problem = question.problem
      if (flags === isTrue || !question.leadsOn(object, part)) return flags
    }
    const state = this.#memo.read(object, relation)
    if (state >= 0) return this.#recall(state)
    const frame = this.#push("node", part, undefined)
    frame.object = object
    frame.relation = relation
    frame.depth = depth
    frame.discovery = ++this.#discovered
    frame.mark = this.#memo.open(object, relation, frame.discovery)
    frame.flags = flags
    frame.problem = problem
    return pushed
  }

  #beyond(): number {
    this.tooDeep = true
    this.question.problem = this.question.tooDeepProblem()
    return isError
  }

  #recall(state: number): number {
    const { extra } = this.#memo
    let value = state
    if (state === memoOpen || state === memoTentative) {
      this.#low = extra
      value = isFalse
    } else if (state === memoFlagged) {
      this.flagged = true
      value = isFalse
    } else if (state === isError) this.question.problem = extra
    return value
  }

  /** Records a node's value and updates the tentative results above it. */
  #closeNode({ object, relation, discovery, mark }: Frame, value: number): number {
    const rests = this.#low < discovery
    if (value === isFalse && rests) {
      // Nodes that read this one inherit its dependencies: `low` stays.
      this.#memo.suspect(object, relation, discovery, this.#low)
      return isFalse
    }
    if (value !== isTrue && rests) this.flagged = true
    else if (value === isFalse) this.#memo.deny(object, relation, discovery, mark)
    else this.#memo.decide(object, relation, value, this.question.problem, mark)
    this.#low = free
    return value
  }

  /** A part inside a node: returns its value when direct tuples decide, else pushes a frame. */
  #part(part: ProgramPart, above: Frame): number {
    const { question } = this
    if (above.kind === "node") {
      const frame = this.#push(part.op, part, above)
      // The tests already ran when the node was entered.
      frame.flags = above.flags
      frame.problem = above.problem
      return pushed
    }
    let flags = isFalse
    this.#low = free
    const known = question.known?.truth(above.object, part.number) ?? -1
    if (known >= 0) return known
    if (part.op === "any") {
      flags = question.tests(above.object, part)
      if (flags === isTrue || !question.leadsOn(above.object, part)) return flags
    }
    const problem = question.problem
    const frame = this.#push(part.op, part, above)
    frame.flags = flags
    frame.problem = problem
    return pushed
  }

  #any(frame: Frame, handed: number): number {
    const part = frame.part as AnyPart
    if (handed !== start && this.#absorb(frame, handed)) return isTrue
    for (;;) {
      if (this.question.steps >= this.#until) return suspended
      let value: number
      if (frame.at < frame.end) {
        this.#low = free
        value = frame.testing ? this.#searches.test(frame.next(), frame.target) : this.#enterNext(frame)
      } else if (frame.testing) {
        frame.testing = false
        value = this.#beginSearch(frame, true)
      } else {
        const refs = part.refs.length
        const hops = refs + part.hops.length
        const index = frame.index++
        if (index < refs) value = this.#enter(frame.object, part.refs[index] as number, frame.depth)
        else if (index < hops) value = this.#openHop(frame, part.hops[index - refs] as Hop)
        else if (index < hops + part.branches.length)
          value = this.#part(part.branches[index - hops] as ProgramPart, frame)
        else return this.#conclude(frame, frame.flags)
      }
      if (value === pushed) return pushed
      if (this.#absorb(frame, value)) return isTrue
    }
  }

  /** Adds an alternative's value; returns true when it decides. */
  #absorb(frame: Frame, handed: number): boolean {
    let value = handed
    const edge = frame.edge
    if (edge !== isTrue) {
      frame.edge = isTrue
      if (value === isTrue) this.question.problem = -1
      if (value !== isFalse) {
        value = value === isTrue ? edge : Math.max(value, edge)
        this.question.problem = this.question.worse(this.question.problem, frame.edgeProblem)
      }
    }
    if (value === isTrue) {
      this.#low = free
      return true
    }
    this.#note(frame, value)
    return false
  }

  /** A value that does not decide: false, error or miss. */
  #note(frame: Frame, value: number): void {
    if (this.#low < frame.low) frame.low = this.#low
    if (value === isError) frame.problem = this.question.worse(frame.problem, this.question.problem)
    if (value > frame.flags) frame.flags = value
  }

  #conclude(frame: Frame, value: number): number {
    this.#low = frame.low
    this.question.problem = frame.problem
    return value
  }

  /** Opens the list of a hop and decides how to process it. */
  #openHop(frame: Frame, hop: Hop): number {
    const { question } = this
    this.#low = free
    if (!question.open(frame.object, hop.slot)) return isMiss
    const length = question.listEnd - question.listStart
    if (length === 0) return isFalse
    if (frame.depth >= this.#limits.depthMax) return this.#beyond()
    frame.walk(question.list, question.listStart, question.listEnd)
    frame.target = hop.target
    const manner = this.#searches.mannerOf(hop, length)
    if (manner === "search") return this.#beginSearch(frame, false)
    frame.testing = manner === "test"
    return isFalse
  }

  #enterNext(frame: Frame): number {
    const { question } = this
    const object = frame.next()
    const refs = (frame.part as AnyPart).refs.length
    const hop = (frame.part as AnyPart).hops[frame.index - 1 - refs] as Hop
    this.#low = free
    if (hop.condition !== undefined) {
      const edge = question.edge(frame.object, question.slots[hop.slot] as number, object, hop.condition)
      if (edge === isFalse) return isFalse
      frame.edge = edge
      frame.edgeProblem = question.problem
    }
    return this.#enter(object, hop.target, frame.depth + 1)
  }

  #beginSearch(above: Frame, tested: boolean): number {
    const objects = above.ids()
    above.at = above.end
    this.#low = free
    const search = this.#searches.start(objects, above.target, above.depth + 1, tested)
    if (search === undefined) return isFalse
    const frame = this.#push("search", above.part, above)
    frame.search = search
    frame.running = search.run()
    return pushed
  }

  #search(frame: Frame): number {
    const { question } = this
    this.#low = free
    while (question.steps < this.#until) {
      const { done, value } = (frame.running as Generator<void, number>).next()
      question.steps++
      if (done !== true) continue
      if (value === isError) return this.#beyond()
      // Remembering a large search would block too long; nodes met again are searched again.
      if (value === isFalse && frame.search !== undefined && frame.search.seen.size <= rememberedMax)
        frame.search.seen.each((object, relation) => this.#memo.remember(object, relation))
      frame.search?.seen.release()
      return value
    }
    return suspended
  }

  #all(frame: Frame, handed: number): number {
    const { children } = frame.part as AllPart
    let value = handed
    for (;;) {
      if (value !== start) {
        if (value === isFalse) return isFalse
        if (value !== isTrue) this.#note(frame, value)
      }
      const child = children[frame.index++]
      if (child === undefined) return this.#conclude(frame, frame.flags === isFalse ? isTrue : frame.flags)
      value = this.#part(child, frame)
      if (value === pushed) return pushed
    }
  }

  #but(frame: Frame, handed: number): number {
    const { base, subtract } = frame.part as ButPart
    let value = handed
    if (frame.index === 0) {
      if (value === start) value = this.#part(base, frame)
      if (value === pushed) return pushed
      if (value === isFalse) return isFalse
      if (value !== isTrue) this.#note(frame, value)
      frame.index = 1
      value = this.#part(subtract, frame)
      if (value === pushed) return pushed
    }
    if (value === isTrue) {
      this.#low = free
      return isFalse
    }
    if (this.#low !== free) {
      // The subtraction depends on an open node: a cycle through negation.
      this.flagged = true
      return isFalse
    }
    if (value !== isFalse) this.#note(frame, value)
    return this.#conclude(frame, frame.flags === isFalse ? isTrue : frame.flags)
  }
}
