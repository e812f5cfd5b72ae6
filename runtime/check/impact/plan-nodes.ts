import { NodeTable } from "../evaluate/node-table.ts"
import { none } from "../graph/adjacency.ts"
import type { Graph } from "../graph/graph.ts"
import type { DifferenceCandidates } from "./candidates.ts"
import { IntBuffer } from "./int-buffer.ts"
import type { NamedSets } from "./named-sets.ts"
import type { HopSlot, ImpactSide, PairedPart, PairedProgram } from "./paired-program.ts"
import { TupleConditions } from "./tuple-conditions.ts"

/** Nodes between two yields. */
const nodesAtOnce = 1_024

/** What is read from the tuples for one question about all users. */
export interface GraphTerms {
  readonly graph: Graph
  readonly program: PairedProgram
  readonly candidates: DifferenceCandidates
  readonly sets: NamedSets
  /** Values for conditions. */
  readonly context: Readonly<Record<string, unknown>> | undefined
}

/**
 * Nodes as they are written in the plans, before what is equal is united: a part of a plan of one model, on an object. A hop by a tuple whose condition
 * is undecided leads to a gate, a node of its own with what decides the condition; only the gate reads the other object.
 */
export class PlanNodes {
  /** The object of a node; of a gate, the number of its condition. */
  readonly objects = new IntBuffer()
  /** What a node reads, from `kidsStart`: `2 * node`, plus 1 in a gate. */
  readonly kids = new IntBuffer()
  readonly kidsStart = new IntBuffer()
  readonly conditions: TupleConditions
  readonly #terms: GraphTerms
  /** The part of a node; of a gate, `-1 - node` of what it reads. */
  readonly #parts = new IntBuffer()
  #table = new NodeTable()

  constructor(terms: GraphTerms) {
    this.#terms = terms
    this.conditions = new TupleConditions(terms.graph, terms.context)
    this.kidsStart.push(0)
  }

  get count(): number {
    return this.objects.length
  }

  get bytes(): number {
    const lists = [this.objects, this.#parts, this.kids, this.kidsStart]
    return lists.reduce((sum, { bytes }) => sum + bytes, 40 * this.#table.size)
  }

  /** The part of a plan; undefined for a gate. */
  partOf(node: number): PairedPart | undefined {
    const part = this.#parts.array[node] as number
    return part < 0 ? undefined : this.#terms.program.parts[part]
  }

  /** Adds the node of a relation on an object in one model; -1 in a model without the relation. */
  rootOf(object: number, relation: number, side: ImpactSide): number {
    const part = this.#terms.program.relations[relation]?.sides[side]
    return part === undefined ? -1 : this.#intern(object, part.number)
  }

  /** The node of a relation on an object as a model decides it, before `forget`; -1 if it was not added. */
  find(object: number, number: number, side: ImpactSide): number {
    const part = this.#terms.program.relations[number]?.sides[this.#sideOf(object, number, side)]
    return part === undefined ? -1 : this.#known(object, part.number)
  }

  /** Adds everything that the nodes so far depend on. */
  *expand(): Generator<void> {
    for (let node = this.kidsStart.length - 1; node < this.count; node++) {
      if (node % nodesAtOnce === 0) yield
      const part = this.partOf(node)
      if (part === undefined) this.kids.push(2 * (-1 - (this.#parts.array[node] as number)) + 1)
      else this.#expand(this.objects.array[node] as number, part)
      this.kidsStart.push(this.kids.length)
    }
  }

  readsItself(node: number): boolean {
    const { kids, kidsStart } = this
    for (let at = kidsStart.array[node] as number; at < (kidsStart.array[node + 1] as number); at++)
      if ((kids.array[at] as number) >> 1 === node) return true
    return false
  }

  /** Ends `find`, and frees its memory. */
  forget(): void {
    this.#table = new NodeTable()
  }

  /** Frees what only the construction of the decision graph needs. */
  forgetKids(): void {
    this.kids.array = new Int32Array(0)
    this.kids.length = 0
  }

  #expand(object: number, part: PairedPart): void {
    const { forward } = this.#terms.graph
    for (const hop of part.hops) {
      const value = forward.find(object, hop.slot)
      if (value === none) continue
      if (value >= 0) this.#hop(object, value, hop, part.side)
      else {
        const { array, start, end } = forward.stretch(value)
        for (let at = start; at < end; at++) this.#hop(object, array[at] as number, hop, part.side)
      }
    }
    for (const ref of part.refs) this.#read(object, ref, part.side, true)
    for (const inner of part.parts) this.kids.push(2 * this.#intern(object, inner.number))
  }

  #hop(object: number, other: number, hop: HopSlot, side: ImpactSide): void {
    const truth = this.conditions.judge(object, hop, other)
    if (truth !== false) this.#read(other, hop.relation, side, truth)
  }

  /** Adds a reading of a relation of an object. Where the models decide equally, both read the same node. */
  #read(object: number, number: number, side: ImpactSide, truth: true | number): void {
    const { graph, program, sets } = this.#terms
    if (graph.forward.isEmpty(object) && !sets.hasAny(object)) return
    const part = program.relations[number]?.sides[this.#sideOf(object, number, side)]
    if (part === undefined) return
    const node = this.#intern(object, part.number)
    this.kids.push(2 * (truth === true ? node : this.#intern(truth, -1 - node)))
  }

  /** The old model also decides for the new one what the change does not concern. */
  #sideOf(object: number, number: number, side: ImpactSide): ImpactSide {
    const { program, candidates } = this.#terms
    return program.relations[number]?.affected === true && candidates.has(object, number) ? side : 0
  }

  #known(object: number, part: number): number {
    const known = this.#table.find(object, part)
    return known < 0 ? -1 : this.#table.state(known)
  }

  #intern(object: number, part: number): number {
    const known = this.#known(object, part)
    if (known >= 0) return known
    this.#table.add(object, part, this.count, 0)
    this.objects.push(object)
    this.#parts.push(part)
    return this.count - 1
  }
}
