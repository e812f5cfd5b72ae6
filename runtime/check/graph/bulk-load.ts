import type { PackedRows } from "../ports.ts"
import type { Adjacency } from "./adjacency.ts"
import type { Contexts } from "./contexts.ts"
import { IntColumn } from "./int-column.ts"
import type { NameArena } from "./names.ts"
import { type Slots, type TupleSlot, typeOfMark } from "./slots.ts"
import { sortedIds } from "./sort-ids.ts"

/** Tuples between two yields. */
const tuplesAtOnce = 1 << 16
/** Maximum number of passes: a larger store has larger ones. */
const passesMax = 16
/** Ids between two yields, if their lists are short. */
const idsAtOnce = 1_024
/** So many tuples of one id are sorted one by one, and so many at once; more are sorted in turns, slot by slot. */
const insertedMax = 24
const sortedMax = 4_096
/** Slots and ids are joined to one number, which is exact below 2^53. */
const slotFactor = 0x8000_0000

const tab = 9
const colon = 58
const star = 42

/** Relation, subject relation and condition of a row, as one text, with the slots that they were met in. */
interface Shape {
  readonly relation: string
  readonly subjectRelation: string
  readonly condition: string
  /** By the types at both ends. */
  readonly slots: Map<number, TupleSlot>
  lastTypes: number
  last: TupleSlot | undefined
}

/** The parts of a graph that a load fills. */
interface Filled {
  readonly names: NameArena
  readonly slots: Slots
  readonly contexts: Contexts
  readonly forward: Adjacency
  readonly reverse: Adjacency
}

/**
 * A first load. Names get their ids as rows arrive. The lists are built at the end, each with its length known and each from a stretch of
 * memory that fits the processor's caches: adding one tuple after the other would look up, move and wait for memory several times a tuple.
 */
export class BulkLoad {
  readonly #into: Filled
  readonly #shapes = new Map<string, Shape>()
  readonly #objects = new IntColumn()
  readonly #slots = new IntColumn()
  readonly #subjects = new IntColumn()
  #lastObject = ""
  #lastObjectId = -1
  #lastObjectMark = 0
  #count = 0
  #isBuilding = false

  constructor(into: Filled) {
    this.#into = into
  }

  /** Bytes of the tuples as they arrived. They do not count while the lists are built: a store that fits afterwards is not refused for them. */
  get bytes(): number {
    return this.#isBuilding ? 0 : 12 * this.#count
  }

  /**
   * Takes up to `max` rows of a text from a position on; returns the position of the next one.
   * @throws RangeError when the text is not one of rows
   */
  take(text: PackedRows, from: number, max: number): number {
    let at = from
    for (let taken = 0; taken < max && at < text.length; taken++) at = this.#row(text, at)
    return at
  }

  #row(text: string, start: number): number {
    const { names, contexts } = this.#into
    const objectEnd = text.indexOf("\t", start)
    const subjectEnd = text.indexOf("\t", objectEnd + 1)
    const end = text.indexOf("\n", subjectEnd + 1)
    if (objectEnd < 0 || subjectEnd < 0 || end < 0) throw new RangeError("a row of tuples is incomplete")
    const contextless = text.charCodeAt(end - 1) === tab
    const shapeEnd = contextless ? end - 1 : text.lastIndexOf("\t", end)
    const shape = this.#shape(text.slice(subjectEnd + 1, shapeEnd))
    const object = this.#object(text, start, objectEnd)
    const subject = names.internPart(text, objectEnd + 1, subjectEnd)
    const isWildcard = text.charCodeAt(subjectEnd - 1) === star && text.charCodeAt(subjectEnd - 2) === colon
    const slot = this.#slot(shape, typeOfMark(this.#lastObjectMark), typeOfMark(names.lastMark), isWildcard)
    const place = this.#count++
    this.#objects.set(place, object)
    this.#slots.set(place, slot.id)
    this.#subjects.set(place, subject)
    if (!contextless) contexts.set(object, slot.id, subject, text.slice(shapeEnd + 1, end))
    return end + 1
  }

  /** In the order of most tables, tuples of one object are next to each other. */
  #object(text: string, start: number, end: number): number {
    const last = this.#lastObject
    if (end - start === last.length && text.startsWith(last, start)) return this.#lastObjectId
    const { names } = this.#into
    this.#lastObjectId = names.internPart(text, start, end)
    this.#lastObjectMark = names.lastMark
    this.#lastObject = text.slice(start, end)
    return this.#lastObjectId
  }

  #shape(text: string): Shape {
    const known = this.#shapes.get(text)
    if (known !== undefined) return known
    // A copy, because a part of a text keeps all of it in memory.
    const own = Array.from(text).join("")
    const [relation, subjectRelation, condition, ...more] = own.split("\t")
    if (relation === undefined || subjectRelation === undefined || condition === undefined || more.length > 0)
      throw new RangeError("a row of tuples does not have six columns")
    const shape = { relation, subjectRelation, condition, slots: new Map(), lastTypes: -1, last: undefined }
    this.#shapes.set(own, shape)
    return shape
  }

  #slot(shape: Shape, objectType: number, subjectType: number, isWildcard: boolean): TupleSlot {
    const types = (objectType * 0x100_0000 + subjectType) * 2 + (isWildcard ? 1 : 0)
    if (shape.lastTypes === types && shape.last !== undefined) return shape.last
    const { relation, subjectRelation, condition } = shape
    const slot =
      shape.slots.get(types) ??
      this.#into.slots.of(objectType, relation, subjectType, isWildcard ? "*" : subjectRelation, condition)
    shape.slots.set(types, slot)
    shape.lastTypes = types
    shape.last = slot
    return slot
  }

  /**
   * Puts the tuples into the graph's lists, without repetitions. Yields every millisecond or so. `passMin` is the least number of tuples that
   * a pass over all of them puts in order.
   */
  *finish(passMin = 1 << 20): Generator<void> {
    const { names, forward, reverse } = this.#into
    this.#isBuilding = true
    const atOnce = Math.max(passMin, Math.ceil(this.#count / passesMax))
    const both = { count: this.#count, slots: this.#slots, atOnce }
    yield* layAll(forward, names.idsEnd, { ...both, ids: this.#objects, others: this.#subjects })
    yield* layAll(reverse, names.idsEnd, { ...both, ids: this.#subjects, others: this.#objects })
  }
}

/** Tuples by column, seen from one of their two ends. */
interface Triples {
  readonly count: number
  /** Tuples of a pass. */
  readonly atOnce: number
  readonly ids: IntColumn
  readonly slots: IntColumn
  readonly others: IntColumn
}

/** Several passes over the tuples: each puts those of a range of ids next to each other, id by id, and builds their lists. */
function* layAll(adjacency: Adjacency, idsEnd: number, triples: Triples): Generator<void> {
  const { atOnce } = triples
  const starts = yield* countsOf(triples, idsEnd)
  let pairs = new Int32Array(0)
  for (let from = 0, to = 0; from < idsEnd; from = to) {
    let inPass = 0
    for (to = from; to < idsEnd; to++) {
      const own = starts[to] as number
      if (to > from && inPass + own > atOnce) break
      starts[to] = inPass
      inPass += own
      if ((to & 0xffff) === 0) yield
    }
    if (inPass === 0) continue
    if (pairs.length < 2 * inPass) pairs = new Int32Array(2 * inPass)
    yield* gather(triples, from, to, starts, pairs)
    yield* layPass(adjacency, from, to, starts, pairs)
  }
}

/** The number of tuples of each id. */
function* countsOf({ count, ids }: Triples, idsEnd: number): Generator<void, Int32Array> {
  const counts = new Int32Array(idsEnd)
  for (let at = 0; at < count; at++) {
    const id = ids.get(at)
    counts[id] = (counts[id] as number) + 1
    if (at % tuplesAtOnce === 0) yield
  }
  return counts
}

/** Copies slot and other end of the tuples in a range of ids. Afterwards `starts` contains the end of each id's tuples. */
function* gather(
  { count, ids, slots, others }: Triples,
  from: number,
  to: number,
  starts: Int32Array,
  pairs: Int32Array,
): Generator<void> {
  for (let at = 0; at < count; at++) {
    if (at % tuplesAtOnce === 0) yield
    const id = ids.get(at)
    if (id < from || id >= to) continue
    const place = starts[id] as number
    starts[id] = place + 1
    pairs[2 * place] = slots.get(at)
    pairs[2 * place + 1] = others.get(at)
  }
}

function* layPass(
  adjacency: Adjacency,
  from: number,
  to: number,
  ends: Int32Array,
  pairs: Int32Array,
): Generator<void> {
  const keys = new Float64Array(sortedMax)
  let start = 0
  for (let id = from; id < to; id++) {
    const end = 2 * (ends[id] as number)
    if (end - start > 2 * sortedMax) yield* layLong(adjacency, id, pairs.subarray(start, end))
    else if (end > start) {
      if (end - start > 2 * insertedMax) sortAtOnce(pairs, start, end, keys)
      else sortOneByOne(pairs, start, end)
      adjacency.layPairs(id, pairs, start, withoutRepetitions(pairs, start, end))
    }
    start = end
    if ((id & (idsAtOnce - 1)) === 0) yield
  }
}

/** Sorts pairs by slot, then by id: by insertion, which costs next to nothing when they are in order, as they often are. */
function sortOneByOne(pairs: Int32Array, start: number, end: number): void {
  for (let next = start + 2; next < end; next += 2) {
    const slot = pairs[next] as number
    const other = pairs[next + 1] as number
    let at = next
    for (; at > start; at -= 2) {
      const before = pairs[at - 2] as number
      if (before < slot || (before === slot && (pairs[at - 1] as number) <= other)) break
      pairs[at] = before
      pairs[at + 1] = pairs[at - 1] as number
    }
    pairs[at] = slot
    pairs[at + 1] = other
  }
}

function sortAtOnce(pairs: Int32Array, start: number, end: number, keys: Float64Array): void {
  const count = (end - start) / 2
  for (let at = 0; at < count; at++)
    keys[at] = (pairs[start + 2 * at] as number) * slotFactor + (pairs[start + 2 * at + 1] as number)
  keys.subarray(0, count).sort()
  for (let at = 0; at < count; at++) {
    const key = keys[at] as number
    const slot = Math.floor(key / slotFactor)
    pairs[start + 2 * at] = slot
    pairs[start + 2 * at + 1] = key - slot * slotFactor
  }
}

/** Returns the end of what is left. */
function withoutRepetitions(pairs: Int32Array, start: number, end: number): number {
  let kept = start + 2
  for (let at = start + 2; at < end; at += 2) {
    if (pairs[at] === pairs[kept - 2] && pairs[at + 1] === pairs[kept - 1]) continue
    pairs[kept] = pairs[at] as number
    pairs[kept + 1] = pairs[at + 1] as number
    kept += 2
  }
  return kept
}

/** An id with a long list: slot by slot, each sorted in turns. */
function* layLong(adjacency: Adjacency, id: number, pairs: Int32Array): Generator<void> {
  const counts = new Map<number, number>()
  for (let at = 0; at < pairs.length; at += 2) {
    const slot = pairs[at] as number
    counts.set(slot, (counts.get(slot) ?? 0) + 1)
    if ((at & 0xffff) === 0) yield
  }
  for (const [slot, count] of counts) {
    const others = new Int32Array(count)
    let found = 0
    for (let at = 0; at < pairs.length; at += 2) {
      if (pairs[at] === slot) others[found++] = pairs[at + 1] as number
      if ((at & 0xffff) === 0) yield
    }
    adjacency.lay(id, slot, yield* sortedIds(others, 0, count))
  }
}
