import type { ModelPlan, RelationNode } from "../../runtime/plan/authorization-model.ts"

/**
 * Relations (`order#viewer`) that depend on another relation. `along`: a user who gains the other one gains this one. `against`: a user who
 * gains the other one loses this one. Both can apply.
 */
export interface DependantSets {
  readonly along: ReadonlySet<string>
  readonly against: ReadonlySet<string>
}

interface Use {
  readonly user: number
  /** Inside the right side of a `but not`. */
  readonly negated: boolean
}

/** The dependencies between relations of a model, including indirect ones and those through usersets in tuples. */
export class Dependants {
  readonly #model: ModelPlan
  #names: readonly string[] | undefined
  readonly #indexOf = new Map<string, number>()
  readonly #uses: Use[][] = []

  constructor(model: ModelPlan) {
    this.#model = model
  }

  /** The relations that depend on a relation. Includes the relation itself only if it is recursive. */
  of(relation: string): DependantSets {
    this.#names ??= this.#read()
    const names = this.#names
    const along = new Set<string>()
    const against = new Set<string>()
    const start = this.#indexOf.get(relation)
    const open: Use[] = start === undefined ? [] : [{ user: start, negated: false }]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const { user, negated } of this.#uses[at.user] ?? []) {
        const turned = at.negated !== negated
        const found = turned ? against : along
        const name = names[user] ?? ""
        if (found.has(name)) continue
        found.add(name)
        open.push({ user, negated: turned })
      }
    }
    return { along, against }
  }

  /** Indexes all relations, then notes for each which others use it. */
  #read(): string[] {
    const { relations } = this.#model.relations
    const names = relations.map(({ type, relation }) => `${type}#${relation}`)
    names.forEach((name, index) => {
      this.#indexOf.set(name, index)
      this.#uses.push([])
    })
    relations.forEach(({ plan }, user) => {
      this.#readNode(plan, { user, negated: false })
    })
    return names
  }

  /** `negated`: under an odd number of `but not`, where more users mean fewer. */
  #readNode(node: RelationNode, use: Use): void {
    if ("all" in node) for (const child of node.all) this.#readNode(child, use)
    else if ("but" in node) {
      this.#readNode(node.but[0], use)
      this.#readNode(node.but[1], { ...use, negated: !use.negated })
    } else {
      const { same = [], direct = [], from = [], refs = [], branches = [] } = node.any
      for (const relation of [...same, ...refs]) this.#add(relation, use)
      for (const slot of direct) this.#addSlot(slot, use)
      for (const [slot, relation] of from) {
        this.#addSlot(slot, use)
        this.#add(relation, use)
      }
      for (const child of branches) this.#readNode(child, use)
    }
  }

  /** Adds the relation whose tuples are read, and the relation of a userset that is their user. */
  #addSlot(slot: number, use: Use): void {
    const { slots, subjects } = this.#model.relations
    const [relation = -1, subject = -1] = slots[slot] ?? []
    // A relation does not depend on itself because of its own tuples.
    if (relation !== use.user) this.#add(relation, use)
    const userset = this.#indexOf.get(subjects[subject] ?? "")
    if (userset !== undefined) this.#add(userset, use)
  }

  #add(relation: number, use: Use): void {
    this.#uses[relation]?.push(use)
  }
}
