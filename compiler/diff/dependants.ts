import type { ModelPlan, RelationNode } from "../../runtime/plan/authorization-model.ts"

/** Relations (`order#viewer`) whose answers depend on another: `along`, who gets that gets this; `against`, who gets that loses this. Often both ways. */
export interface DependantSets {
  readonly along: ReadonlySet<string>
  readonly against: ReadonlySet<string>
}

interface Use {
  readonly user: number
  /** In what a `but not` takes away. */
  readonly negated: boolean
}

/** Which relations of a model depend on which, also through others and through usersets in tuples. */
export class Dependants {
  readonly #model: ModelPlan
  #names: readonly string[] | undefined
  readonly #indexOf = new Map<string, number>()
  readonly #uses: Use[][] = []

  constructor(model: ModelPlan) {
    this.#model = model
  }

  /** What depends on a relation, itself only where it is computed from itself. */
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

  /** The relation whose tuples are read, and that of a userset on their left. */
  #addSlot(slot: number, use: Use): void {
    const { slots, subjects } = this.#model.relations
    const [relation = -1, subject = -1] = slots[slot] ?? []
    // Its own tuples are no other relation.
    if (relation !== use.user) this.#add(relation, use)
    const userset = this.#indexOf.get(subjects[subject] ?? "")
    if (userset !== undefined) this.#add(userset, use)
  }

  #add(relation: number, use: Use): void {
    this.#uses[relation]?.push(use)
  }
}
