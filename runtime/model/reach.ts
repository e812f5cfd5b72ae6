import type { ModelPlan, RelationNode, RelationPlans } from "../plan/authorization-model.ts"

/**
 * The relations that a kind of subject can have with suitable tuples: one byte per relation of the plan, 1 if it can. `subject` is `user` (one user,
 * also through a `user:*` tuple), `user:*` (the wildcard itself) or `group#member`, which also has its own relation on itself.
 */
export function relationsReaching(plans: RelationPlans, subject: string): Uint8Array {
  return Uint8Array.from(new Reach(plans, [subject]).solve(), (bits) => (bits[0] as number) & 1)
}

/** The column `reach` of every relation: the subjects of the plan's table that are not usersets. */
export function reachOfAll(plans: RelationPlans): number[][] {
  const kinds = plans.subjects.flatMap((subject, index) =>
    subject.includes("#") ? [] : [{ subject, index }],
  )
  const sets = new Reach(
    plans,
    kinds.map(({ subject }) => subject),
  ).solve()
  return sets.map((bits) => kinds.filter((_, at) => has(bits, at)).map(({ index }) => index))
}

/**
 * Whether any `subjectType` (or `subjectType#subjectRelation`, or with `"*"` the wildcard `subjectType:*`) can have `relation` on some `type`, for any
 * tuples. Also false for names that the model does not contain.
 */
export function canReach(
  model: ModelPlan,
  type: string,
  relation: string,
  subjectType: string,
  subjectRelation?: string,
): boolean {
  const plans = model.relations
  const index = plans.relations.findIndex((row) => row.type === type && row.relation === relation)
  if (index < 0) return false
  if (subjectRelation !== undefined && subjectRelation !== "*")
    return relationsReaching(plans, `${subjectType}#${subjectRelation}`)[index] === 1
  const kind = plans.subjects.indexOf(subjectRelation === undefined ? subjectType : `${subjectType}:*`)
  if (kind >= 0) return plans.relations[index]?.reach.includes(kind) === true
  // No restriction names this type, but one may name its wildcard.
  return subjectRelation === undefined && relationsReaching(plans, subjectType)[index] === 1
}

/** A set of kinds of subjects, by their number. */
type Bits = Uint32Array

function has(bits: Bits, at: number): boolean {
  return (((bits[at >> 5] as number) >>> (at & 31)) & 1) === 1
}

function add(bits: Bits, at: number): void {
  bits[at >> 5] = (bits[at >> 5] as number) | (1 << (at & 31))
}

function addAll(into: Bits, from: Bits | undefined): void {
  if (from === undefined) return
  for (let at = 0; at < into.length; at++) into[at] = (into[at] as number) | (from[at] as number)
}

/** Computes the least fixed point over all relations, for many kinds of subjects at once, by propagating changes to dependent relations. */
class Reach {
  readonly #plans: RelationPlans
  readonly #words: number
  /** Per subject of the table: the kinds that can match one of its tuples, and the relation to which it refers if it is a userset. */
  readonly #admitted: readonly Bits[]
  readonly #targets: readonly (number | undefined)[]
  /** Per relation: itself, if it is one of the kinds. */
  readonly #own = new Map<number, Bits>()
  readonly #reached: Bits[]

  /** Which kinds of users can have which relation, as bits: one bit for each kind that is asked about. */
  constructor(plans: RelationPlans, kinds: readonly string[]) {
    this.#plans = plans
    this.#words = (kinds.length + 31) >> 5
    const numbers = new Map(kinds.map((kind, at) => [kind, at]))
    this.#admitted = plans.subjects.map((subject) => {
      const bits = this.#empty()
      for (const kind of [subject, subject.endsWith(":*") ? subject.slice(0, -2) : subject]) {
        const at = numbers.get(kind)
        if (at !== undefined) add(bits, at)
      }
      return bits
    })
    const relations = new Map(
      plans.relations.map(({ type, relation }, index) => [`${type}#${relation}`, index]),
    )
    this.#targets = plans.subjects.map((subject) => relations.get(subject))
    for (const [name, index] of relations) {
      const at = numbers.get(name)
      if (at === undefined) continue
      const bits = this.#empty()
      add(bits, at)
      this.#own.set(index, bits)
    }
    this.#reached = plans.relations.map(() => this.#empty())
  }

  /** Computes the least fixed point with a work list. */
  solve(): readonly Bits[] {
    const dependents = this.#dependents()
    const waiting = this.#plans.relations.map((_, index) => index)
    const queued = new Uint8Array(waiting.length).fill(1)
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      queued[index] = 0
      const bits = this.#node(this.#plans.relations[index]?.plan ?? { any: {} })
      addAll(bits, this.#own.get(index))
      const before = this.#reached[index] as Bits
      if (bits.every((word, at) => word === before[at])) continue
      this.#reached[index] = bits
      for (const dependent of dependents[index] ?? []) {
        if (queued[dependent] === 1) continue
        queued[dependent] = 1
        waiting.push(dependent)
      }
    }
    return this.#reached
  }

  #empty(): Bits {
    return new Uint32Array(this.#words)
  }

  /** The bits of a node. What `but not` removes still counts, because single users may be left. */
  #node(node: RelationNode): Bits {
    if ("but" in node) return this.#node(node.but[0])
    if ("all" in node) {
      const bits = this.#empty().fill(0xffff_ffff)
      for (const child of node.all) {
        const other = this.#node(child)
        for (let at = 0; at < bits.length; at++) bits[at] = (bits[at] as number) & (other[at] as number)
      }
      return bits
    }
    const bits = this.#empty()
    const { same = [], direct = [], from = [], refs = [], branches = [] } = node.any
    for (const relation of same) addAll(bits, this.#own.get(relation))
    for (const slot of direct) {
      const subject = this.#plans.slots[slot]?.[1] ?? -1
      addAll(bits, this.#admitted[subject])
      addAll(bits, this.#reached[this.#targets[subject] ?? -1])
    }
    for (const [, relation] of from) addAll(bits, this.#reached[relation])
    for (const relation of refs) addAll(bits, this.#reached[relation])
    for (const branch of branches) addAll(bits, this.#node(branch))
    return bits
  }

  /** Per relation: the relations whose plans read it. */
  #dependents(): number[][] {
    const dependents: number[][] = this.#plans.relations.map(() => [])
    this.#plans.relations.forEach(({ plan }, index) => {
      const nodes = [plan]
      for (const node of nodes) {
        if ("but" in node) nodes.push(node.but[0])
        else if ("all" in node) nodes.push(...node.all)
        else {
          const { direct = [], from = [], refs = [], branches = [] } = node.any
          nodes.push(...branches)
          for (const slot of direct)
            dependents[this.#targets[this.#plans.slots[slot]?.[1] ?? -1] ?? -1]?.push(index)
          for (const [, relation] of from) dependents[relation]?.push(index)
          for (const relation of refs) dependents[relation]?.push(index)
        }
      }
    })
    return dependents
  }
}
