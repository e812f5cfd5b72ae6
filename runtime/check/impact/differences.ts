import { accessChanges, type ImpactRow } from "../access-change.ts"
import { NodeTable } from "../evaluate/node-table.ts"
import type { Graph } from "../graph/graph.ts"
import { type AccessCauses, bitCount } from "./access-causes.ts"
import type { DifferenceCandidates } from "./candidates.ts"
import { type DecisionGraph, nobody } from "./decision-graph.ts"
import { Grouped, IntBuffer } from "./int-buffer.ts"
import { UndecidedAccess } from "./undecided-access.ts"
import { UserBatch } from "./user-batch.ts"

const kinds = accessChanges.length

/** A row, with the entries of the causes that stand for its user. */
export interface CausedRow {
  readonly row: ImpactRow
  readonly entries: readonly number[]
}

/** Counts of one relation. */
export interface RelationCounts {
  /** Objects on which the access of somebody changes. */
  objects: number
  /** Named users times objects, by the order of `accessChanges`. */
  readonly users: number[]
  /** The same for sets that are asked as users. */
  readonly sets: number[]
  /** By type: objects on which everybody of the type has the change, by the order of `accessChanges`. */
  readonly everyone: Map<number, number[]>
  /** Named users times objects that such a change does not concern. */
  exceptions: number
  /** Bits of the conditions that decide. */
  conditions: number
  /** Objects that may be too many hops deep for a check. */
  deep: number
  readonly samples: CausedRow[]
}

/** What rows are needed. */
export interface DifferenceTerms {
  readonly graph: Graph
  readonly candidates: DifferenceCandidates
  readonly decisions: DecisionGraph
  readonly causes: AccessCauses
  readonly relationNames: readonly string[]
  readonly batchBytesMax: number
  readonly depthMax: number
  /** Rows of each relation and kind of change that are kept as samples. */
  readonly samplesMax: number
  /** Gets every row. */
  readonly onRow: ((row: ImpactRow) => void) | undefined
}

/** Differences between the decisions of two models. DifferenceCandidates with the same two nodes have the same differences, which are counted once. */
export class Differences {
  readonly byRelation = new Map<number, RelationCounts>()
  /** Named users with a change of each kind. */
  readonly distinctUsers: number[] = new Array(kinds).fill(0)
  /** Objects with a change, over all relations. */
  objects = 0
  readonly #terms: DifferenceTerms
  readonly #pairs = new NodeTable()
  /** By pair: its node in the old model and in the new one. */
  readonly #old = new IntBuffer()
  readonly #next = new IntBuffer()
  readonly #rowPairs = new IntBuffer()
  readonly #rowCandidates = new IntBuffer()
  #rows!: Grouped
  #batch!: UserBatch
  #undecided!: UndecidedAccess
  /** By pair and kind: number of named users. */
  #counts = new Int32Array(0)
  /** The same for sets. */
  #setCounts = new Int32Array(0)
  #exceptions = new Int32Array(0)
  /** By pair and kind: 1 once a user was offered as a sample. */
  #sampled = new Uint8Array(0)
  /** By type and pair: 1 plus the kind of change that everybody has; 0: none. */
  readonly #everyone = new Map<number, Uint8Array>()
  readonly #masks = new Int32Array(kinds)

  constructor(terms: DifferenceTerms) {
    this.#terms = terms
  }

  get bytes(): number {
    const lists = [this.#old, this.#next, this.#rowPairs, this.#rowCandidates]
    return lists.reduce((sum, { bytes }) => sum + bytes, 8 * this.#counts.length) + 20 * this.#pairs.size
  }

  /** Adds a candidate by its number and its nodes in both models. */
  add(candidate: number, old: number, next: number): void {
    if (old === next) return
    const known = this.#pairs.find(old, next)
    let pair = known < 0 ? this.#old.length : this.#pairs.state(known)
    if (known < 0) {
      pair = this.#old.length
      this.#pairs.add(old, next, pair, 0)
      this.#old.push(old)
      this.#next.push(next)
    }
    this.#rowPairs.push(pair)
    this.#rowCandidates.push(candidate)
  }

  /** Pairs of different nodes. */
  get pairs(): number {
    return this.#old.length
  }

  /** By candidate: its pair; -1 if its nodes are equal, or were not added. */
  pairOfCandidates(): Int32Array {
    const found = new Int32Array(this.#terms.candidates.count).fill(-1)
    for (let row = 0; row < this.#rowPairs.length; row++)
      found[this.#rowCandidates.array[row] as number] = this.#rowPairs.array[row] as number
    return found
  }

  /** Compares both models for all users. Yields the part that is done, from 0 to 1. */
  *count(): Generator<number> {
    const { decisions, batchBytesMax } = this.#terms
    const pairs = this.#old.length
    this.#rows = new Grouped(this.#rowPairs, this.#rowCandidates, pairs)
    this.#counts = new Int32Array(kinds * pairs)
    this.#setCounts = new Int32Array(kinds * pairs)
    this.#exceptions = new Int32Array(pairs)
    this.#sampled = new Uint8Array(kinds * pairs)
    if (pairs > 0) {
      this.#batch = new UserBatch(decisions, batchBytesMax)
      if (decisions.hasUndecided) this.#undecided = new UndecidedAccess(decisions, this.#batch)
      for (const type of [...decisions.users.everyone.keys()].sort((a, b) => a - b))
        yield* this.#everyoneOf(type)
      let done = 0
      for (const { type, users } of this.#batches()) {
        for (const _ of this.#batch.decide(type, users)) yield done / decisions.users.count
        this.#terms.causes.begin(this.#batch, type, users)
        yield* this.#compare(type, users, done / decisions.users.count)
        done += users.length
      }
    }
    this.#sum()
  }

  /** Users of one type, as many as fit into a batch; sets come last. */
  *#batches(): Generator<{ type: number; users: number[] }> {
    const { count, types: all } = this.#terms.decisions.users
    const types = [...new Set(all.array.subarray(0, count))].sort((a, b) => b - a)
    for (const type of types) {
      let batch: number[] = []
      for (let at = 0; at < count; at++) {
        if (all.array[at] !== type) continue
        if (batch.push(at) < this.#batch.usersMax) continue
        yield { type, users: batch }
        batch = []
      }
      if (batch.length > 0) yield { type, users: batch }
    }
  }

  /** Decides for a user whom no tuple names. */
  *#everyoneOf(type: number): Generator<number> {
    const { causes } = this.#terms
    for (const _ of this.#batch.decide(type, [-1])) yield 0
    causes.begin(this.#batch, type, [-1])
    const found = new Uint8Array(this.#old.length)
    for (let pair = 0; pair < found.length; pair++) {
      if (!this.#isTouched(pair)) continue
      this.#read(pair, 0, [-1])
      const kind = this.#masks.findIndex((mask) => mask !== 0)
      if (kind < 0) continue
      found[pair] = kind + 1
      causes.takeEveryone(this.#batch, pair, kind)
      this.#tellRows(pair, kind, this.#nameOfType(type), noEntries)
    }
    this.#everyone.set(type, found)
  }

  #nameOfType(type: number): string {
    const { graph } = this.#terms
    return `${graph.typeName(type)}:*`
  }

  #isTouched(pair: number): boolean {
    return (
      this.#batch.isTouched(this.#old.array[pair] as number) ||
      this.#batch.isTouched(this.#next.array[pair] as number)
    )
  }

  *#compare(type: number, users: readonly number[], done: number): Generator<number> {
    const batch = this.#batch
    const everyone = this.#everyone.get(type)
    const distinct = new Int32Array(kinds * batch.words)
    for (let pair = 0; pair < this.#old.length; pair++) {
      if ((pair & 8191) === 0) yield done
      if (!this.#isTouched(pair)) continue
      const common = (everyone?.[pair] ?? 0) - 1
      if (common >= 0) {
        for (let word = 0; word < batch.used; word++) {
          this.#read(pair, word, users)
          this.#takeCommon(pair, common, word, users)
          this.#take(pair, word, users, distinct)
        }
        continue
      }
      const old = this.#old.array[pair] as number
      const next = this.#next.array[pair] as number
      for (let left = batch.filledWords(old) | batch.filledWords(next); left !== 0; left &= left - 1) {
        const word = 31 - Math.clz32(left & -left)
        if (!this.#differs(old, next, word)) continue
        this.#read(pair, word, users)
        this.#take(pair, word, users, distinct)
      }
    }
    if (type < 0) return
    distinct.forEach((mask, at) => {
      this.distinctUsers[at % kinds] = (this.distinctUsers[at % kinds] as number) + bitCount(mask)
    })
  }

  /** Counts the users of the masks. */
  #take(pair: number, word: number, users: readonly number[], distinct: Int32Array): void {
    const masks = this.#masks
    const counts = this.#batch.type < 0 ? this.#setCounts : this.#counts
    for (let kind = 0; kind < kinds; kind++) {
      const mask = masks[kind] as number
      if (mask === 0) continue
      const at = kinds * pair + kind
      counts[at] = (counts[at] as number) + bitCount(mask)
      distinct[kinds * word + kind] = (distinct[kinds * word + kind] as number) | mask
      this.#terms.causes.take(this.#batch, pair, kind, mask, word)
      if (this.#sampled[at] === 0 || this.#terms.onRow !== undefined)
        this.#tellUsers(pair, kind, mask, users, word)
    }
  }

  /** Removes those who have what everybody has, and counts those who do not. */
  #takeCommon(pair: number, common: number, word: number, users: readonly number[]): void {
    const others = (this.#batch.valid[word] as number) & ~(this.#masks[common] as number)
    this.#masks[common] = 0
    if (others === 0) return
    this.#exceptions[pair] = (this.#exceptions[pair] as number) + bitCount(others)
    let unchanged = others
    for (const mask of this.#masks) unchanged &= ~mask
    if (this.#terms.onRow !== undefined) this.#tellUsers(pair, -1, unchanged, users, word)
  }

  /** Whether two nodes differ for the users of a word, or are not decided. */
  #differs(old: number, next: number, word: number): boolean {
    const { values, stride, upper } = this.#batch
    const a = old === nobody ? 0 : (values[stride * old + word] as number)
    const b = next === nobody ? 0 : (values[stride * next + word] as number)
    if (a !== b) return true
    if (upper === 0) return false
    const c = old === nobody ? 0 : (values[stride * old + upper + word] as number)
    const d = next === nobody ? 0 : (values[stride * next + upper + word] as number)
    return c !== d || c !== a
  }

  /** Reads one word of both nodes of a pair into a mask per kind of change. */
  #read(pair: number, word: number, users: readonly number[]): void {
    const { values, stride, upper } = this.#batch
    const masks = this.#masks
    const [old, next] = [this.#old.array[pair] as number, this.#next.array[pair] as number]
    const [a, b] = [stride * old + word, stride * next + word]
    const oldSure = old === nobody ? 0 : (values[a] as number)
    const nextSure = next === nobody ? 0 : (values[b] as number)
    if (upper === 0) {
      masks[0] = nextSure & ~oldSure
      masks[1] = oldSure & ~nextSure
      return
    }
    const oldMay = old === nobody ? 0 : (values[a + upper] as number)
    const nextMay = next === nobody ? 0 : (values[b + upper] as number)
    const [oldOpen, nextOpen] = [oldMay & ~oldSure, nextMay & ~nextSure]
    masks[0] = nextSure & ~oldMay
    masks[1] = oldSure & ~nextMay
    masks[2] = (nextOpen & ~oldMay) | (nextSure & oldOpen)
    masks[3] = (oldOpen & ~nextMay) | (oldSure & nextOpen)
    masks[4] = oldOpen & nextOpen
    this.#tryConditions(old, next, word, users)
  }

  /** Looks closer at what conditions decide. Where only unions and one condition do in one of the models, the masks are right already. */
  #tryConditions(old: number, next: number, word: number, users: readonly number[]): void {
    const masks = this.#masks
    const { mixed, undecided } = this.#terms.decisions
    const isMixed = [old, next].some(
      (node) => node !== nobody && (mixed.array[node] === 1 || bitCount(undecided.array[node] as number) > 1),
    )
    const both = masks[4] as number
    const tried = both | (isMixed ? (masks[2] as number) | (masks[3] as number) : 0)
    for (let left = tried; left !== 0; left &= left - 1) {
      const bit = left & -left
      const user = users[32 * word + 31 - Math.clz32(bit)] as number
      const change =
        (both & bit) === 0
          ? this.#undecided.triedChangeOf(old, next, user, word, bit)
          : this.#undecided.changeOf(old, next, user, word, bit)
      if (change === undefined) continue
      for (const kind of [2, 3, 4]) masks[kind] = (masks[kind] as number) & ~bit
      if (change === "unchanged") continue
      const kind = accessChanges.indexOf(change)
      masks[kind] = (masks[kind] as number) | bit
    }
  }

  #tellUsers(pair: number, kind: number, mask: number, users: readonly number[], word: number): void {
    const { decisions, onRow, causes } = this.#terms
    // One user is enough for a sample, and later ones of the same pair would not be better.
    if (kind >= 0) this.#sampled[kinds * pair + kind] = 1
    for (let left = mask; left !== 0; left &= left - 1) {
      const at = 32 * word + 31 - Math.clz32(left & -left)
      const entries = () => causes.entriesOf(this.#batch, pair, word, left & -left)
      this.#tellRows(pair, kind, decisions.users.name(users[at] as number), entries)
      if (onRow === undefined) return
    }
  }

  #relationAt(row: number): number {
    return this.#terms.candidates.nodes.array[2 * (this.#rows.values[row] as number) + 1] as number
  }

  #lacksSample(relation: number, kind: number): boolean {
    const counts = this.byRelation.get(relation)
    if (counts === undefined) return true
    const { samplesMax } = this.#terms
    return counts.samples.filter(({ row: { change } }) => change === accessChanges[kind]).length < samplesMax
  }

  /** The user's row for each candidate of the pair. `kind` is -1 for an exception. */
  #tellRows(pair: number, kind: number, user: string, entriesOf: () => readonly number[]): void {
    const { graph, candidates, relationNames, onRow } = this.#terms
    const change = accessChanges[kind] ?? "unchanged"
    for (let at = this.#rows.starts[pair] as number; at < (this.#rows.starts[pair + 1] as number); at++) {
      const relation = this.#relationAt(at)
      const wanted = kind >= 0 && this.#lacksSample(relation, kind)
      if (onRow === undefined && !wanted) continue
      const object = graph.names.text(candidates.nodes.array[2 * (this.#rows.values[at] as number)] as number)
      const row: ImpactRow = { user, relation: relationNames[relation] ?? "", object, change }
      if (wanted) this.#countsOf(relation).samples.push({ row, entries: entriesOf() })
      onRow?.(row)
    }
  }

  #countsOf(relation: number): RelationCounts {
    const known = this.byRelation.get(relation)
    if (known !== undefined) return known
    const made: RelationCounts = {
      ...{
        objects: 0,
        users: new Array(kinds).fill(0),
        sets: new Array(kinds).fill(0),
        everyone: new Map(),
        exceptions: 0,
      },
      ...{ conditions: 0, deep: 0, samples: [] },
    }
    this.byRelation.set(relation, made)
    return made
  }

  #sum(): void {
    const objects = new Set<number>()
    for (let pair = 0; pair < this.#old.length; pair++) {
      const common = [...this.#everyone].flatMap(([type, found]) => {
        const kind = (found[pair] as number) - 1
        return kind < 0 ? [] : [[type, kind] as const]
      })
      const users = this.#counts.subarray(kinds * pair, kinds * (pair + 1))
      const sets = this.#setCounts.subarray(kinds * pair, kinds * (pair + 1))
      if (common.length === 0 && isZero(users) && isZero(sets)) continue
      for (let at = this.#rows.starts[pair] as number; at < (this.#rows.starts[pair + 1] as number); at++) {
        objects.add(this.#terms.candidates.nodes.array[2 * (this.#rows.values[at] as number)] as number)
        this.#addPair(this.#countsOf(this.#relationAt(at)), pair, { users, sets, common })
      }
    }
    this.objects = objects.size
  }

  #addPair(counts: RelationCounts, pair: number, { users, sets, common }: PairCounts): void {
    const { decisions, depthMax } = this.#terms
    const nodes = [this.#old.array[pair] as number, this.#next.array[pair] as number].filter(
      (node) => node >= 0,
    )
    counts.objects++
    users.forEach((count, kind) => {
      counts.users[kind] = (counts.users[kind] as number) + count
    })
    sets.forEach((count, kind) => {
      counts.sets[kind] = (counts.sets[kind] as number) + count
    })
    for (const [type, kind] of common) {
      const found = counts.everyone.get(type) ?? new Array(kinds).fill(0)
      counts.everyone.set(type, found)
      found[kind]++
    }
    counts.exceptions += this.#exceptions[pair] as number
    const isOpen =
      [users, sets].some((each) => each.some((count, kind) => kind > 1 && count > 0)) ||
      common.some(([, kind]) => kind > 1)
    if (isOpen) for (const node of nodes) counts.conditions |= decisions.undecided.array[node] as number
    if (nodes.some((node) => (decisions.heights.array[node] as number) > depthMax)) counts.deep++
  }
}

const noEntries = (): readonly number[] => []

/** Counts of one pair by kind of change, and what everybody of a type has. */
interface PairCounts {
  readonly users: Int32Array
  readonly sets: Int32Array
  readonly common: readonly (readonly [type: number, kind: number])[]
}

function isZero(counts: Int32Array): boolean {
  return counts.every((count) => count === 0)
}
