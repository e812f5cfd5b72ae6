import type { CompiledCondition } from "../../expression/condition.ts"
import { NodeTable } from "../evaluate/node-table.ts"
import { none } from "../graph/adjacency.ts"
import type { Graph } from "../graph/graph.ts"
import type { DifferenceCandidates } from "./candidates.ts"
import { componentsOf } from "./components.ts"
import { Grouped, IntBuffer } from "./int-buffer.ts"
import type { NamedSets } from "./named-sets.ts"
import type { DirectSlot, HopSlot, ImpactSide, PairedPart, PairedProgram } from "./paired-program.ts"

/** Nodes between two yields. */
const nodesAtOnce = 1_024
/** Conditions by number in a bit set; those from the last number on share its bit. */
const conditionBits = 31

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
 * All that decides the candidates, as one graph of nodes over both models. A node is a relation, or a part of one, on an object. Nodes that
 * are decided by the same tuples and nodes are one node, also those of both models: so most objects that a change does not concern have one node
 * in both. Numbers are in the order of decision: what a node reads has lower numbers, except within a cycle.
 *
 * A reference to a node is `2 * node`, plus 1 if it passes a tuple whose condition is undecided.
 */
export class DecisionGraph {
  readonly kinds = new IntBuffer()
  /** Conditions that are undecided in what decides a node, as a bit set of `conditions`. */
  readonly undecided = new IntBuffer()
  /** The greatest number of hops below a node. */
  readonly heights = new IntBuffer()
  /** 1: the node is the whole plan of a relation, at least in a cycle. */
  readonly roots = new IntBuffer()
  readonly cycles: NodeCycle[] = []
  readonly conditions: string[] = []
  hasOddCycle = false
  hasUndecided = false
  /**
   * Ids of the users that are named, in the order in which they were met; users of one type are not together. A set (`group:eng#member`) is a
   * user too, by the id of its object.
   */
  readonly users = new IntBuffer()
  /** The type of each; of a set `-1 - relation`. */
  readonly userTypes = new IntBuffer()
  /** By type: references to nodes that everybody of the type has by a tuple. */
  readonly everyone = new Map<number, IntBuffer>()
  /** By user (its position in `users`): references to nodes that name it. */
  named!: Grouped
  /** In the order of `named`: a number of the tuple's slot on its object where a condition of it is undecided, else 0. */
  namedAtoms!: Grouped
  /** The same in the order of `everyone`. */
  readonly everyoneAtoms = new Map<number, IntBuffer>()
  /** By node: references to the nodes that read it. */
  readers!: Grouped
  /** What a node reads, for `all`, `but` and nodes of cycles. */
  readonly reads = new IntBuffer()
  readonly readsStart = new IntBuffer()
  steps = 0
  readonly #terms: GraphTerms
  readonly #raw = new RawNodes()
  /** By raw node: its node in the graph. */
  #finals = new Int32Array(0)
  /** By id: the user's position in `users`, plus 1. */
  readonly #userNumbers: Int32Array
  /** By set: its position in `users`, plus 1. */
  readonly #setNumbers: Int32Array
  #namedUsers = new IntBuffer()
  #namedNodes = new IntBuffer()
  #namedAtoms = new IntBuffer()
  readonly #atoms = new NodeTable()
  #readNodes = new IntBuffer()
  #readerNodes = new IntBuffer()
  #same = new SameNodes()

  constructor(terms: GraphTerms) {
    this.#terms = terms
    this.#userNumbers = new Int32Array(terms.graph.names.idsEnd)
    this.#setNumbers = new Int32Array(terms.sets.count)
    this.readsStart.push(0)
  }

  get count(): number {
    return this.kinds.length
  }

  get bytes(): number {
    const raw = this.#raw
    return (
      raw.bytes +
      4 * this.#finals.length +
      [this.kinds, this.undecided, this.heights, this.roots, this.users, this.reads, this.readsStart]
        .concat([this.#namedUsers, this.#namedNodes, this.#namedAtoms, this.#readNodes, this.#readerNodes])
        .reduce((sum, { bytes }) => sum + bytes, 0) +
      this.#same.bytes
    )
  }

  /**
   * The nodes of a relation on an object in both models: the numbers of their raw nodes, which `finalOf` turns into nodes once the graph is
   * built; -1 in a model without the relation.
   */
  rootOf(object: number, relation: number, side: ImpactSide): number {
    const part = this.#terms.program.relations[relation]?.sides[side]
    return part === undefined ? -1 : this.#raw.intern(object, part.number)
  }

  /** The node of a relation on an object as a model decides it, after `build` and before `forget`; -1 if it is not part of the graph. */
  nodeOf(object: number, number: number, side: ImpactSide): number {
    const part = this.#terms.program.relations[number]?.sides[this.#sideOf(object, number, side)]
    return part === undefined ? nobody : this.finalOf(this.#raw.find(object, part.number))
  }

  /** The old model also decides for the new one what the change does not concern. */
  #sideOf(object: number, number: number, side: ImpactSide): ImpactSide {
    const { program, candidates } = this.#terms
    return program.relations[number]?.affected === true && candidates.has(object, number) ? side : 0
  }

  /** The position of a user in `users`; -1 if nothing names it. */
  userNumber(id: number): number {
    return (this.#userNumbers[id] as number) - 1
  }

  /** `user:ann`, or `group:eng#member`. */
  userName(at: number): string {
    const { graph, program } = this.#terms
    const name = graph.names.text(this.users.array[at] as number)
    const type = this.userTypes.array[at] as number
    return type < 0 ? `${name}#${program.relations[-1 - type]?.relation ?? ""}` : name
  }

  /** Ends `nodeOf`, and frees its memory. */
  forget(): void {
    this.#raw.forget()
  }

  finalOf(raw: number): number {
    return raw < 0 ? nobody : (this.#finals[raw] as number)
  }

  /** Adds everything that the nodes so far depend on. */
  *expand(): Generator<void> {
    const raw = this.#raw
    for (let at = raw.expanded; at < raw.count; at++) {
      if (at % nodesAtOnce === 0) yield
      this.#expand(at, raw.objects.array[at] as number, this.#partOf(at))
    }
  }

  /** Decides the order, unites what is equal, and reads who is named. */
  *build(): Generator<void> {
    const raw = this.#raw
    this.#finals = new Int32Array(raw.count).fill(nobody)
    const components = componentsOf(raw.count, raw.kidsStart.array, raw.kids.array)
    let found = 0
    for (const members of components) {
      if (members === undefined || ++found % nodesAtOnce === 0) yield
      if (members === undefined) continue
      if (members.length === 1 && !this.#readsItself(members[0] as number))
        this.#finishNode(members[0] as number)
      else this.#finishCycle(members)
    }
    this.named = new Grouped(this.#namedUsers, this.#namedNodes, this.users.length)
    this.namedAtoms = new Grouped(this.#namedUsers, this.#namedAtoms, this.users.length)
    yield
    this.readers = new Grouped(this.#readNodes, this.#readerNodes, this.count)
    this.#namedUsers = new IntBuffer()
    this.#namedNodes = new IntBuffer()
    this.#namedAtoms = new IntBuffer()
    this.#readNodes = new IntBuffer()
    this.#readerNodes = new IntBuffer()
    this.#same = new SameNodes()
    raw.forgetKids()
  }

  #partOf(raw: number): PairedPart {
    return this.#terms.program.parts[this.#raw.parts.array[raw] as number] as PairedPart
  }

  #expand(node: number, object: number, part: PairedPart): void {
    const raw = this.#raw
    const { forward } = this.#terms.graph
    for (const hop of part.hops) {
      const value = forward.find(object, hop.slot)
      if (value === none) continue
      if (value >= 0) this.#hop(node, value, hop, part.side)
      else {
        const { array, start, end } = forward.stretch(value)
        for (let at = start; at < end; at++) this.#hop(node, array[at] as number, hop, part.side)
      }
    }
    for (const ref of part.refs) this.#read(object, ref, part.side, 0)
    for (const inner of part.parts) raw.kids.push(2 * raw.intern(object, inner.number))
    raw.closeNode()
  }

  #hop(node: number, other: number, { slot, relation, condition }: HopSlot, side: ImpactSide): void {
    this.steps++
    const raw = this.#raw
    const object = raw.objects.array[node] as number
    const truth = condition === undefined ? true : this.#judge(object, slot, other, condition)
    if (truth === false) return
    if (truth !== true) raw.undecided.set(node, (raw.undecided.get(node) ?? 0) | this.#bitOf(condition))
    this.#read(other, relation, side, truth === true ? 0 : 1)
  }

  /** Adds a reading of a relation of an object. Where the models decide equally, both read the same node. */
  #read(object: number, number: number, side: ImpactSide, undecided: 0 | 1): void {
    const { graph, program, sets } = this.#terms
    if (graph.forward.isEmpty(object) && !sets.hasAny(object)) return
    const part = program.relations[number]?.sides[this.#sideOf(object, number, side)]
    if (part !== undefined) this.#raw.kids.push(2 * this.#raw.intern(object, part.number) + undecided)
  }

  #judge(object: number, slot: number, other: number, condition: CompiledCondition): boolean | "undecided" {
    this.steps += 64
    const { graph, context } = this.#terms
    // As the engine does: a condition grants only with all parameters that it reads.
    const outcome = condition.evaluate(
      { stored: graph.context(object, slot, other), request: context },
      "read",
    )
    return typeof outcome === "boolean" ? outcome : "undecided"
  }

  #bitOf(condition: CompiledCondition | undefined): number {
    const name = condition?.name ?? ""
    let number = this.conditions.indexOf(name)
    if (number < 0) number = this.conditions.push(name) - 1
    return 1 << Math.min(number, conditionBits - 1)
  }

  #readsItself(raw: number): boolean {
    const { kids, kidsStart } = this.#raw
    for (let at = kidsStart.array[raw] as number; at < (kidsStart.array[raw + 1] as number); at++)
      if ((kids.array[at] as number) >> 1 === raw) return true
    return false
  }

  /** References to the decided nodes that a raw node reads, each once, sorted; without those that nobody has. */
  #kidsOf(raw: number): number[] {
    const { kids, kidsStart } = this.#raw
    const found: number[] = []
    for (let at = kidsStart.array[raw] as number; at < (kidsStart.array[raw + 1] as number); at++) {
      const kid = kids.array[at] as number
      const node = this.#finals[kid >> 1] as number
      if (node !== nobody) found.push(2 * node + (kid & 1))
    }
    if (found.length < 2) return found
    found.sort((a, b) => a - b)
    // A reading that is certain makes an undecided one of the same node superfluous.
    return found.filter((kid, at) => kid !== found[at - 1] && ((kid & 1) === 0 || found[at - 1] !== kid - 1))
  }

  #finishNode(raw: number): void {
    const part = this.#partOf(raw)
    if (part.op === "any") this.#finals[raw] = this.#finishAny(raw, part)
    else
      this.#finals[raw] = this.#withOwnSet(
        raw,
        part.op === "all" ? this.#finishAll(raw) : this.#finishBut(raw),
      )
  }

  /** The node, also for the set of the relation itself, which has it however it is decided. */
  #withOwnSet(raw: number, node: number): number {
    const selves = this.#setsOf(raw)
    if (selves.length === 0) return node
    const object = this.#raw.objects.array[raw] as number
    const kids = node === nobody ? [] : [2 * node]
    return this.#same.find([anyNode, -1 - object, -1, ...kids, -2, ...selves], () => {
      const added = this.#addReading(anyNode, kids)
      this.#nameSets(object, selves, added)
      return added
    })
  }

  /** The relations of the object whose sets have a raw node, if tuples name them: its own, and those that were inlined. */
  #setsOf(raw: number): readonly number[] {
    const object = this.#raw.objects.array[raw] as number
    const { sets } = this.#terms
    if (!sets.hasAny(object)) return noRelations
    const { isRoot, relation, same } = this.#partOf(raw)
    const found = same.filter((each) => sets.find(object, each) >= 0)
    if (isRoot && !found.includes(relation) && sets.find(object, relation) >= 0) found.push(relation)
    return found.sort((a, b) => a - b)
  }

  #nameSets(object: number, relations: readonly number[], node: number): void {
    for (const relation of relations) {
      const set = this.#terms.sets.find(object, relation)
      let number = (this.#setNumbers[set] as number) - 1
      if (number < 0) {
        number = this.users.length
        this.#setNumbers[set] = number + 1
        this.users.push(object)
        this.userTypes.push(-1 - relation)
      }
      this.#namedUsers.push(number)
      this.#namedNodes.push(2 * node)
      this.#namedAtoms.push(0)
    }
  }

  #finishAny(raw: number, part: PairedPart): number {
    const object = this.#raw.objects.array[raw] as number
    const direct = this.#directOf(object, part)
    const kids = this.#kidsOf(raw)
    const selves = this.#setsOf(raw)
    const isOwn = direct.length + selves.length > 0
    if (!isOwn && kids.length === 0) return nobody
    const [only = 0] = kids
    if (!isOwn && kids.length === 1 && (only & 1) === 0) return only >> 1
    const text = isOwn
      ? [anyNode, -1 - object, ...direct.map(({ key }) => key), -1, ...kids]
      : [anyNode, ...kids]
    if (selves.length > 0) text.push(-2, ...selves)
    const node = this.#same.find(text, () => {
      const added = this.#addNode(anyNode, kids, part.hops.length > 0 ? 1 : 0)
      this.#readBy(added, kids)
      for (const slot of direct) this.#addNamed(object, slot, added)
      this.#nameSets(object, selves, added)
      return added
    })
    this.#noteBits(node, this.#raw.undecided.get(raw) ?? 0)
    return node
  }

  #finishAll(raw: number): number {
    if (this.#operandKids(raw).includes(nobody)) return nobody
    const kids = this.#kidsOf(raw)
    if (kids.length === 1) return (kids[0] as number) >> 1
    return this.#same.find([allNode, ...kids], () => this.#addReading(allNode, kids))
  }

  #finishBut(raw: number): number {
    const [base, subtract] = this.#operandsOf(raw)
    if (base === nobody || subtract === nobody) return base
    const kids = [2 * base, 2 * subtract]
    return this.#same.find([butNode, ...kids], () => this.#addReading(butNode, kids))
  }

  #operandsOf(raw: number): [number, number] {
    const { kids, kidsStart } = this.#raw
    const at = kidsStart.array[raw] as number
    return [this.finalOf((kids.array[at] as number) >> 1), this.finalOf((kids.array[at + 1] as number) >> 1)]
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
    for (const kid of kids) {
      if (kid >> 1 >= this.count) continue
      conditions |= this.undecided.array[kid >> 1] as number
      height = Math.max(height, (this.heights.array[kid >> 1] as number) + hops)
      if ((kid & 1) === 1) this.hasUndecided = true
    }
    this.kinds.push(kind)
    this.undecided.push(conditions)
    this.heights.push(height)
    this.roots.push(1)
    if (kind !== anyNode) for (const kid of kids) this.reads.push(kid)
    this.readsStart.push(this.reads.length)
    this.steps += kids.length
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

  #addNamed(object: number, { slot, key, wildcard, condition }: DirectSlot, node: number): void {
    const { graph } = this.#terms
    const { subjectType } = graph.slots[slot] as { subjectType: string }
    const type = graph.typeId(subjectType)
    const value = graph.forward.find(object, slot)
    const add = (other: number) => {
      this.steps++
      const truth = condition === undefined ? true : this.#judge(object, slot, other, condition)
      if (truth === false) return
      if (truth !== true) this.#noteUndecided(node, condition)
      const reference = 2 * node + (truth === true ? 0 : 1)
      this.#name(type, wildcard ? -1 : other, reference, truth === true ? 0 : this.#atom(object, key))
    }
    if (value >= 0) {
      add(value)
      return
    }
    const { array, start, end } = graph.forward.stretch(value)
    for (let at = start; at < end; at++) add(array[at] as number)
  }

  #noteUndecided(node: number, condition: CompiledCondition | undefined): void {
    this.hasUndecided = true
    this.#noteBits(node, this.#bitOf(condition))
  }

  #noteBits(node: number, bits: number): void {
    if (bits !== 0) this.undecided.array[node] = (this.undecided.array[node] as number) | bits
  }

  /** The tuples of a slot on an object: with the same user they are the same tuple. */
  #atom(object: number, key: number): number {
    const known = this.#atoms.find(object, key)
    if (known >= 0) return this.#atoms.state(known)
    this.#atoms.add(object, key, this.#atoms.size + 1, 0)
    return this.#atoms.size
  }

  /** `user` is an id, or -1 for everybody of the type. */
  #name(type: number, user: number, reference: number, atom: number): void {
    if (user < 0) {
      const nodes = this.everyone.get(type) ?? new IntBuffer()
      this.everyone.set(type, nodes)
      nodes.push(reference)
      const atoms = this.everyoneAtoms.get(type) ?? new IntBuffer()
      this.everyoneAtoms.set(type, atoms)
      atoms.push(atom)
      return
    }
    let number = (this.#userNumbers[user] as number) - 1
    if (number < 0) {
      number = this.users.length
      this.#userNumbers[user] = number + 1
      this.users.push(user)
      this.userTypes.push(type)
    }
    this.#namedUsers.push(number)
    this.#namedNodes.push(reference)
    this.#namedAtoms.push(atom)
  }

  /** A cycle of unions without undecided tuples is one node, because each of its nodes has what the others have. Others keep their nodes. */
  #finishCycle(members: readonly number[]): void {
    const inside = new Set(members)
    const parts = members.map((raw) => this.#partOf(raw))
    if (parts.every(({ op }) => op === "any") && !members.some((raw) => this.#hasUndecidedKid(raw, inside))) {
      this.#finishUnionCycle(members, inside)
      return
    }
    const first = this.count
    // An intersection or exclusion whose own set is named has a second node, a union with this set.
    const owners = members.filter((raw, at) => parts[at]?.op !== "any" && this.#setsOf(raw).length > 0)
    members.forEach((raw, at) => {
      const owner = owners.indexOf(raw)
      this.#finals[raw] = first + (owner < 0 ? at : members.length + owner)
    })
    const isOdd = members.some((raw) => this.#partOf(raw).op === "but" && inside.has(this.#subtractOf(raw)))
    if (isOdd) this.hasOddCycle = true
    const kidsOf = members.map((raw, at) =>
      parts[at]?.op === "any" ? this.#kidsOf(raw) : this.#operandKids(raw),
    )
    for (const [at, raw] of members.entries())
      this.#addCyclic(raw, kidsOf[at] as number[], {
        first,
        last: first + members.length + owners.length - 1,
      })
    for (const raw of owners) this.#addOwner(raw, first + members.indexOf(raw))
    let [conditions, height] = [0, 0]
    for (let node = first; node < this.count; node++) {
      conditions |= this.undecided.array[node] as number
      height = Math.max(height, this.heights.array[node] as number)
    }
    for (let node = first; node < this.count; node++) {
      this.undecided.array[node] = conditions
      this.heights.array[node] = height
    }
    const order = isOdd ? this.#innerFirst(members, first) : []
    for (let node = first + order.length; node < this.count; node++) order.push(node)
    this.cycles.push({ first, last: this.count - 1, isOdd, order })
  }

  /** The union of a node of a cycle, and the set of its relation. */
  #addOwner(raw: number, inner: number): void {
    this.roots.array[inner] = 0
    const node = this.#addNode(anyNode, [], 1)
    this.reads.push(2 * inner)
    this.readsStart.array[node + 1] = this.reads.length
    this.#readBy(node, [2 * inner])
    this.#nameSets(this.#raw.objects.array[raw] as number, this.#setsOf(raw), node)
  }

  #addCyclic(raw: number, kids: readonly number[], { first, last }: { first: number; last: number }): void {
    const part = this.#partOf(raw)
    const kind = part.op === "any" ? anyNode : part.op === "all" ? allNode : butNode
    const outside = kids.filter((kid) => kid >= 0 && kid >> 1 < first)
    const node = this.#addNode(kind, outside, 1)
    this.heights.array[node] = (this.heights.array[node] as number) + last + 1 - first
    this.roots.array[node] = part.isRoot ? 1 : 0
    // A cycle reads all that it depends on anew; a union only what is inside, because the rest is added to it.
    this.reads.length = this.readsStart.array[node] as number
    for (const kid of kids) this.reads.push(kid)
    this.readsStart.array[node + 1] = this.reads.length
    this.#readBy(
      node,
      kids.filter((kid) => kid >= 0),
    )
    for (const kid of kids) if ((kid & 1) === 1 && kid >= 0) this.hasUndecided = true
    this.#noteBits(node, this.#raw.undecided.get(raw) ?? 0)
    const object = this.#raw.objects.array[raw] as number
    if (part.op !== "any") return
    for (const slot of this.#directOf(object, part)) this.#addNamed(object, slot, node)
    this.#nameSets(object, this.#setsOf(raw), node)
  }

  /** References to all operands in their order; -1 where nobody has one. */
  #operandKids(raw: number): number[] {
    const { kids, kidsStart } = this.#raw
    const found: number[] = []
    for (let at = kidsStart.array[raw] as number; at < (kidsStart.array[raw + 1] as number); at++) {
      const node = this.finalOf((kids.array[at] as number) >> 1)
      found.push(node === nobody ? nobody : 2 * node)
    }
    return found
  }

  #subtractOf(raw: number): number {
    const { kids, kidsStart } = this.#raw
    return (kids.array[(kidsStart.array[raw] as number) + 1] as number) >> 1
  }

  #hasUndecidedKid(raw: number, inside: ReadonlySet<number>): boolean {
    const { kids, kidsStart } = this.#raw
    for (let at = kidsStart.array[raw] as number; at < (kidsStart.array[raw + 1] as number); at++) {
      const kid = kids.array[at] as number
      if ((kid & 1) === 1 && inside.has(kid >> 1)) return true
    }
    return false
  }

  #finishUnionCycle(members: readonly number[], inside: ReadonlySet<number>): void {
    const kids = new Set<number>()
    for (const raw of members) for (const kid of this.#kidsOf(raw)) kids.add(kid)
    const sorted = [...kids].sort((a, b) => a - b)
    const node = this.#addNode(anyNode, sorted, 1)
    this.heights.array[node] = (this.heights.array[node] as number) + inside.size
    this.#readBy(node, sorted)
    for (const raw of members) {
      this.#finals[raw] = node
      this.#noteBits(node, this.#raw.undecided.get(raw) ?? 0)
      const object = this.#raw.objects.array[raw] as number
      for (const slot of this.#directOf(object, this.#partOf(raw))) this.#addNamed(object, slot, node)
      this.#nameSets(object, this.#setsOf(raw), node)
    }
  }

  /** The nodes of a cycle so that parts of a plan come before what they are a part of. */
  #innerFirst(members: readonly number[], first: number): number[] {
    const depth = (raw: number): number => {
      const part = this.#partOf(raw)
      return Math.max(0, ...part.parts.map((inner) => 1 + partDepth(inner)))
    }
    return members
      .map((raw, at) => ({ node: first + at, depth: depth(raw) }))
      .sort((a, b) => a.depth - b.depth)
      .map(({ node }) => node)
  }
}

const noRelations: readonly number[] = []
const noSlots: readonly DirectSlot[] = []

function partDepth({ parts }: PairedPart): number {
  return Math.max(0, ...parts.map((inner) => 1 + partDepth(inner)))
}

/** Nodes as they are written in the plans, before what is equal is united. A kid is `2 * raw node`, plus 1 when its tuple is undecided. */
class RawNodes {
  readonly objects = new IntBuffer()
  readonly parts = new IntBuffer()
  readonly kids = new IntBuffer()
  readonly kidsStart = new IntBuffer()
  /** By node: the conditions of its undecided hops, as bits. */
  readonly undecided = new Map<number, number>()
  #table = new NodeTable()

  constructor() {
    this.kidsStart.push(0)
  }

  get count(): number {
    return this.objects.length
  }

  /** Nodes whose kids are known. */
  get expanded(): number {
    return this.kidsStart.length - 1
  }

  get bytes(): number {
    const { objects, parts, kids, kidsStart } = this
    return objects.bytes + parts.bytes + kids.bytes + kidsStart.bytes + 40 * this.#table.size
  }

  /** -1 if it does not exist. */
  find(object: number, part: number): number {
    const known = this.#table.find(object, part)
    return known < 0 ? -1 : this.#table.state(known)
  }

  intern(object: number, part: number): number {
    const known = this.find(object, part)
    if (known >= 0) return known
    this.#table.add(object, part, this.count, 0)
    this.objects.push(object)
    this.parts.push(part)
    return this.count - 1
  }

  closeNode(): void {
    this.kidsStart.push(this.kids.length)
  }

  forget(): void {
    this.#table = new NodeTable()
  }

  /** Frees what only the construction needs. */
  forgetKids(): void {
    this.kids.array = new Int32Array(0)
    this.kids.length = 0
  }
}

/** Nodes by what decides them. */
class SameNodes {
  #entries = new Int32Array(2 * 1_024)
  #size = 0
  readonly #texts = new IntBuffer(1_024)

  get bytes(): number {
    return 4 * this.#entries.length + this.#texts.bytes
  }

  /** The node with this text; added when it is new. */
  find(text: readonly number[], add: () => number): number {
    let hash = text.length
    for (const each of text) {
      hash = Math.imul(hash ^ each, 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    if (4 * this.#size > this.#entries.length) this.#grow()
    const mask = this.#entries.length / 2 - 1
    let at = hash & mask
    for (; this.#entries[2 * at] !== 0; at = (at + 1) & mask)
      if (this.#isText((this.#entries[2 * at] as number) - 1, hash, text))
        return this.#entries[2 * at + 1] as number
    const place = this.#texts.length
    this.#texts.push(hash)
    this.#texts.push(text.length)
    for (const each of text) this.#texts.push(each)
    const node = add()
    this.#entries[2 * at] = place + 1
    this.#entries[2 * at + 1] = node
    this.#size++
    return node
  }

  #isText(place: number, hash: number, text: readonly number[]): boolean {
    const { array } = this.#texts
    if (array[place] !== hash || array[place + 1] !== text.length) return false
    return text.every((each, at) => array[place + 2 + at] === each)
  }

  #grow(): void {
    const old = this.#entries
    this.#entries = new Int32Array(2 * old.length)
    const mask = this.#entries.length / 2 - 1
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0) continue
      let at = (this.#texts.array[(old[from] as number) - 1] as number) & mask
      while (this.#entries[2 * at] !== 0) at = (at + 1) & mask
      this.#entries[2 * at] = old[from] as number
      this.#entries[2 * at + 1] = old[from + 1] as number
    }
  }
}
