import { NodeTable } from "../evaluate/node-table.ts"
import { none } from "../graph/adjacency.ts"
import type { Graph } from "../graph/graph.ts"
import { typeOfMark } from "../graph/slots.ts"
import { IntBuffer } from "./int-buffer.ts"
import type { NamedSets } from "./named-sets.ts"
import type { ImpactSide, PairedPart, PairedProgram, PairedRelation } from "./paired-program.ts"

/** Ids between two yields. */
const idsAtOnce = 4_096

/**
 * The nodes (object and relation) that two models may decide differently for somebody. Seeds are the objects that have a tuple in a part
 * of a plan that only one model has; from them the reverse direction of all hops of both models leads to the others. Every other node is
 * decided equally.
 */
export class DifferenceCandidates {
  /** Pairs of object and relation. */
  readonly nodes = new IntBuffer()
  /** The first nodes are seeds; this is their number. */
  seeds = 0
  readonly #table = new NodeTable()
  readonly #graph: Graph
  readonly #program: PairedProgram
  readonly #sets: NamedSets

  constructor(graph: Graph, program: PairedProgram, sets: NamedSets) {
    this.#graph = graph
    this.#program = program
    this.#sets = sets
  }

  get count(): number {
    return this.nodes.length / 2
  }

  has(object: number, relation: number): boolean {
    return this.#table.find(object, relation) >= 0
  }

  /** The numbers of the nodes that read a node, in one of the models. */
  readersOf(number: number): IntBuffer {
    const found = new IntBuffer(4)
    const object = this.nodes.array[2 * number] as number
    const add = (reader: number, relation: number) => {
      const at = this.#table.find(reader, relation)
      if (at >= 0) found.push(this.#table.state(at))
    }
    const { reverse } = this.#graph
    const relation = this.#program.relations[this.nodes.array[2 * number + 1] as number]
    for (const reader of relation?.readers ?? []) {
      const value = reader.slot < 0 ? object : reverse.find(object, reader.slot)
      if (value === none) continue
      if (value >= 0) add(value, reader.relation)
      else {
        const { array, start, end } = reverse.stretch(value)
        for (let at = start; at < end; at++) add(array[at] as number, reader.relation)
      }
    }
    return found
  }

  /** Finds them; yields now and then. */
  *find(): Generator<void> {
    yield* this.#findSeeds()
    this.seeds = this.count
    const { nodes } = this
    for (let at = 0; at < nodes.length; at += 2) {
      const object = nodes.array[at] as number
      for (const { slot, relation } of this.#program.relations[nodes.array[at + 1] as number]?.readers ?? [])
        if (slot < 0) this.#add(object, relation)
        else yield* this.#addReaders(object, slot, relation)
      if ((at & 2047) === 0) yield
    }
  }

  *#findSeeds(): Generator<void> {
    const byType = new Map<number, { relation: number; reach: SlotReach }[]>()
    for (const relation of this.#program.relations) {
      const reach = differingSlots(relation)
      if (reach.slots.size + reach.same.size === 0 && !reach.isAny) continue
      byType.set(relation.type, [...(byType.get(relation.type) ?? []), { relation: relation.number, reach }])
    }
    const { forward, names } = this.#graph
    for (let id = 0; byType.size > 0 && id < names.idsEnd; id++) {
      if (id % idsAtOnce === 0) yield
      const isEmpty = forward.isEmpty(id)
      if (isEmpty && !this.#sets.hasAny(id)) continue
      for (const { relation, reach } of byType.get(typeOfMark(names.mark(id))) ?? [])
        if ((reach.isAny && !isEmpty) || hasSlot(this.#graph, id, reach.slots) || this.#hasSet(id, reach))
          this.#add(id, relation)
    }
  }

  /** Whether a set of the object is named that has only one side of a relation. */
  #hasSet(object: number, { same, isAny }: SlotReach): boolean {
    const sets = this.#sets
    if (!sets.hasAny(object)) return false
    return isAny || [...same].some((each) => sets.find(object, each) >= 0)
  }

  *#addReaders(object: number, slot: number, relation: number): Generator<void> {
    const { reverse } = this.#graph
    const value = reverse.find(object, slot)
    if (value === none) return
    if (value >= 0) return this.#add(value, relation)
    const { array, start, end } = reverse.stretch(value)
    for (let at = start; at < end; at++) {
      this.#add(array[at] as number, relation)
      if ((at & (idsAtOnce - 1)) === 0) yield
    }
  }

  #add(object: number, relation: number): void {
    if (this.#table.find(object, relation) >= 0) return
    this.#table.add(object, relation, this.count, 0)
    this.nodes.push(object)
    this.nodes.push(relation)
  }
}

function hasSlot({ forward }: Graph, object: number, slots: ReadonlySet<number>): boolean {
  for (const slot of slots) if (forward.find(object, slot) !== none) return true
  return false
}

/** A part of a plan that only one model has: tuples of a slot, or another relation of the same object (slot -1). */
export interface UnlikePart {
  readonly slot: number
  /** The relation that is read; -1 for tuples of users. */
  readonly relation: number
  readonly side: ImpactSide
}

/** Which objects a difference concerns: those with a tuple in one of the slots, or all that have a tuple. */
interface SlotReach {
  readonly slots: Set<number>
  readonly parts: UnlikePart[]
  /** Relations of which a set has only one side. */
  readonly same: Set<number>
  isAny: boolean
}

/** The slots of which an object needs a tuple so that both models can decide the relation differently by their plans alone. */
export function differingSlots({ number, sides }: PairedRelation): SlotReach {
  const reach: SlotReach = { slots: new Set(), parts: [], same: new Set(), isAny: false }
  compareParts(sides[0], sides[1], reach)
  if (sides[0] === undefined || sides[1] === undefined) reach.same.add(number)
  return reach
}

function compareParts(old: PairedPart | undefined, next: PairedPart | undefined, reach: SlotReach): void {
  if (old === next || old?.text === next?.text) return
  if (old === undefined || next === undefined || old.op !== next.op) {
    addAll(old, reach)
    addAll(next, reach)
  } else if (old.op === "but") {
    compareParts(old.parts[0], next.parts[0], reach)
    compareParts(old.parts[1], next.parts[1], reach)
  } else {
    addUnlike(old, next, reach)
    addUnlike(next, old, reach)
    const [gone, come] = [unlike(old.parts, next.parts), unlike(next.parts, old.parts)]
    if (gone.length === 1 && come.length === 1) compareParts(gone[0], come[0], reach)
    // An operand of an intersection concerns also the objects on which only the others hold.
    else for (const part of old.op === "all" ? [old, next] : [...gone, ...come]) addAll(part, reach)
  }
}

/** The slots of a union that the other one does not have. */
function addUnlike(part: PairedPart, other: PairedPart, reach: SlotReach): void {
  const { side } = part
  for (const { key, slot } of part.direct)
    if (!other.direct.some((each) => each.key === key)) addPart(reach, { slot, relation: -1, side })
  for (const { key, slot, relation } of part.hops)
    if (!other.hops.some((each) => each.key === key && each.relation === relation))
      addPart(reach, { slot, relation, side })
  for (const relation of part.refs)
    if (!other.refs.includes(relation)) addPart(reach, { slot: -1, relation, side })
  for (const relation of part.same) if (!other.same.includes(relation)) reach.same.add(relation)
}

function addPart(reach: SlotReach, part: UnlikePart): void {
  reach.parts.push(part)
  if (part.slot < 0) reach.isAny = true
  else reach.slots.add(part.slot)
}

function unlike(parts: readonly PairedPart[], others: readonly PairedPart[]): PairedPart[] {
  return parts.filter(({ text }) => others.every((other) => other.text !== text))
}

function addAll(root: PairedPart | undefined, reach: SlotReach): void {
  if (root === undefined) return
  const waiting = [root]
  for (const part of waiting) {
    const { side } = part
    for (const { slot } of part.direct) addPart(reach, { slot, relation: -1, side })
    for (const { slot, relation } of part.hops) addPart(reach, { slot, relation, side })
    for (const relation of part.refs) addPart(reach, { slot: -1, relation, side })
    for (const relation of part.same) reach.same.add(relation)
    waiting.push(...part.parts)
  }
}
