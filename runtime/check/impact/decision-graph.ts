import { none } from "../graph/adjacency.ts"
import { componentsOf } from "./components.ts"
import { Grouped, IntBuffer } from "./int-buffer.ts"
import { NamedUsers } from "./named-users.ts"
import type { DirectSlot, ImpactSide, PairedPart } from "./paired-program.ts"
import type { GraphTerms, PlanNodes } from "./plan-nodes.ts"
import { SameNodes } from "./same-nodes.ts"
import type { ConditionWays } from "./tuple-conditions.ts"

/** Nodes between two yields. */
const nodesAtOnce = 1_024

/** Kinds of decided nodes. */
export const anyNode = 0
export const allNode = 1
export const butNode = 2

/** The node that nobody has. */
export const nobody = -1

/**
 * Nodes that depend on each other, with consecutive numbers. `isOdd`: some of them through a subtraction. `order`: all of them, the parts of
 * a relation's plan before the relation.
 */
export interface NodeCycle {
  readonly first: number
  readonly last: number
  readonly isOdd: boolean
  readonly order: readonly number[]
}

/**
 * All that decides the candidates, as one graph of nodes over both models. Nodes of the plans that are decided by the same tuples and nodes are
 * one node, also those of both models: so most objects that a change does not concern have one node in both. Numbers are in the order of decision: what
 * a node reads has lower numbers, except within a cycle.
 *
 * A reference to a node is `2 * node`, plus 1 if it passes a tuple whose condition is undecided. Only gates have such references: unions with
 * nothing else.
 */
export class DecisionGraph {
  readonly kinds = new IntBuffer()
  /** Conditions that are undecided in what decides a node, as a bit set of `conditions`. */
  readonly undecided = new IntBuffer()
  /** 1: an intersection, an exclusion or a gate is part of what decides a node, so that conditions may be needed together. */
  readonly mixed = new IntBuffer()
  /** The greatest number of hops below a node. */
  readonly heights = new IntBuffer()
  /** 1: the node is the whole plan of a relation, at least in a cycle. */
  readonly roots = new IntBuffer()
  readonly cycles: NodeCycle[] = []
  /** By gate: the number of what decides its condition. */
  readonly gates = new Map<number, number>()
  hasOddCycle = false
  hasUndecided = false
  readonly users: NamedUsers
  /** By node: references to the nodes that read it. */
  readers!: Grouped
  /** What a node reads, for `all`, `but` and nodes of cycles. */
  readonly reads = new IntBuffer()
  readonly readsStart = new IntBuffer()
  readonly #terms: GraphTerms
  readonly #plans: PlanNodes
  /** By node of the plans: its node in the graph. */
  readonly #finals: Int32Array
  #readNodes = new IntBuffer()
  #readerNodes = new IntBuffer()
  #same = new SameNodes()

  /** `plans` has all that is to be decided. */
  constructor(terms: GraphTerms, plans: PlanNodes) {
    this.#terms = terms
    this.#plans = plans
    this.users = new NamedUsers(terms)
    this.#finals = new Int32Array(plans.count).fill(nobody)
    this.readsStart.push(0)
  }

  get count(): number {
    return this.kinds.length
  }

  get bytes(): number {
    const lists = [
      this.kinds,
      this.undecided,
      this.mixed,
      this.heights,
      this.roots,
      this.reads,
      this.readsStart,
    ].concat([this.#readNodes, this.#readerNodes])
    const own = lists.reduce((sum, { bytes }) => sum + bytes, 4 * this.#finals.length)
    return own + this.#plans.bytes + this.users.bytes + this.#same.bytes
  }

  /** Names of the conditions that are undecided, by the bits of `undecided`. */
  get conditions(): readonly string[] {
    return this.#plans.conditions.names
  }

  /** The ways in which undecided conditions, by their numbers, can be true and false together, as far as that is known. */
  waysOf(numbers: readonly number[]): readonly ConditionWays[] {
    return this.#plans.conditions.waysOf(numbers)
  }

  /** The node of a relation on an object as a model decides it, after `build` and before `forget` of the plans; -1 if it is not part of the graph. */
  nodeOf(object: number, relation: number, side: ImpactSide): number {
    return this.finalOf(this.#plans.find(object, relation, side))
  }

  /** The node of one of the plans. */
  finalOf(raw: number): number {
    return raw < 0 ? nobody : (this.#finals[raw] as number)
  }

  /** Decides the order, unites what is equal, and reads who is named. */
  *build(): Generator<void> {
    const { count, kidsStart, kids } = this.#plans
    let found = 0
    for (const members of componentsOf(count, kidsStart.array, kids.array)) {
      if (members === undefined || ++found % nodesAtOnce === 0) yield
      if (members === undefined) continue
      const [only = 0] = members
      if (members.length === 1 && !this.#plans.readsItself(only))
        this.#finals[only] = this.#finishNode(only, this.#plans.partOf(only))
      else this.#finishCycle(members)
    }
    this.users.group()
    yield
    this.readers = new Grouped(this.#readNodes, this.#readerNodes, this.count)
    this.#readNodes = new IntBuffer()
    this.#readerNodes = new IntBuffer()
    this.#same = new SameNodes()
    this.#plans.forgetKids()
  }

  /** References to the decided nodes that a node reads, each once, sorted; without those that nobody has. */
  #kidsOf(raw: number): number[] {
    const { kids, kidsStart } = this.#plans
    const found: number[] = []
    for (let at = kidsStart.array[raw] as number; at < (kidsStart.array[raw + 1] as number); at++) {
      const kid = kids.array[at] as number
      const node = this.#finals[kid >> 1] as number
      if (node !== nobody) found.push(2 * node + (kid & 1))
    }
    if (found.length < 2) return found
    found.sort((a, b) => a - b)
    return found.filter((kid, at) => kid !== found[at - 1])
  }

  /** References to all operands in their order; -1 where nobody has one. */
  #operandsOf(raw: number): number[] {
    const { kids, kidsStart } = this.#plans
    const found: number[] = []
    for (let at = kidsStart.array[raw] as number; at < (kidsStart.array[raw + 1] as number); at++) {
      const node = this.finalOf((kids.array[at] as number) >> 1)
      found.push(node === nobody ? nobody : 2 * node)
    }
    return found
  }

  #finishNode(raw: number, part: PairedPart | undefined): number {
    if (part === undefined) return this.#finishGate(raw)
    if (part.op === "any") return this.#finishAny(raw, part)
    return this.#withOwnSet(raw, part, part.op === "all" ? this.#finishAll(raw) : this.#finishBut(raw))
  }

  #finishGate(raw: number): number {
    const kids = this.#kidsOf(raw)
    const condition = this.#plans.objects.array[raw] as number
    return kids.length === 0
      ? nobody
      : this.#same.find([anyNode, -3, condition, ...kids], () => {
          const node = this.#addReading(anyNode, kids)
          this.#noteGate(node, condition)
          return node
        })
  }

  #noteGate(node: number, condition: number): void {
    this.hasUndecided = true
    this.mixed.array[node] = 1
    this.gates.set(node, condition)
    this.#noteBits(node, this.#plans.conditions.bitOf(condition))
  }

  /** The node, also for the set of the relation itself, which has it however it is decided. */
  #withOwnSet(raw: number, part: PairedPart, node: number): number {
    const selves = this.#setsOf(raw, part)
    if (selves.length === 0) return node
    const object = this.#plans.objects.array[raw] as number
    const kids = node === nobody ? [] : [2 * node]
    return this.#same.find([anyNode, -1 - object, -1, ...kids, -2, ...selves], () => {
      const added = this.#addReading(anyNode, kids)
      this.users.addSets(object, selves, added)
      return added
    })
  }

  /** The relations of the object whose sets have a node of the plans, if tuples name them: its own, and those that were inlined. */
  #setsOf(raw: number, { isRoot, relation, same }: PairedPart): readonly number[] {
    const object = this.#plans.objects.array[raw] as number
    const { sets } = this.#terms
    if (!sets.hasAny(object)) return noRelations
    const found = same.filter((each) => sets.find(object, each) >= 0)
    if (isRoot && !found.includes(relation) && sets.find(object, relation) >= 0) found.push(relation)
    return found.sort((a, b) => a - b)
  }

  #finishAny(raw: number, part: PairedPart): number {
    const object = this.#plans.objects.array[raw] as number
    const direct = this.#directOf(object, part)
    const kids = this.#kidsOf(raw)
    const selves = this.#setsOf(raw, part)
    const isOwn = direct.length + selves.length > 0
    if (!isOwn && kids.length === 0) return nobody
    if (!isOwn && kids.length === 1) return (kids[0] as number) >> 1
    const text = isOwn
      ? [anyNode, -1 - object, ...direct.map(({ key }) => key), -1, ...kids]
      : [anyNode, ...kids]
    if (selves.length > 0) text.push(-2, ...selves)
    return this.#same.find(text, () => {
      const added = this.#addNode(anyNode, kids, part.hops.length > 0 ? 1 : 0)
      this.#readBy(added, kids)
      this.#addUsers(object, direct, selves, added)
      return added
    })
  }

  #addUsers(object: number, direct: readonly DirectSlot[], selves: readonly number[], node: number): void {
    for (const slot of direct) {
      const bits = this.users.addSlot(object, slot, node, this.#plans.conditions)
      if (bits !== 0) this.hasUndecided = true
      this.#noteBits(node, bits)
    }
    this.users.addSets(object, selves, node)
  }

  #noteBits(node: number, bits: number): void {
    this.undecided.array[node] = (this.undecided.array[node] as number) | bits
  }

  #finishAll(raw: number): number {
    if (this.#operandsOf(raw).includes(nobody)) return nobody
    const kids = this.#kidsOf(raw)
    if (kids.length === 1) return (kids[0] as number) >> 1
    return this.#same.find([allNode, ...kids], () => this.#addReading(allNode, kids))
  }

  #finishBut(raw: number): number {
    const [base = nobody, subtract = nobody] = this.#operandsOf(raw)
    if (base === nobody) return nobody
    if (subtract === nobody) return base >> 1
    const kids = [base, subtract]
    return this.#same.find([butNode, ...kids], () => this.#addReading(butNode, kids))
  }

  #addReading(kind: number, kids: readonly number[]): number {
    const node = this.#addNode(kind, kids, 0)
    this.#readBy(node, kids)
    return node
  }

  /** Adds a node. `hops` is 1 if its readings may lead to other objects. */
  #addNode(kind: number, kids: readonly number[], hops: 0 | 1): number {
    let conditions = 0
    let height = 0
    let isMixed = kind === anyNode ? 0 : 1
    for (const kid of kids) {
      if (kid >> 1 >= this.count) continue
      conditions |= this.undecided.array[kid >> 1] as number
      isMixed |= this.mixed.array[kid >> 1] as number
      height = Math.max(height, (this.heights.array[kid >> 1] as number) + hops)
    }
    this.kinds.push(kind)
    this.undecided.push(conditions)
    this.mixed.push(isMixed)
    this.heights.push(height)
    this.roots.push(1)
    if (kind !== anyNode) for (const kid of kids) this.reads.push(kid)
    this.readsStart.push(this.reads.length)
    return this.count - 1
  }

  #readBy(node: number, kids: readonly number[]): void {
    for (const kid of kids) {
      this.#readNodes.push(kid >> 1)
      this.#readerNodes.push(2 * node + (kid & 1))
    }
  }

  /** The slots of a union in which an object has tuples. */
  #directOf(object: number, { direct }: PairedPart): readonly DirectSlot[] {
    const { forward } = this.#terms.graph
    let found: DirectSlot[] | undefined
    for (const slot of direct)
      if (forward.find(object, slot.slot) !== none) {
        found ??= []
        found.push(slot)
      }
    return found === undefined ? noSlots : found.length < 2 ? found : found.sort((a, b) => a.key - b.key)
  }

  /** A cycle of unions without undecided tuples is one node, because each of its nodes has what the others have. Others keep their nodes. */
  #finishCycle(members: readonly number[]): void {
    const parts = members.map((raw) => this.#plans.partOf(raw))
    if (parts.every((part) => part?.op === "any")) {
      this.#finishUnionCycle(members, parts as PairedPart[])
      return
    }
    const inside = new Set(members)
    const first = this.count
    // An intersection or exclusion whose own set is named has a second node, a union with this set.
    const owners = members.flatMap((raw, at) => {
      const part = parts[at]
      return part === undefined || part.op === "any" || this.#setsOf(raw, part).length === 0
        ? []
        : [{ raw, part, inner: first + at }]
    })
    members.forEach((raw, at) => {
      const owner = owners.findIndex((each) => each.raw === raw)
      this.#finals[raw] = first + (owner < 0 ? at : members.length + owner)
    })
    const isOdd = members.some((raw, at) => parts[at]?.op === "but" && inside.has(this.#subtractOf(raw)))
    if (isOdd) this.hasOddCycle = true
    const kidsOf = members.map((raw, at) => {
      const part = parts[at]
      return part === undefined || part.op === "any" ? this.#kidsOf(raw) : this.#operandsOf(raw)
    })
    for (const [at, raw] of members.entries()) this.#addCyclic(raw, parts[at], kidsOf[at] as number[], first)
    for (const { raw, part, inner } of owners) this.#addOwner(raw, part, inner)
    this.#levelCycle(first, hopsOf(parts))
    const order = isOdd ? innerFirst(parts, first) : []
    for (let node = first + order.length; node < this.count; node++) order.push(node)
    this.cycles.push({ first, last: this.count - 1, isOdd, order })
  }

  /** All nodes of a cycle, which begins at `first`, depend on the same conditions, and on as many hops as the cycle has at most. */
  #levelCycle(first: number, hops: number): void {
    let [conditions, height, isMixed] = [0, 0, 0]
    for (let node = first; node < this.count; node++) {
      conditions |= this.undecided.array[node] as number
      isMixed |= this.mixed.array[node] as number
      height = Math.max(height, this.heights.array[node] as number)
    }
    for (let node = first; node < this.count; node++) {
      this.undecided.array[node] = conditions
      this.mixed.array[node] = isMixed
      this.heights.array[node] = height + hops
    }
  }

  /** The union of a node of a cycle, and the set of its relation. */
  #addOwner(raw: number, part: PairedPart, inner: number): void {
    this.roots.array[inner] = 0
    const node = this.#addNode(anyNode, [], 1)
    this.reads.push(2 * inner)
    this.readsStart.array[node + 1] = this.reads.length
    this.#readBy(node, [2 * inner])
    this.users.addSets(this.#plans.objects.array[raw] as number, this.#setsOf(raw, part), node)
  }

  #addCyclic(raw: number, part: PairedPart | undefined, kids: readonly number[], first: number): void {
    const op = part?.op ?? "any"
    const kind = op === "any" ? anyNode : op === "all" ? allNode : butNode
    const outside = kids.filter((kid) => kid >= 0 && kid >> 1 < first)
    const node = this.#addNode(kind, outside, 1)
    this.roots.array[node] = part?.isRoot === true ? 1 : 0
    // A cycle reads all that it depends on anew; a union only what is inside, because the rest is added to it.
    this.reads.length = this.readsStart.array[node] as number
    for (const kid of kids) this.reads.push(kid)
    this.readsStart.array[node + 1] = this.reads.length
    this.#readBy(
      node,
      kids.filter((kid) => kid >= 0),
    )
    const object = this.#plans.objects.array[raw] as number
    if (part === undefined) this.#noteGate(node, object)
    else if (op === "any") this.#addUsers(object, this.#directOf(object, part), this.#setsOf(raw, part), node)
  }

  #subtractOf(raw: number): number {
    const { kids, kidsStart } = this.#plans
    return (kids.array[(kidsStart.array[raw] as number) + 1] as number) >> 1
  }

  #finishUnionCycle(members: readonly number[], parts: readonly PairedPart[]): void {
    const kids = new Set<number>()
    for (const raw of members) for (const kid of this.#kidsOf(raw)) kids.add(kid)
    const sorted = [...kids].sort((a, b) => a - b)
    const node = this.#addNode(anyNode, sorted, 1)
    this.heights.array[node] = (this.heights.array[node] as number) + hopsOf(parts)
    this.#readBy(node, sorted)
    for (const [at, raw] of members.entries()) {
      this.#finals[raw] = node
      const object = this.#plans.objects.array[raw] as number
      const part = parts[at] as PairedPart
      this.#addUsers(object, this.#directOf(object, part), this.#setsOf(raw, part), node)
    }
  }
}

const noRelations: readonly number[] = []
const noSlots: readonly DirectSlot[] = []

/** The greatest number of hops within a cycle: a hop leads to the whole plan of a relation, and to none of them twice. */
function hopsOf(parts: readonly (PairedPart | undefined)[]): number {
  return parts.filter((part) => part?.isRoot === true).length
}

/** The nodes of a cycle so that gates, and parts of a plan, come before what reads them in the same plan. */
function innerFirst(parts: readonly (PairedPart | undefined)[], first: number): number[] {
  return parts
    .map((part, at) => ({ node: first + at, depth: part === undefined ? -1 : partDepth(part) }))
    .sort((a, b) => a.depth - b.depth)
    .map(({ node }) => node)
}

function partDepth({ parts }: PairedPart): number {
  return Math.max(0, ...parts.map((inner) => 1 + partDepth(inner)))
}
