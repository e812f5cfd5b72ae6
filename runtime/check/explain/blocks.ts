import { type Formula, yes } from "../evaluate/fixpoint.ts"
import type { AnyPart, ProgramPart } from "../evaluate/program.ts"
import { isFalse } from "../evaluate/question.ts"
import type { ProofNode } from "../ports.ts"
import { type Decided, DecisionProof } from "./proof.ts"

const blocksMax = 5
const nodesMax = 2_000

/** The exclusions that take away a relation that would otherwise hold; for each the proof of the subtraction, nearest first. */
export class Blocks {
  readonly proofs: ProofNode[] = []
  complete = true
  readonly #decided: Decided
  readonly #seen = new Set([0])

  constructor(decided: Decided) {
    this.#decided = decided
  }

  *find(): Generator<void> {
    const { collector, question } = this.#decided
    for (const number of this.#seen) {
      if (this.#seen.size > nodesMax || this.proofs.length >= blocksMax) {
        this.complete = false
        return
      }
      const node = collector.nodes[number]
      const part = node === undefined ? undefined : question.program.parts[node.relation]
      if (part !== undefined && node?.formula !== undefined) yield* this.#part(part, node.formula, number)
      yield
    }
  }

  #holds(formula: Formula): boolean {
    return this.#decided.solver.truth(formula) === yes
  }

  *#part(part: ProgramPart, formula: Formula, number: number): Generator<void> {
    yield
    if (this.#holds(formula)) return
    if (part.op === "but" && formula.op === "but") {
      if (!this.#holds(formula.base)) yield* this.#part(part.base, formula.base, number)
      else if (this.#holds(formula.subtract)) yield* this.#prove(part.subtract, formula.subtract, number)
    } else if (part.op === "all" && formula.op === "all") {
      // When more than one operand is false, an exclusion in one of them is not the only obstacle.
      const [only, ...others] = formula.parts.flatMap((inner, at) => (this.#holds(inner) ? [] : [at]))
      if (only !== undefined && others.length === 0)
        yield* this.#part(part.children[only] as ProgramPart, formula.parts[only] as Formula, number)
    } else if (part.op === "any" && formula.op === "any") {
      this.#follow(part, number)
      for (let at = 0; at < formula.parts.length; at++)
        yield* this.#part(part.branches[at] as ProgramPart, formula.parts[at] as Formula, number)
    }
  }

  #follow(part: AnyPart, number: number): void {
    const { question, collector } = this.#decided
    const { object } = collector.nodes[number] as (typeof collector.nodes)[number]
    const add = (other: number) => {
      if (other >= 0) this.#seen.add(other)
    }
    for (const ref of part.refs) add(collector.numberOf(object, ref))
    for (const hop of part.hops) {
      if (!question.open(object, hop.slot)) continue
      const end = Math.min(question.listEnd, question.listStart + nodesMax)
      for (const other of question.list.slice(question.listStart, end)) {
        const slot = question.slots[hop.slot] as number
        if (hop.condition === undefined || question.edge(object, slot, other, hop.condition) !== isFalse)
          add(collector.numberOf(other, hop.target))
      }
    }
  }

  *#prove(part: ProgramPart, formula: Formula, number: number): Generator<void> {
    const proof = new DecisionProof(this.#decided)
    yield* proof.ofPart(part, formula, number)
    const { tree } = proof
    if (tree !== undefined) this.proofs.push(tree)
    if (!proof.complete) this.complete = false
  }
}
