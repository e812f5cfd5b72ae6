import type { Lead, Letter, ModelSide, QuestionSpace, TypeSpace } from "./spaces.ts"

/** An object, as the tuples that make it: those of another object and one more. */
export interface TriedObject {
  readonly space: TypeSpace
  readonly inputs: bigint
  /** Number of tuples, with those of the objects they lead to. */
  readonly cost: number
  /** Absent: an object without tuples. */
  readonly last?: { readonly before: TriedObject; readonly added: Added }
}

/** A tuple that an object can get, with the object to which it leads, if it does not name the user. */
export interface Added {
  readonly letter: Letter
  readonly bits: bigint
  readonly cost: number
  readonly to?: TriedObject
}

/** What the search found: the smallest objects on which the user has the relation in one model only, and how far it got. */
export interface Found {
  /** In the new model only. */
  readonly gain: TriedObject | undefined
  /** In the old model only. */
  readonly loss: TriedObject | undefined
  /** All objects were tried, up to those that no relation can tell apart; otherwise those with fewer tuples than this. */
  readonly searched: "all" | number
}

/** What is known of a type: its objects that were tried, and the tuples they can have. */
interface Known {
  readonly objects: Map<bigint, TriedObject>
  /** The fewest tuples with which each object waits or was tried. */
  readonly costs: Map<bigint, number>
  readonly added: Added[]
  readonly addedBits: Set<bigint>
  readonly outcomes: Set<bigint>
}

/**
 * Searches small objects that tell two models apart, those with the fewest tuples first: an object is the set of its inputs, and of all objects with
 * the same relations only the smallest is used as a part of others. An empty queue proves that no object tells them apart. `stepsMax` bounds how often a tuple is added to an object.
 */
export function search({ root, rootBits, types }: QuestionSpace, stepsMax: number): Found {
  return new Search(root, rootBits, types).run(stepsMax)
}

class Search {
  readonly #root: TypeSpace
  readonly #rootBits: readonly [bigint, bigint]
  readonly #known = new Map<TypeSpace, Known>()
  /** Waiting objects by their number of tuples. */
  readonly #waiting: TriedObject[][] = []
  #gain: TriedObject | undefined
  #loss: TriedObject | undefined
  /** Steps that are left. */
  #left = 0

  constructor(root: TypeSpace, rootBits: readonly [bigint, bigint], types: readonly TypeSpace[]) {
    this.#root = root
    this.#rootBits = rootBits
    for (const space of types) {
      const added = space.direct.map(({ letter, bits }) => ({ letter, bits, cost: 1 }))
      const addedBits = new Set(added.map(({ bits }) => bits))
      this.#known.set(space, {
        ...{ objects: new Map(), costs: new Map(), added, addedBits, outcomes: new Set() },
      })
      this.#wait({ space, inputs: 0n, cost: 0 })
      if (space.own !== 0n) this.#wait({ space, inputs: space.own, cost: 0 })
    }
  }

  run(stepsMax: number): Found {
    this.#left = stepsMax
    for (let cost = 0; cost < this.#waiting.length; cost++) {
      for (const object of this.#waiting[cost] ?? []) {
        const known = this.#known.get(object.space) as Known
        if (known.objects.has(object.inputs)) continue
        known.objects.set(object.inputs, object)
        this.#try(object, known)
        if (this.#left <= 0) return this.#found(cost)
        if (this.#gain !== undefined && this.#loss !== undefined) return this.#found("all")
      }
      // What has been tried is not needed again.
      delete this.#waiting[cost]
    }
    return this.#found("all")
  }

  #found(searched: Found["searched"]): Found {
    return { gain: this.#gain, loss: this.#loss, searched }
  }

  #wait(object: TriedObject): void {
    const { costs } = this.#known.get(object.space) as Known
    if ((costs.get(object.inputs) ?? Number.POSITIVE_INFINITY) <= object.cost) return
    costs.set(object.inputs, object.cost)
    const waiting = this.#waiting[object.cost]
    if (waiting === undefined) this.#waiting[object.cost] = [object]
    else waiting.push(object)
  }

  #try(object: TriedObject, known: Known): void {
    const { space } = object
    const outcome = space.decide(object.inputs)
    const isOwn = (object.inputs & space.own) !== 0n
    // What a set has on its own object without any tuple is no example.
    if (space === this.#root && !isOwn) this.#compare(object, outcome)
    for (const added of isOwn ? [] : known.added) {
      if (this.#left <= 0) return
      this.#extend(object, added)
    }
    const observed = outcome & space.observed
    if (known.outcomes.has(observed)) return
    known.outcomes.add(observed)
    for (const lead of space.leadsHere) this.#leadTo(object, observed, lead)
  }

  #compare(object: TriedObject, outcome: bigint): void {
    const has = (side: ModelSide) => (outcome & this.#rootBits[side]) !== 0n
    if (has(1) && !has(0)) this.#gain ??= object
    if (has(0) && !has(1)) this.#loss ??= object
  }

  /** Gives a tried object one more tuple. */
  #extend(object: TriedObject, added: Added): void {
    // Where tuples give together what they give one by one, an object needs only one of them.
    if (object.space.isUnion && object.inputs !== 0n) return
    this.#left -= 1
    const inputs = object.inputs | added.bits
    if (inputs === object.inputs) return
    const { alternatives } = object.space
    for (const each of alternatives) {
      const chosen = inputs & each
      if ((chosen & (chosen - 1n)) !== 0n) return
    }
    const cost = object.cost + added.cost
    this.#wait({ space: object.space, inputs, cost, last: { before: object, added } })
  }

  /** Makes a tuple that leads to the object available to all objects that can have it. */
  #leadTo(to: TriedObject, outcome: bigint, { letter, from, sets }: Lead): void {
    let bits = 0n
    for (const [relation, input] of sets) if ((outcome & relation) !== 0n) bits |= input
    const known = this.#known.get(from) as Known
    if (bits === 0n || known.addedBits.has(bits)) return
    known.addedBits.add(bits)
    const added: Added = { letter, bits, cost: to.cost + 1, to }
    known.added.push(added)
    for (const object of known.objects.values()) {
      if (this.#left <= 0) return
      if ((object.inputs & from.own) === 0n) this.#extend(object, added)
    }
  }
}
