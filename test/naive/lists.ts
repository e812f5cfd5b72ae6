import type { TupleKey } from "../../runtime/check/ports.ts"
import type { UsersetTreeNode } from "../../runtime/check/questions.ts"
import type { AuthorizationModel, Userset } from "../../runtime/plan/authorization-model.ts"
import { error, isAllowed, type Judge, NaiveEvaluator, no, yes } from "./evaluator.ts"

/** A small world to ask lists of. */
export interface NaiveWorld {
  readonly model: AuthorizationModel
  readonly tuples: readonly TupleKey[]
  readonly objects: readonly string[]
  readonly judge: Judge
}

export interface NaiveUsers {
  readonly users: readonly string[]
  readonly excluded: readonly string[]
}

const typeOf = (name: string) => name.slice(0, name.indexOf(":"))

/** Objects of a type on which the relation holds, sorted; undefined when it can't be told of one. `values` are the user's. */
export function naiveObjects(
  values: ReadonlyMap<string, number>,
  type: string,
  relation: string,
): readonly string[] | undefined {
  const found: string[] = []
  for (const [node, value] of values) {
    const [object = "", own = ""] = node.split("#")
    if (typeOf(object) !== type || own !== relation) continue
    if (value === error) return undefined
    if (value === yes) found.push(object)
  }
  return found.sort()
}

/** Who has the relation, by asking everybody there is; undefined when it can't be told of one. */
export function naiveUsers(
  world: NaiveWorld,
  object: string,
  relation: string,
  type: string,
  filterRelation: string | undefined,
): NaiveUsers | undefined {
  const node = `${object}#${relation}`
  const valuesOf = (user: string) => {
    const naive = new NaiveEvaluator(world.model, world.tuples, world.objects, user, world.judge)
    const values = naive.solve()
    return { value: values.get(node) ?? no, named: () => naive.mentions(values).has(node) }
  }
  if (new NamedBehind(world, type, filterRelation).isUncertain(object, relation)) return undefined
  const wildcard = `${type}:*`
  const general = filterRelation === undefined ? valuesOf(wildcard).value : no
  if (general === error) return undefined
  const users = general === yes ? [wildcard] : []
  const excluded: string[] = []
  for (const user of everybody(world, type, filterRelation)) {
    const { value, named } = valuesOf(user)
    if (value === error) return undefined
    if (value === yes && (general !== yes || named())) users.push(user)
    if (value === no && general === yes) excluded.push(user)
  }
  return { users: users.sort(), excluded: excluded.sort() }
}

function everybody({ tuples, objects }: NaiveWorld, type: string, relation: string | undefined): Set<string> {
  const names = [...tuples.flatMap(({ user, object }) => [user.split("#")[0] ?? "", object]), ...objects]
  const own = names.filter((name) => typeOf(name) === type && !name.endsWith(":*"))
  return new Set(relation === undefined ? own : own.map((name) => `${name}#${relation}`))
}

/** Is somebody of a kind named behind a tuple that leads on but whose condition can't be told? */
class NamedBehind {
  readonly #world: NaiveWorld
  readonly #type: string
  readonly #relation: string | undefined
  readonly #possible = new Set<string>()

  constructor(world: NaiveWorld, type: string, relation: string | undefined) {
    this.#world = world
    this.#type = type
    this.#relation = relation
    for (let size = -1; size < this.#possible.size; ) {
      size = this.#possible.size
      for (const { type: host, relations = {} } of world.model.type_definitions)
        for (const [name, rewrite] of Object.entries(relations))
          if ((host === type && name === relation) || this.#canBe(host, name, rewrite))
            this.#possible.add(`${host}#${name}`)
    }
  }

  isUncertain(object: string, relation: string): boolean {
    const behind = new Set<string>()
    this.#walk([`${object}#${relation}`], false, behind)
    return this.#walk([...behind], true, new Set())
  }

  /** Could anybody of the kind have the relation by the model alone? */
  #canBe(type: string, relation: string, rewrite: Userset): boolean {
    if ("union" in rewrite) return rewrite.union.child.some((child) => this.#canBe(type, relation, child))
    if ("intersection" in rewrite)
      return rewrite.intersection.child.every((child) => this.#canBe(type, relation, child))
    if ("difference" in rewrite) return this.#canBe(type, relation, rewrite.difference.base)
    if ("computedUserset" in rewrite) return this.#possible.has(`${type}#${rewrite.computedUserset.relation}`)
    const tupleset = "this" in rewrite ? relation : rewrite.tupleToUserset.tupleset.relation
    const definition = this.#world.model.type_definitions.find((one) => one.type === type)
    const restrictions = definition?.metadata?.relations?.[tupleset]?.directly_related_user_types ?? []
    return restrictions.some((restriction) => {
      if (!("this" in rewrite))
        return (
          restriction.relation === undefined &&
          restriction.wildcard === undefined &&
          this.#possible.has(`${restriction.type}#${rewrite.tupleToUserset.computedUserset.relation}`)
        )
      if (
        restriction.relation !== undefined &&
        this.#possible.has(`${restriction.type}#${restriction.relation}`)
      )
        return true
      return restriction.type === this.#type && restriction.relation === this.#relation
    })
  }

  /**
   * Goes through all that may make up some nodes; true when somebody of the kind is named there. Unless `whole`, nothing that is taken away and no tuple whose condition is
   * not met; what stands behind one that can't be told is put into `behind`.
   */
  #walk(starts: readonly string[], whole: boolean, behind: Set<string>): boolean {
    const { model, tuples, judge } = this.#world
    const seen = new Set(starts)
    let named = false
    const lead = (tuple: TupleKey, next: string) => {
      const truth = tuple.condition === undefined ? yes : judge(tuple.condition.name, tuple.condition.context)
      const [at = "", own = ""] = next.split("#")
      if (!this.#possible.has(`${typeOf(at)}#${own}`) || (truth === no && !whole)) return
      if (truth === error) behind.add(next)
      seen.add(next)
    }
    for (const node of seen) {
      const [object = "", relation = ""] = node.split("#")
      const on = (own: string) =>
        tuples.filter((tuple) => tuple.object === object && tuple.relation === own && isAllowed(model, tuple))
      if (typeOf(object) === this.#type && relation === this.#relation) named = true
      const visit = (rewrite: Userset): void => {
        if (!this.#canBe(typeOf(object), relation, rewrite)) return
        if ("union" in rewrite) rewrite.union.child.forEach(visit)
        else if ("intersection" in rewrite) rewrite.intersection.child.forEach(visit)
        else if ("difference" in rewrite) {
          visit(rewrite.difference.base)
          if (whole) visit(rewrite.difference.subtract)
        } else if ("computedUserset" in rewrite) seen.add(`${object}#${rewrite.computedUserset.relation}`)
        else if ("this" in rewrite)
          for (const tuple of on(relation)) {
            const [user = "", own] = tuple.user.split("#")
            if (typeOf(user) === this.#type && own === this.#relation) named = true
            if (own !== undefined) lead(tuple, tuple.user)
          }
        else
          for (const tuple of on(rewrite.tupleToUserset.tupleset.relation))
            if (!tuple.user.includes("#") && !tuple.user.endsWith(":*"))
              lead(tuple, `${tuple.user}#${rewrite.tupleToUserset.computedUserset.relation}`)
      }
      const definition = model.type_definitions.find(({ type }) => type === typeOf(object))
      const rewrite = definition?.relations?.[relation]
      if (rewrite !== undefined) visit(rewrite)
    }
    return named
  }
}

/** One level of a relation, with users in order. */
export function naiveTree({ model, tuples }: NaiveWorld, object: string, relation: string): UsersetTreeNode {
  const name = `${object}#${relation}`
  const on = (own: string) =>
    tuples
      .filter((tuple) => tuple.object === object && tuple.relation === own && isAllowed(model, tuple))
      .map(({ user }) => user)
      .sort()
  const nodeOf = (rewrite: Userset): UsersetTreeNode => {
    if ("this" in rewrite) return { name, leaf: { users: { users: on(relation) } } }
    if ("computedUserset" in rewrite)
      return { name, leaf: { computed: { userset: `${object}#${rewrite.computedUserset.relation}` } } }
    if ("union" in rewrite) return { name, union: { nodes: rewrite.union.child.map(nodeOf) } }
    if ("intersection" in rewrite)
      return { name, intersection: { nodes: rewrite.intersection.child.map(nodeOf) } }
    if ("difference" in rewrite)
      return {
        name,
        difference: { base: nodeOf(rewrite.difference.base), subtract: nodeOf(rewrite.difference.subtract) },
      }
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    const parents = on(tupleset.relation).filter((user) => !user.includes("#") && !user.endsWith(":*"))
    const computed = parents.map((parent) => ({ userset: `${parent}#${computedUserset.relation}` }))
    return { name, leaf: { tupleToUserset: { tupleset: `${object}#${tupleset.relation}`, computed } } }
  }
  const definition = model.type_definitions.find(({ type }) => type === typeOf(object))
  return nodeOf(definition?.relations?.[relation] ?? { this: {} })
}
