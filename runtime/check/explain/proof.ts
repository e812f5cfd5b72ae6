import {
  type Collector,
  type FixpointNode,
  type Formula,
  no,
  type Solver,
  yes,
} from "../evaluate/fixpoint.ts"
import type { AnyPart, Hop, ProgramPart } from "../evaluate/program.ts"
import type { EngineQuestion } from "../evaluate/question.ts"
import type { ProofNode, TupleKey } from "../ports.ts"
import { tupleText } from "../tuple.ts"
import { type ProofItem, type ProofStep, TreeWriter } from "./tree.ts"
import { counts, isUserset, shown, slotOf } from "./tuples.ts"

/** Maximum nodes of a proof. */
const itemsMax = 30_000

/** What a step may depend on without a cycle. */
interface Known {
  holds(number: number): boolean
  fails(number: number): boolean
}

/** The source of a question's truth values. */
export interface Decided {
  readonly question: EngineQuestion
  readonly collector: Collector
  readonly solver: Solver
}

/**
 * Reads a proof from the truth values of a question. It is well-founded: a true node depends only on nodes that were found true before it,
 * and on nodes that were ruled out by then because of earlier truths. So the proof's tuples alone prove the same: a node that is ruled out
 * with more tuples stays so with fewer, except by its own exclusions, whose tuples are part of the proof.
 */
export class DecisionProof {
  readonly #decided: Decided
  readonly #items = new Map<number, ProofItem>()
  readonly #waiting: ProofItem[] = []
  /** False when the tree or the proof was cut. */
  complete = true
  #root: ProofStep | undefined
  readonly #tuples = new Map<string, TupleKey>()

  constructor(decided: Decided) {
    this.#decided = decided
  }

  /** Proves a node that is true. */
  *ofNode(number: number): Generator<void> {
    yield* this.#finish({
      ...this.#bare(number),
      by: "computed",
      holds: true,
      links: [this.#item(true, number)],
    })
  }

  /** Proves a part of a node that is true. */
  *ofPart(part: ProgramPart, formula: Formula, number: number): Generator<void> {
    const known: Known = {
      holds: (other) => this.#decided.solver.trueRound[other] !== 0,
      fails: (other) => this.#decided.solver.falseRound[other] !== 0,
    }
    yield* this.#finish(yield* this.#holds(part, formula, number, known))
  }

  *#finish(root: ProofStep): Generator<void> {
    this.#root = root
    for (let item = this.#waiting.pop(); item !== undefined; item = this.#waiting.pop()) {
      if (this.#items.size > itemsMax) {
        this.complete = false
        break
      }
      item.step = yield* this.#stepOf(item)
      this.#adopt(item, item.step)
      yield
    }
    yield* this.#collectTuples(root)
  }

  /** The tuples of the proof, each once, in the order of the tree. */
  get tuples(): readonly TupleKey[] {
    return [...this.#tuples.values()]
  }

  *#collectTuples(root: ProofStep): Generator<void> {
    const entered = new Set<ProofItem>()
    const steps = [root]
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      if (step.shown !== undefined) this.#tuples.set(tupleText(step.shown.tuple), step.shown.tuple)
      const below = [...(step.children ?? [])]
      for (const link of step.links ?? []) {
        if (entered.has(link)) continue
        entered.add(link)
        if (link.step !== undefined) below.push(link.step)
      }
      steps.push(...below.reverse())
      yield
    }
  }

  /** The tree to show. */
  get tree(): ProofNode | undefined {
    if (this.#root === undefined) return undefined
    const writer = new TreeWriter(this.#decided.question, (item) => this.#bare(item.number))
    const tree =
      this.#root.links?.length === 1 && this.#root.by === "computed"
        ? writer.item(this.#root.links[0] as ProofItem, 0)
        : writer.step(this.#root, 0)
    if (writer.cut) this.complete = false
    return tree
  }

  #item(holds: boolean, number: number): ProofItem {
    const key = 2 * number + (holds ? 1 : 0)
    const known = this.#items.get(key)
    if (known !== undefined) return known
    const made: ProofItem = { holds, number, step: undefined, telling: holds, usedBy: [] }
    this.#items.set(key, made)
    this.#waiting.push(made)
    return made
  }

  /** Records which item depends on which, and passes on that there is an exclusion to show. */
  #adopt(item: ProofItem, step: ProofStep): void {
    const steps = [step]
    let telling = false
    for (const one of steps) {
      if (one.holds) telling = true
      for (const link of one.links ?? []) {
        link.usedBy.push(item)
        if (link.telling) telling = true
      }
      steps.push(...(one.children ?? []))
    }
    if (!telling || item.telling) return
    const shown = [item]
    item.telling = true
    for (const one of shown)
      for (const user of one.usedBy)
        if (!user.telling) {
          user.telling = true
          shown.push(user)
        }
  }

  *#stepOf({ holds, number }: ProofItem): Generator<void, ProofStep> {
    const { question, solver } = this.#decided
    const node = this.#node(number)
    const part = question.program.parts[node.relation]
    const round = (holds ? solver.trueRound : solver.falseRound)[number] as number
    const order = solver.trueOrder[number] as number
    const { trueRound, trueOrder, falseRound } = solver
    const fails = (other: number) => falseRound[other] !== 0 && (falseRound[other] as number) <= round
    if (!holds)
      return part === undefined
        ? { ...this.#bare(number), by: "none", holds }
        : yield* this.#fails(part, node.formula as Formula, number, {
            holds: (other) => trueRound[other] !== 0 && (trueRound[other] as number) < round,
            fails,
          })
    if (part === undefined || (node.relation === question.program.own && node.object === question.subject))
      return { ...this.#bare(number), by: "self", holds }
    return yield* this.#holds(part, node.formula as Formula, number, {
      holds: (other) => trueRound[other] !== 0 && (trueOrder[other] as number) < order,
      fails,
    })
  }

  #node(number: number): FixpointNode {
    return this.#decided.collector.nodes[number] as FixpointNode
  }

  #bare(number: number): { object: number; relation: string } {
    const { object, relation } = this.#node(number)
    const { relations } = this.#decided.question.model.plan.relations
    return { object, relation: relations[relation]?.relation ?? "" }
  }

  *#holds(part: ProgramPart, formula: Formula, number: number, known: Known): Generator<void, ProofStep> {
    if (part.op === "all" && formula.op === "all") {
      const children: ProofStep[] = []
      for (let at = 0; at < part.children.length; at++)
        children.push(
          yield* this.#holds(part.children[at] as ProgramPart, formula.parts[at] as Formula, number, known),
        )
      return { ...this.#place(number, part), by: "intersection", holds: true, children }
    }
    if (part.op === "but" && formula.op === "but") {
      const base = yield* this.#holds(part.base, formula.base, number, known)
      const subtract = yield* this.#fails(part.subtract, formula.subtract, number, known)
      return { ...this.#place(number, part), by: "but not", holds: true, children: [base, subtract] }
    }
    return yield* this.#anyHolds(part as AnyPart, formula as AnyFormula, number, known)
  }

  *#anyHolds(part: AnyPart, formula: AnyFormula, number: number, known: Known): Generator<void, ProofStep> {
    const { question, collector } = this.#decided
    const bare = this.#place(number, part)
    const { object } = bare
    if (part.self && object === question.subject) return { ...bare, by: "self", holds: true }
    for (const test of part.tests) {
      const other = test.wildcard ? question.wildcard : question.subject
      if (!counts(question, test, object, other)) continue
      const by: ProofStep = { ...bare, by: "tuple", holds: true, shown: shown(question, test, object, other) }
      return this.#through(by, slotOf(question, test.slot).relation)
    }
    const hop = yield* this.#hopThatHolds(part, number, known)
    if (hop !== undefined) return hop
    for (const ref of part.refs) {
      const other = collector.numberOf(object, ref)
      if (other >= 0 && known.holds(other))
        return { ...bare, by: "computed", holds: true, links: [this.#item(true, other)] }
    }
    for (let at = 0; at < part.branches.length; at++)
      if (isNowTrue(formula.parts[at], known))
        return yield* this.#holds(
          part.branches[at] as ProgramPart,
          formula.parts[at] as Formula,
          number,
          known,
        )
    throw new Error("a node found true has nothing to rest on")
  }

  /** The nearest element of the slot that holds. */
  *#hopThatHolds(part: AnyPart, number: number, known: Known): Generator<void, ProofStep | undefined> {
    const { question, collector } = this.#decided
    const { object } = this.#node(number)
    let found: { hop: Hop; other: number; number: number; depth: number } | undefined
    for (const hop of part.hops) {
      question.open(object, hop.slot)
      const ids = question.list.slice(question.listStart, question.listEnd)
      for (let at = 0; at < ids.length; at++) {
        if ((at & 1023) === 1023) yield
        const other = ids[at] as number
        const target = collector.numberOf(other, hop.target)
        if (target < 0 || !known.holds(target)) continue
        const { depth } = this.#node(target)
        if (found !== undefined && found.depth <= depth) continue
        if (counts(question, hop, object, other)) found = { hop, other, number: target, depth }
      }
    }
    if (found === undefined) return undefined
    const userset = isUserset(question, found.hop.slot)
    const step: ProofStep = {
      ...this.#place(number, part),
      by: userset ? "userset" : "from",
      holds: true,
      shown: shown(question, found.hop, object, found.other),
      links: [this.#item(true, found.number)],
    }
    return userset ? this.#through(step, slotOf(question, found.hop.slot).relation) : step
  }

  /** An inlined relation gets a step of its own in between. */
  #through(step: ProofStep, relation: string): ProofStep {
    if (relation === step.relation) return step
    return { ...step, by: "computed", shown: undefined, links: undefined, children: [{ ...step, relation }] }
  }

  *#fails(part: ProgramPart, formula: Formula, number: number, known: Known): Generator<void, ProofStep> {
    const bare = this.#place(number, part)
    if (part.op === "all" && formula.op === "all") {
      const at = formula.parts.findIndex((child) => isNowFalse(child, known))
      return yield* this.#fails(part.children[at] as ProgramPart, formula.parts[at] as Formula, number, known)
    }
    if (part.op === "but" && formula.op === "but") {
      if (isNowFalse(formula.base, known)) return yield* this.#fails(part.base, formula.base, number, known)
      const subtract = yield* this.#holds(part.subtract, formula.subtract, number, known)
      return { ...bare, by: "but not", holds: false, children: [subtract] }
    }
    if (part.op !== "any" || formula.op !== "any") throw new Error("a formula is not that of its part")
    const children: ProofStep[] = []
    for (let at = 0; at < part.branches.length; at++)
      children.push(
        yield* this.#fails(part.branches[at] as ProgramPart, formula.parts[at] as Formula, number, known),
      )
    const links: ProofItem[] = []
    for (const refs of [formula.refs, formula.unsureRefs])
      for (let at = 0; at < refs.length; at++) {
        if ((at & 1023) === 1023) yield
        const other = refs[at] as number
        if (!isPlainlyFalse(this.#node(other).formula)) links.push(this.#item(false, other))
      }
    return { ...bare, by: "none", holds: false, children, links }
  }

  /** The name of a part: an operand that is a relation of its own has that relation's name, any other the node's. */
  #place(number: number, part: ProgramPart): { object: number; relation: string } {
    const bare = this.#bare(number)
    const { question } = this.#decided
    const { parts } = question.program
    if (part.op !== "any" || parts[this.#node(number).relation] === part || part.branches.length > 0)
      return bare
    const { relations } = question.model.plan.relations
    const [ref] = part.refs
    if (part.same.length === 0)
      return ref === undefined || part.refs.length + part.tests.length + part.hops.length > 1
        ? bare
        : { ...bare, relation: relations[ref]?.relation ?? bare.relation }
    const isOwn = ({ slot }: { slot: number }) => slotOf(question, slot).relation === bare.relation
    if (part.tests.some(isOwn) || part.hops.some(isOwn)) return bare
    // The relation that was inlined first contains all others.
    const first = part.same.find((one) => {
      const own = parts[one]
      return own?.op === "any" && part.same.every((other) => other === one || own.same.includes(other))
    })
    return first === undefined ? bare : { ...bare, relation: relations[first]?.relation ?? bare.relation }
  }
}

type AnyFormula = Extract<Formula, { op: "any" }>

function isPlainlyFalse(formula: Formula | undefined): boolean {
  return (
    formula?.op === "any" &&
    formula.value === no &&
    formula.refs.length + formula.unsureRefs.length + formula.parts.length === 0
  )
}

function isNowTrue(formula: Formula | undefined, known: Known): boolean {
  if (formula === undefined) return false
  if (formula.op === "all") return formula.parts.every((part) => isNowTrue(part, known))
  if (formula.op === "but") return isNowTrue(formula.base, known) && isNowFalse(formula.subtract, known)
  return (
    formula.value === yes ||
    formula.refs.some(known.holds) ||
    formula.parts.some((part) => isNowTrue(part, known))
  )
}

function isNowFalse(formula: Formula, known: Known): boolean {
  if (formula.op === "all") return formula.parts.some((part) => isNowFalse(part, known))
  if (formula.op === "but") return isNowFalse(formula.base, known) || isNowTrue(formula.subtract, known)
  return (
    formula.value === no &&
    formula.refs.every(known.fails) &&
    formula.unsureRefs.every(known.fails) &&
    formula.parts.every((part) => isNowFalse(part, known))
  )
}
