import {
  type ModelPair,
  type NamedSlot,
  namesOf,
  relationNameOf,
  slotOf,
} from "../../runtime/model/model-pair.ts"
import type { RelationNode } from "../../runtime/plan/authorization-model.ts"

/** The old model is 0, the new one 1. */
export type ModelSide = 0 | 1
export const sides: readonly ModelSide[] = [0, 1]

/** A kind of tuple that an object can have, by names: their numbers differ between two models. */
export interface Letter extends NamedSlot {
  /** In which models such a tuple counts; a condition that the two define differently may be true in one of them only. */
  readonly counts: readonly ModelSide[]
}

/** A letter whose subject is the user, and the input that such a tuple sets. */
export interface DirectLetter {
  readonly letter: Letter
  readonly bits: bigint
}

/** A letter that leads to another object: for each relation that the user has there, the inputs that it sets here. */
export interface Lead {
  readonly letter: Letter
  readonly from: TypeSpace
  readonly to: TypeSpace
  /** Bit of the relation in the outcome of `to`, and bit of the input. */
  readonly sets: readonly (readonly [outcome: bigint, input: bigint])[]
}

/** A relation of one model as a program over the inputs of an object and the relations decided so far. */
type Program = (inputs: bigint, outcome: bigint) => boolean

interface Decided {
  readonly bit: bigint
  readonly program: Program
}

/** Relations that are decided together, because each is computed from the others on the same object. */
interface DecidedGroup {
  readonly relations: readonly Decided[]
  readonly isCyclic: boolean
}

/**
 * A type with all that one question can see of its objects. An object is a set of inputs, each true or false: the tuples whose subject is the user, and
 * the relations that the user has on objects to which its other tuples lead.
 */
export class TypeSpace {
  readonly type: string
  readonly direct: DirectLetter[] = []
  /** Inputs of one tuple under several conditions: a tuple has one. */
  readonly alternatives: bigint[] = []
  /** Letters of other objects that lead to objects of this type. */
  readonly leadsHere: Lead[] = []
  /** No relation of it has `and` or `but not`: what its tuples give together, they give one by one. */
  isUnion = true
  /** Input of the object of which the user is a set (`group:a#member`); 0: it is of another type. Such an object has no tuples here. */
  own = 0n
  /** The relations that an object with a lead here, or the question, looks at. */
  observed = 0n
  readonly #inputs = new Map<string, bigint>()
  readonly #outcomes = new Map<string, bigint>()
  groups: readonly DecidedGroup[] = []

  constructor(type: string) {
    this.type = type
  }

  input(key: string): bigint {
    return numbered(this.#inputs, key)
  }

  /** The bit of a relation in one model. */
  outcomeBit(side: ModelSide, relation: string): bigint {
    return numbered(this.#outcomes, `${side} ${relation}`)
  }

  /** The relations that the user has on an object with these inputs, in both models. */
  decide(inputs: bigint): bigint {
    let outcome = 0n
    for (const { relations, isCyclic } of this.groups) {
      let before: bigint
      do {
        before = outcome
        for (const { bit, program } of relations)
          if ((outcome & bit) === 0n && program(inputs, outcome)) outcome |= bit
      } while (isCyclic && outcome !== before)
    }
    return outcome
  }
}

function numbered(bits: Map<string, bigint>, key: string): bigint {
  let bit = bits.get(key)
  if (bit === undefined) {
    bit = 1n << BigInt(bits.size)
    bits.set(key, bit)
  }
  return bit
}

/** All that decides whether a user of one type has one relation, in both models. */
export interface QuestionSpace {
  readonly root: TypeSpace
  readonly rootBits: readonly [bigint, bigint]
  readonly types: readonly TypeSpace[]
  /** Some relation is computed from its own absence on the same object: nothing can be said. */
  readonly isParadox: boolean
  /** An exclusion is within a recursion over objects: data with cycles may differ where other data does not. */
  readonly hasRecursiveExclusion: boolean
  /** The user's type has relations that count here: the user may itself be one of the objects. */
  readonly hasUserAsObject: boolean
}

/** Builds the space of one question: the cone of a relation in both models, for users of one type, or for a set as a user (`group#member`). */
export function spaceOf(pair: ModelPair, relation: string, user: string): QuestionSpace {
  return new SpaceBuilder(pair, user).build(relation)
}

/** A relation that another one reads: on the same object, or on one that a tuple leads to; below `but not` or not. */
interface Edge {
  readonly to: string
  readonly isSameObject: boolean
  readonly isExcluded: boolean
}

class SpaceBuilder {
  readonly #pair: ModelPair
  readonly #user: string
  /** Numbers of relations by name. */
  readonly #names: readonly [ReadonlyMap<string, number>, ReadonlyMap<string, number>]
  readonly #spaces = new Map<string, TypeSpace>()
  /** Per model, the relations of the cone with what they read. */
  readonly #cones: readonly [Map<string, Edge[]>, Map<string, Edge[]>] = [new Map(), new Map()]
  readonly #leads = new Map<string, { lead: Lead; sets: [bigint, bigint][] }>()

  constructor(pair: ModelPair, user: string) {
    this.#pair = pair
    this.#user = user
    this.#names = [namesOf(pair.plans[0]), namesOf(pair.plans[1])]
  }

  build(relation: string): QuestionSpace {
    const programs = sides.map((side) => this.#cone(side, relation))
    const root = this.#space(typeOf(relation))
    const rootBits = [root.outcomeBit(0, nameOf(relation)), root.outcomeBit(1, nameOf(relation))] as const
    root.observed |= rootBits[0] | rootBits[1]
    const found = sides.map((side) => componentsOf(this.#cones[side]))
    for (const space of this.#spaces.values())
      space.groups = sides.flatMap((side) =>
        this.#groupsOf(space, side, found[side]?.sameObject ?? [], programs[side] ?? new Map()),
      )
    return {
      root,
      rootBits,
      types: [...this.#spaces.values()],
      isParadox: found.some(({ isParadox }) => isParadox),
      hasRecursiveExclusion: found.some(({ hasRecursiveExclusion }) => hasRecursiveExclusion),
      hasUserAsObject: this.#spaces.has(typeOf(`${this.#user}#`)),
    }
  }

  #groupsOf(
    space: TypeSpace,
    side: ModelSide,
    components: readonly Component[],
    programs: ReadonlyMap<string, Program>,
  ): DecidedGroup[] {
    return components
      .filter(({ members }) => typeOf(members[0] ?? "") === space.type)
      .map(({ members, isCyclic }) => ({
        isCyclic,
        relations: members.flatMap((name) => {
          const program = programs.get(name)
          return program === undefined ? [] : [{ bit: space.outcomeBit(side, nameOf(name)), program }]
        }),
      }))
  }

  #space(type: string): TypeSpace {
    let space = this.#spaces.get(type)
    if (space === undefined) {
      space = new TypeSpace(type)
      this.#spaces.set(type, space)
    }
    return space
  }

  /** Compiles all relations of one model that can decide the question. */
  #cone(side: ModelSide, root: string): Map<string, Program> {
    const programs = new Map<string, Program>()
    const waiting = [root]
    for (const name of waiting) {
      const number = this.#names[side].get(name)
      if (number === undefined || programs.has(name)) continue
      const edges: Edge[] = []
      this.#cones[side].set(name, edges)
      const plan = this.#pair.plans[side].relations[number]?.plan ?? { any: {} }
      const space = this.#space(typeOf(name))
      const own = name === this.#user ? this.#ownOf(space) : 0n
      const program = this.#compile(side, space, plan, edges, false)
      // A set has its relation on its own object, however that is decided.
      programs.set(
        name,
        own === 0n ? program : (inputs, outcome) => (inputs & own) !== 0n || program(inputs, outcome),
      )
      for (const { to } of edges) waiting.push(to)
    }
    return programs
  }

  #ownOf(space: TypeSpace): bigint {
    space.own = space.input("own")
    return space.own
  }

  #compile(
    side: ModelSide,
    space: TypeSpace,
    node: RelationNode,
    edges: Edge[],
    isExcluded: boolean,
  ): Program {
    const inner = (child: RelationNode, excluded = isExcluded) =>
      this.#compile(side, space, child, edges, excluded)
    if (!("any" in node)) space.isUnion = false
    if ("all" in node) {
      const parts = node.all.map((child) => inner(child))
      return (inputs, outcome) => parts.every((part) => part(inputs, outcome))
    }
    if ("but" in node) {
      const [base, less] = [inner(node.but[0]), inner(node.but[1], true)]
      return (inputs, outcome) => base(inputs, outcome) && !less(inputs, outcome)
    }
    const { same = [], direct = [], from = [], refs = [], branches = [] } = node.any
    let inputBits = 0n
    // Also where the relation was inlined into another one of its object.
    if (same.some((number) => relationNameOf(this.#pair.plans[side], number) === this.#user))
      inputBits |= this.#ownOf(space)
    for (const slot of direct) inputBits |= this.#direct(side, space, slot, edges, isExcluded)
    for (const [slot, target] of from) {
      const name = relationNameOf(this.#pair.plans[side], target)
      if (name !== undefined) inputBits |= this.#lead(side, space, slot, name, edges, isExcluded)
    }
    let outcomeBits = 0n
    for (const ref of refs) {
      const name = relationNameOf(this.#pair.plans[side], ref)
      if (name === undefined) continue
      edges.push({ to: name, isSameObject: true, isExcluded })
      outcomeBits |= space.outcomeBit(side, nameOf(name))
    }
    const parts = branches.map((child) => inner(child))
    return (inputs, outcome) =>
      (inputs & inputBits) !== 0n ||
      (outcome & outcomeBits) !== 0n ||
      parts.some((part) => part(inputs, outcome))
  }

  /** The input of a slot whose tuples name users. */
  #direct(side: ModelSide, space: TypeSpace, slot: number, edges: Edge[], isExcluded: boolean): bigint {
    const row = slotOf(this.#pair.plans[side], slot)
    if (row === undefined) return 0n
    const { subject } = row
    if (subject.includes("#")) return this.#lead(side, space, slot, subject, edges, isExcluded)
    if (subject !== this.#user && subject !== `${this.#user}:*`) return 0n
    let bits = 0n
    for (const letter of this.#lettersOf(row)) {
      const bit = space.input(letterKey(letter))
      if (!space.direct.some((each) => each.bits === bit)) {
        space.direct.push({ letter, bits: bit })
        this.#exclude(space, letter)
      }
      if (letter.counts.includes(side)) bits |= bit
    }
    return bits
  }

  /** A tuple has one condition, so its letters with other conditions are alternatives. */
  #exclude(space: TypeSpace, { relation, subject }: Letter): void {
    const all = space.direct.filter(
      ({ letter }) => letter.relation === relation && letter.subject === subject,
    )
    const bits = all.reduce((sum, each) => sum | each.bits, 0n)
    const at = space.alternatives.findIndex((each) => (each & bits) !== 0n)
    if (at >= 0) space.alternatives[at] = bits
    else if (all.length > 1) space.alternatives.push(bits)
  }

  /** The input of a slot whose tuples lead to objects on which the user may have the relation `target`. */
  #lead(
    side: ModelSide,
    space: TypeSpace,
    slot: number,
    target: string,
    edges: Edge[],
    isExcluded: boolean,
  ): bigint {
    const row = slotOf(this.#pair.plans[side], slot)
    if (row === undefined || !this.#names[side].has(target)) return 0n
    edges.push({ to: target, isSameObject: false, isExcluded })
    const to = this.#space(typeOf(target))
    const outcome = to.outcomeBit(side, nameOf(target))
    to.observed |= outcome
    let bits = 0n
    for (const letter of this.#lettersOf(row)) {
      if (!letter.counts.includes(side)) continue
      const key = letterKey(letter)
      const input = space.input(`${side} ${key} ${target}`)
      bits |= input
      const kept = this.#leads.get(`${space.type} ${key}`)
      const sets = kept?.sets ?? []
      if (kept === undefined) {
        const lead = { letter, from: space, to, sets }
        this.#leads.set(`${space.type} ${key}`, { lead, sets })
        to.leadsHere.push(lead)
      }
      if (!sets.some(([, bit]) => bit === input)) sets.push([outcome, input])
    }
    return bits
  }

  /** Under a condition that changed, a tuple may count in both models or in one of them. */
  #lettersOf({ relation, subject, condition }: NamedSlot): Letter[] {
    const letter = { relation, subject, condition, counts: sides }
    const change = condition === undefined ? undefined : this.#pair.changedConditions.get(condition)
    const letters: Letter[] = [letter]
    if (change === "narrower" || change === "other") letters.push({ ...letter, counts: [0] })
    if (change === "wider" || change === "other") letters.push({ ...letter, counts: [1] })
    return letters
  }
}

const letterKey = ({ relation, subject, condition, counts }: Letter): string =>
  `${relation} ${subject} ${condition ?? ""} ${counts.join("")}`

export const typeOf = (relation: string): string => relation.slice(0, relation.indexOf("#"))
export const nameOf = (relation: string): string => relation.slice(relation.indexOf("#") + 1)

/** Relations that depend on each other. */
interface Component {
  readonly members: readonly string[]
  readonly isCyclic: boolean
}

/** The order in which relations of one object are decided, and where exclusions are within recursions. */
function componentsOf(cone: ReadonlyMap<string, readonly Edge[]>): {
  readonly sameObject: readonly Component[]
  readonly isParadox: boolean
  readonly hasRecursiveExclusion: boolean
} {
  const sameObject = stronglyConnected(cone, ({ isSameObject }) => isSameObject)
  const all = stronglyConnected(cone, () => true)
  const within = ({ members }: Component, isMeant: (edge: Edge) => boolean): boolean =>
    members.some((name) => (cone.get(name) ?? []).some((edge) => members.includes(edge.to) && isMeant(edge)))
  return {
    sameObject,
    isParadox: sameObject.some((each) => within(each, (edge) => edge.isSameObject && edge.isExcluded)),
    // Also what stands beside an exclusion: on a cycle, its absence is decided by objects without end.
    hasRecursiveExclusion: all.some(
      (each) =>
        each.isCyclic &&
        each.members.some((name) => (cone.get(name) ?? []).some(({ isExcluded }) => isExcluded)),
    ),
  }
}

/** Tarjan's algorithm with a stack of its own; components come after those that they read. */
function stronglyConnected(
  cone: ReadonlyMap<string, readonly Edge[]>,
  isMeant: (edge: Edge) => boolean,
): Component[] {
  const found: Component[] = []
  const numbers = new Map<string, number>()
  const lows = new Map<string, number>()
  const open: string[] = []
  const isOpen = new Set<string>()
  const targets = (name: string) =>
    (cone.get(name) ?? []).filter((edge) => isMeant(edge) && cone.has(edge.to)).map(({ to }) => to)
  const enter = (name: string) => {
    numbers.set(name, numbers.size)
    lows.set(name, numbers.get(name) as number)
    open.push(name)
    isOpen.add(name)
    return { name, targets: targets(name), at: 0 }
  }
  for (const start of cone.keys()) {
    if (numbers.has(start)) continue
    const path = [enter(start)]
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.targets[top.at++]
      const { name } = top
      if (next !== undefined) {
        if (!numbers.has(next)) path.push(enter(next))
        else if (isOpen.has(next))
          lows.set(name, Math.min(lows.get(name) as number, numbers.get(next) as number))
        continue
      }
      path.pop()
      const below = path.at(-1)
      if (below !== undefined)
        lows.set(below.name, Math.min(lows.get(below.name) as number, lows.get(name) as number))
      if (lows.get(name) !== numbers.get(name)) continue
      const members = open.splice(open.indexOf(name))
      for (const each of members) isOpen.delete(each)
      found.push({ members, isCyclic: members.length > 1 || targets(name).includes(name) })
    }
  }
  return found
}
