import { NodeTable } from "../evaluate/node-table.ts"
import { none } from "../graph/adjacency.ts"
import type { Graph } from "../graph/graph.ts"
import { type DifferenceCandidates, differingSlots, type UnlikePart } from "./candidates.ts"
import { CauseReach } from "./cause-reach.ts"
import { type DecisionGraph, nobody } from "./decision-graph.ts"
import { Grouped, IntBuffer } from "./int-buffer.ts"
import type { PairedProgram } from "./paired-program.ts"
import type { UserBatch } from "./user-batch.ts"

/** Causes that are counted: those with the greatest estimates. */
const countedMax = 64
/** Pairs of a cause and a difference, over all counted causes. */
const entriesMax = 1_000_000
/** Tuples that are read as causes. */
const tuplesMax = 2_000_000
/** Steps between two yields. */
const stepsAtOnce = 4_096

/** What causes are made of. */
export interface CauseTerms {
  readonly graph: Graph
  readonly program: PairedProgram
  readonly candidates: DifferenceCandidates
  readonly decisions: DecisionGraph
  /** Number of kinds of change. */
  readonly kinds: number
}

/** All tuples of one subject in one part of a plan that only one model has. */
export interface CountedCause {
  readonly subject: number
  readonly part: UnlikePart
  /** The decided node of those whom the subject stands for; -1 for a single user or everybody of a type. */
  readonly node: number
  /** The user's position among those of the graph; -1 for others. */
  readonly user: number
  /** Seeds (numbers of candidates): the objects of the tuples. */
  readonly seeds: readonly number[]
  /** Named users that the subject stands for, of other types than `everyone`. */
  users: number
  /** The id of one of them; -1 before the first. */
  member: number
  /** Types of which the subject stands for everybody. */
  readonly everyone: Set<number>
}

/**
 * What causes differences: tuples that only one of the models reads. A cause concerns the users for whom its subject stands, and all nodes to
 * which its objects lead. Several causes may have the same effect, which is then counted for each.
 *
 * There may be as many causes as tuples. So the effect of each is estimated from above, as the number of its users times the number of nodes
 * that it reaches, and those with the greatest estimates are counted exactly while the users are compared.
 */
export class AccessCauses {
  /** The counted causes. */
  readonly counted: CountedCause[] = []
  /** By entry: its cause, its pair, and the number of candidates of the pair that the cause reaches. */
  readonly causes = new IntBuffer()
  readonly pairs = new IntBuffer()
  readonly candidates = new IntBuffer()
  /** By entry and kind of change: named users of the cause with the change. */
  hits = new Int32Array(0)
  /** By entry: types of which everybody has a change for this cause, with the kind. */
  readonly everyoneHits = new Map<number, [type: number, kind: number][]>()
  readonly #terms: CauseTerms
  readonly #tables = new NodeTable()
  readonly #subjects = new IntBuffer()
  readonly #parts: UnlikePart[] = []
  readonly #partOf = new IntBuffer()
  readonly #nodes = new IntBuffer()
  readonly #users = new IntBuffer()
  readonly #tupleCauses = new IntBuffer()
  readonly #tupleSeeds = new IntBuffer()
  #reach: CauseReach | undefined
  #entries: Grouped | undefined
  /** By counted cause of a single user: its position in the batch, -1 if it is not there. */
  #places = new Int32Array(0)
  /** By counted cause of everybody: the type, or -1. */
  #types = new Int32Array(0)
  #type = -1

  constructor(terms: CauseTerms) {
    this.#terms = terms
  }

  get bytes(): number {
    return 4 * (this.hits.length + 3 * this.causes.length) + (this.#reach?.bytes ?? 0)
  }

  /**
   * Chooses the causes to count. `pairOf`: by candidate, its pair of nodes with a possible difference, or -1. Needs `DecisionGraph.nodeOf`.
   * Yields now and then.
   */
  *choose(pairOf: Int32Array, pairCount: number): Generator<void> {
    if (pairCount === 0) return
    yield* this.#read()
    this.#reach = new CauseReach(this.#terms, pairOf)
    yield* this.#reach.estimate()
    yield* this.#rank(this.#reach)
    yield* this.#enter(this.#reach, pairOf, pairCount)
    this.hits = new Int32Array(this.#terms.kinds * this.causes.length)
  }

  /** All tuples of the seeds in parts that only one model has. */
  *#read(): Generator<void> {
    const { candidates, graph, program } = this.#terms
    const byRelation = program.relations.map((relation) => {
      const { parts } = differingSlots(relation)
      const isBoth = ({ slot, relation: target, side }: UnlikePart) =>
        side === 0 && parts.some((each) => each.side === 1 && each.slot === slot && each.relation === target)
      return parts.filter((part) => !isBoth(part)).map((part) => this.#parts.push(part) - 1)
    })
    for (let seed = 0; seed < candidates.seeds && this.#tupleSeeds.length < tuplesMax; seed++) {
      if (seed % stepsAtOnce === 0) yield
      const object = candidates.nodes.array[2 * seed] as number
      for (const number of byRelation[candidates.nodes.array[2 * seed + 1] as number] ?? []) {
        const { slot } = this.#parts[number] as UnlikePart
        if (slot < 0) this.#add(object, number, seed)
        else for (const other of othersOf(graph, object, slot)) this.#add(other, number, seed)
      }
    }
  }

  #add(subject: number, number: number, seed: number): void {
    const at = this.#tables.find(subject, number)
    let cause = at < 0 ? -1 : this.#tables.state(at)
    if (cause < 0) {
      const { slot, relation, side } = this.#parts[number] as UnlikePart
      const { decisions, graph } = this.#terms
      const isWildcard = relation < 0 && graph.slots[slot]?.subjectRelation === "*"
      const node = relation < 0 ? nobody : decisions.nodeOf(subject, relation, side)
      const user = relation < 0 && !isWildcard ? decisions.users.numberOf(subject) : -1
      if (node === nobody && user < 0 && !isWildcard) return
      cause = this.#subjects.length
      this.#tables.add(subject, number, cause, 0)
      this.#subjects.push(subject)
      this.#partOf.push(number)
      this.#nodes.push(node)
      this.#users.push(user)
    }
    this.#tupleCauses.push(cause)
    this.#tupleSeeds.push(seed)
  }

  /** Takes the causes with the greatest estimates. */
  *#rank(reach: CauseReach): Generator<void> {
    const { decisions } = this.#terms
    const count = this.#subjects.length
    const grouped = new Grouped(this.#tupleCauses, this.#tupleSeeds, count)
    const best: { cause: number; estimate: number }[] = []
    for (let cause = 0; cause < count; cause++) {
      if (cause % stepsAtOnce === 0) yield
      const node = this.#nodes.array[cause] as number
      const isUser = (this.#users.array[cause] as number) >= 0
      const users = node >= 0 ? reach.usersOf(node) : isUser ? 1 : decisions.users.count + 1
      const seeds = grouped.values.subarray(grouped.starts[cause], grouped.starts[cause + 1])
      const estimate = users * reach.nodesOf(seeds)
      const last = best[countedMax - 1]
      if (estimate === 0 || (last !== undefined && last.estimate >= estimate)) continue
      const place = best.findIndex((each) => each.estimate < estimate)
      best.splice(place < 0 ? best.length : place, 0, { cause, estimate })
      best.length = Math.min(best.length, countedMax)
    }
    for (const { cause } of best)
      this.counted.push({
        subject: this.#subjects.array[cause] as number,
        part: this.#parts[this.#partOf.array[cause] as number] as UnlikePart,
        node: this.#nodes.array[cause] as number,
        user: this.#users.array[cause] as number,
        seeds: [...grouped.values.subarray(grouped.starts[cause], grouped.starts[cause + 1])],
        ...{ users: 0, member: -1, everyone: new Set<number>() },
      })
  }

  /** Notes which pairs the counted causes reach. */
  *#enter(reach: CauseReach, pairOf: Int32Array, pairCount: number): Generator<void> {
    const counts = new Int32Array(pairCount)
    for (let cause = 0; cause < this.counted.length; cause++) {
      const reached = yield* reach.walk(this.counted[cause]?.seeds ?? [])
      const first = this.pairs.length
      for (let at = 0; at < reached.length; at++) {
        const pair = pairOf[reached.array[at] as number] as number
        if (pair < 0) continue
        if (counts[pair] === 0) this.pairs.push(pair)
        counts[pair] = (counts[pair] as number) + 1
      }
      for (let at = first; at < this.pairs.length; at++) {
        const pair = this.pairs.array[at] as number
        this.causes.push(cause)
        this.candidates.push(counts[pair] as number)
        counts[pair] = 0
      }
      if (this.pairs.length > entriesMax) this.counted.length = cause + 1
    }
    const numbers = new IntBuffer()
    for (let entry = 0; entry < this.pairs.length; entry++) numbers.push(entry)
    this.#entries = new Grouped(this.pairs, numbers, pairCount)
    const { graph } = this.#terms
    this.#types = Int32Array.from(this.counted, ({ part, node, user }) =>
      node < 0 && user < 0 ? graph.typeId(graph.slots[part.slot]?.subjectType ?? "") : -1,
    )
    this.#places = new Int32Array(this.counted.length)
  }

  /** Counts the users of the causes in a batch that has been decided; `users` are positions in the graph's users, or -1 for one whom no tuple names. */
  begin(batch: UserBatch, type: number, users: readonly number[]): void {
    this.#type = type
    // A set that is asked as a user is no member.
    if (type < 0) return
    const { decisions } = this.#terms
    const places = new Map(users.map((user, at) => [user, at]))
    for (const [number, cause] of this.counted.entries()) {
      this.#places[number] = cause.user < 0 ? -1 : (places.get(cause.user) ?? -1)
      if (users[0] === -1) {
        if ((this.#bits(batch, number, 0) & 1) !== 0) cause.everyone.add(type)
        continue
      }
      if (cause.everyone.has(type)) continue
      for (let word = 0; word < batch.used; word++) {
        const bits = this.#bits(batch, number, word)
        if (bits === 0) continue
        cause.users += bitCount(bits)
        if (cause.member >= 0) continue
        const user = users[32 * word + 31 - Math.clz32(bits & -bits)] as number
        cause.member = decisions.users.ids.array[user] as number
      }
    }
  }

  /** The users of a word for whom a cause stands, as bits. */
  #bits(batch: UserBatch, number: number, word: number): number {
    const { node } = this.counted[number] as CountedCause
    if (node >= 0) return batch.values[batch.stride * node + batch.upper + word] as number
    if (this.#types[number] === this.#type) return batch.valid[word] as number
    const place = this.#places[number] as number
    return place >> 5 === word ? 1 << (place & 31) : 0
  }

  /** Counts the users of a mask who have a kind of change by a pair. */
  take(batch: UserBatch, pair: number, kind: number, mask: number, word: number): void {
    if (this.#type < 0) return
    const { starts, values } = this.#entries as Grouped
    for (let at = starts[pair] as number; at < (starts[pair + 1] as number); at++) {
      const entry = values[at] as number
      const bits = mask & this.#bits(batch, this.causes.array[entry] as number, word)
      if (bits === 0) continue
      const place = this.#terms.kinds * entry + kind
      this.hits[place] = (this.hits[place] as number) + bitCount(bits)
    }
  }

  /** Everybody of the batch's type has a kind of change by a pair. */
  takeEveryone(batch: UserBatch, pair: number, kind: number): void {
    for (const entry of this.entriesOf(batch, pair, 0, 1)) {
      const known = this.everyoneHits.get(entry) ?? []
      this.everyoneHits.set(entry, known)
      known.push([this.#type, kind])
    }
  }

  /** The entries of a pair whose causes stand for a user of the batch: a bit of a word. */
  entriesOf(batch: UserBatch, pair: number, word: number, bit: number): number[] {
    if (this.#type < 0) return []
    const { starts, values } = this.#entries as Grouped
    return [...values.subarray(starts[pair], starts[pair + 1])].filter(
      (entry) => (this.#bits(batch, this.causes.array[entry] as number, word) & bit) !== 0,
    )
  }

  /** Whether all named users of an entry's cause have the kind of change. */
  isWhole(entry: number, kind: number): boolean {
    const cause = this.counted[this.causes.array[entry] as number] as CountedCause
    return cause.users > 0 && this.hits[this.#terms.kinds * entry + kind] === cause.users
  }

  /** The candidates that a counted cause reaches, in the order of their numbers. */
  *reachOf(cause: number): Generator<void, IntBuffer> {
    return this.#reach === undefined
      ? new IntBuffer()
      : yield* this.#reach.walk(this.counted[cause]?.seeds ?? [])
  }
}

function* othersOf({ forward }: Graph, object: number, slot: number): Generator<number> {
  const value = forward.find(object, slot)
  if (value === none) return
  if (value >= 0) yield value
  else {
    const { array, start, end } = forward.stretch(value)
    for (let at = start; at < end; at++) yield array[at] as number
  }
}

export function bitCount(bits: number): number {
  let count = bits - ((bits >>> 1) & 0x5555_5555)
  count = (count & 0x3333_3333) + ((count >>> 2) & 0x3333_3333)
  return Math.imul((count + (count >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
