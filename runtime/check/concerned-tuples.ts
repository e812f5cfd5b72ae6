import { Graph } from "./graph/graph.ts"
import { differingSlots } from "./impact/candidates.ts"
import { PairedProgram, type PairedRelation } from "./impact/paired-program.ts"
import { changedSlots } from "./impact/tuple-changes.ts"
import type { LoadedModel } from "./loaded-model.ts"
import { splitObject } from "./object-name.ts"
import type { TupleRow, TupleShape, TupleSnapshot } from "./ports.ts"

/** Objects that are named in one question to the database. */
const objectsAtOnce = 500

/** What a comparison of two models concerns in a store. */
export interface ConcernedTerms {
  readonly snapshot: TupleSnapshot
  readonly before: LoadedModel
  readonly after: LoadedModel
  /** Tuples, and objects, that are read at most. */
  readonly max: number
  /** Ends the reading. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Reads the tuples that decide what a change of a model means for people, instead of a whole store: those of the objects that it concerns,
 * of all objects that read these, and of all that they read. `accessImpact` says the same of them as of the whole store. Undefined when
 * they are more than `max`.
 * @throws SourceUnavailable · the reason of `signal`
 */
export async function concernedTuples(terms: ConcernedTerms): Promise<readonly TupleRow[] | undefined> {
  const reading = new ConcernedReading(terms)
  return (await reading.seeds()) && (await reading.others()) ? reading.rows : undefined
}

/** What two models say about the tuples that have to be read. */
class ConcernedShapes {
  /** Objects with a tuple in one of these slots are concerned, */
  readonly slots = new Set<number>()
  /** all objects of these types that have a tuple, */
  readonly anyOf = new Set<string>()
  /** and objects of a type of which a set by one of these relations is a user. */
  readonly setsOf = new Map<string, Set<string>>()
  /** Slots whose tuples become ignored, counted or invalid, whether they decide anything or not. */
  readonly changed: readonly number[]
  /** Names of the relations whose tuples can decide a relation that the change concerns. */
  readonly relations: readonly string[]
  /** Shapes of tuples by which an object that the change concerns is read. */
  readonly readers = new Set<string>()
  /** Shapes of tuples whose user is an object, or a set of it, that is read. */
  readonly hops = new Set<string>()
  readonly #graph = new Graph()

  constructor(before: LoadedModel, after: LoadedModel) {
    const program = new PairedProgram(this.#graph, before, after)
    const affected = program.relations.filter((relation) => relation.affected)
    for (const relation of affected) this.#addSeeds(relation, program)
    for (const { slot } of affected.flatMap(({ readers }) => readers))
      if (slot >= 0) this.readers.add(this.#keyOf(slot))
    const changed = changedSlots(this.#graph, before, after, program.pair.changedConditions)
    this.changed = [...changed.keys()].filter((slot) => !this.slots.has(slot))
    const names = this.changed.map((slot) => this.shapeOf(slot).relation)
    this.relations = [...new Set([...this.#read(affected, program), ...names])]
  }

  shapeOf(slot: number): TupleShape {
    return this.#graph.slots[slot] as TupleShape
  }

  #addSeeds(relation: PairedRelation, program: PairedProgram): void {
    const { slots, same, isAny } = differingSlots(relation)
    const [type = ""] = relation.name.split("#")
    for (const slot of slots) this.slots.add(slot)
    if (isAny) this.anyOf.add(type)
    const sets = isAny ? program.relations.filter((each) => each.type === relation.type) : []
    for (const number of same) sets.push(program.relations[number] as PairedRelation)
    const names = this.setsOf.get(type) ?? new Set()
    for (const set of sets) names.add(set.relation)
    if (names.size > 0) this.setsOf.set(type, names)
  }

  /** Follows what relations read; adds their hops. */
  #read(affected: readonly PairedRelation[], { parts }: PairedProgram): readonly string[] {
    const names = new Set<string>()
    const reached = new Set(affected.map(({ number }) => number))
    for (const number of reached)
      for (const { direct, hops, refs } of parts.filter(({ relation }) => relation === number)) {
        for (const { slot } of direct) names.add(this.shapeOf(slot).relation)
        for (const { slot, relation } of hops) {
          names.add(this.shapeOf(slot).relation)
          this.hops.add(this.#keyOf(slot))
          reached.add(relation)
        }
        for (const ref of refs) reached.add(ref)
      }
    return [...names]
  }

  #keyOf(slot: number): string {
    const { objectType, relation, subjectType, subjectRelation, condition } = this.shapeOf(slot)
    return [objectType, relation, subjectType, subjectRelation, condition].join(" ")
  }
}

/** The shape of a tuple's slot, as `ConcernedShapes` has it. */
function keyOfRow([object, relation, subject, subjectRelation, condition]: TupleRow): string {
  const type = (name: string) => splitObject(name)?.type ?? ""
  const set = subject.endsWith(":*") ? "*" : subjectRelation
  return [type(object), relation, type(subject), set, condition].join(" ")
}

class ConcernedReading {
  readonly #terms: ConcernedTerms
  readonly #shapes: ConcernedShapes
  /** Objects whose access the change may concern; tuples that name them are read. */
  readonly #concerned = new Set<string>()
  /** Objects whose tuples are read: these, and those that they read. */
  readonly #read = new Set<string>()
  /** By key: a tuple may be read as one of its object and as one of its user. */
  readonly #rows = new Map<string, TupleRow>()

  constructor(terms: ConcernedTerms) {
    this.#terms = terms
    this.#shapes = new ConcernedShapes(terms.before, terms.after)
  }

  get rows(): readonly TupleRow[] {
    return [...this.#rows.values()]
  }

  /** Finds the objects with which the change begins, as DifferenceCandidates does in memory; false: they are too many. */
  async seeds(): Promise<boolean> {
    const { snapshot, max } = this.#terms
    const { relations, slots, anyOf, setsOf, changed } = this.#shapes
    for (const slot of slots)
      if (!this.#addConcerned(await snapshot.objectsWith(this.#shapes.shapeOf(slot), max))) return false
    for (const slot of changed)
      for (const object of await snapshot.objectsWith(this.#shapes.shapeOf(slot), max)) this.#read.add(object)
    for (const type of anyOf)
      if (!this.#addConcerned(await snapshot.objectsOf(type, relations, max))) return false
    for (const [type, names] of setsOf)
      if (!this.#addConcerned(await snapshot.objectsOfSets(type, [...names], max))) return false
    return this.#read.size < max
  }

  /** Follows all hops from the objects that were found; false: there are too many tuples. */
  async others(): Promise<boolean> {
    const { snapshot, max, signal } = this.#terms
    const { relations, readers, hops } = this.#shapes
    const naming = new Taken(this.#concerned)
    const own = new Taken(this.#read)
    while (naming.has || own.has) {
      signal?.throwIfAborted()
      const [named, owners] = [naming.next(), own.next()]
      if (named.length > 0)
        for (const row of this.#take(await snapshot.tuplesNaming(named, max)))
          if (readers.has(keyOfRow(row))) this.#addConcerned([row[0]])
      if (owners.length > 0) {
        for (const row of this.#take(await snapshot.tuplesOf(owners, relations, max)))
          if (hops.has(keyOfRow(row))) this.#read.add(row[2])
        // Sets are compared as users when any tuple names them.
        this.#take(await snapshot.tuplesOfSets(owners, max))
      }
      if (this.#rows.size >= max || this.#read.size >= max) return false
    }
    return true
  }

  #addConcerned(objects: readonly string[]): boolean {
    for (const object of objects) {
      this.#concerned.add(object)
      this.#read.add(object)
    }
    return this.#concerned.size < this.#terms.max
  }

  #take(rows: readonly TupleRow[]): readonly TupleRow[] {
    for (const row of rows) this.#rows.set(row.slice(0, 4).join("\t"), row)
    return rows
  }
}

/** Takes the members of a set that grows, some at a time. */
class Taken {
  readonly #all: ReadonlySet<string>
  readonly #members: IterableIterator<string>
  #count = 0

  constructor(all: ReadonlySet<string>) {
    this.#all = all
    this.#members = all.values()
  }

  get has(): boolean {
    return this.#count < this.#all.size
  }

  next(): readonly string[] {
    const some: string[] = []
    while (this.has && some.length < objectsAtOnce) {
      some.push(this.#members.next().value as string)
      this.#count++
    }
    return some
  }
}
