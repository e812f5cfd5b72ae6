import type { TupleKey } from "../../runtime/check/ports.ts"
import type {
  AuthorizationModel,
  RelationReference,
  Userset,
} from "../../runtime/plan/authorization-model.ts"

/** Truth values in their order. */
export type Truth = 0 | 1 | 2
export const no: Truth = 0
export const error: Truth = 1
export const yes: Truth = 2

/** What a condition says under the context stored with its tuple. */
export type Judge = (condition: string, stored: Readonly<Record<string, unknown>> | undefined) => Truth

type World = Map<string, Truth>

/**
 * The semantics written down as plainly as possible, to judge the engine by: every (object, relation) of a small world gets a value by the
 * alternating fixpoint, for one user. Strings, recursion and repetition; nothing is shared with the engine.
 */
export class NaiveEvaluator {
  readonly #relations = new Map<string, Record<string, Userset>>()
  readonly #tuples = new Map<string, TupleKey[]>()
  readonly #objects: readonly string[]
  readonly #user: string
  readonly #judge: Judge
  #nodes: readonly string[] = []
  #positive: World = new Map()
  #negative: World = new Map()

  constructor(
    model: AuthorizationModel,
    tuples: readonly TupleKey[],
    objects: readonly string[],
    user: string,
    judge: Judge,
  ) {
    for (const { type, relations } of model.type_definitions) this.#relations.set(type, relations ?? {})
    for (const tuple of tuples.filter((candidate) => isAllowed(model, candidate))) {
      const node = `${tuple.object}#${tuple.relation}`
      this.#tuples.set(node, [...(this.#tuples.get(node) ?? []), tuple])
    }
    this.#objects = objects
    this.#user = user
    this.#judge = judge
  }

  /** The value of every `object#relation`, or only of those one of them depends on: the limit of the underestimates, so what is undefined is no. */
  solve(root?: string): World {
    this.#nodes = root === undefined ? this.#everything() : this.#below(root)
    let low = this.#all(no)
    for (;;) {
      const high = this.#least(low)
      const next = this.#least(high)
      if ([...next].every(([node, value]) => low.get(node) === value)) return next
      low = next
    }
  }

  /**
   * The nodes on which the user not only has the relation but is named for it: by a tuple that is no wildcard's, or by being that very node, on a branch that is true. `values` is what `solve` gave.
   */
  mentions(values: World): Set<string> {
    // What is negated is read from the overestimates, as in the round that gave the values.
    this.#positive = values
    this.#negative = this.#least(values)
    const [positive, negative] = [values, this.#negative]
    const found = new Set<string>()
    for (let size = -1; size < found.size; ) {
      size = found.size
      for (const [node, value] of values) {
        this.#positive = positive
        this.#negative = negative
        const [object = "", relation = ""] = node.split("#")
        if (value !== yes || found.has(node)) continue
        const rewrite = this.#relationsOf(object)[relation] as Userset
        if (node === this.#user || this.#mention(object, relation, rewrite, found)) found.add(node)
      }
    }
    return found
  }

  #mention(object: string, relation: string, rewrite: Userset, found: ReadonlySet<string>): boolean {
    if ("this" in rewrite)
      return this.#on(object, relation).some(
        (tuple) => this.#condition(tuple) === yes && (tuple.user === this.#user || found.has(tuple.user)),
      )
    if ("computedUserset" in rewrite) return found.has(`${object}#${rewrite.computedUserset.relation}`)
    if ("tupleToUserset" in rewrite) {
      const { tupleset, computedUserset } = rewrite.tupleToUserset
      return this.#on(object, tupleset.relation).some(
        (tuple) => this.#condition(tuple) === yes && found.has(`${tuple.user}#${computedUserset.relation}`),
      )
    }
    const some = (children: readonly Userset[]) =>
      children.some((child) => this.#mention(object, relation, child, found))
    if ("union" in rewrite) return some(rewrite.union.child)
    if (this.#rewrite(object, relation, rewrite, false) !== yes) return false
    return some("intersection" in rewrite ? rewrite.intersection.child : [rewrite.difference.base])
  }

  /** Is there a way of at least so many usersets and `from` in a row from a node? */
  leadsBeyond(root: string, hops: number): boolean {
    let level = new Set([root])
    for (let hop = 0; hop <= hops; hop++) {
      const next = new Set<string>()
      // Computed relations of the same object stay on the level.
      for (const node of level)
        for (const [other, step] of this.#dependencies(node)) (step === 0 ? level : next).add(other)
      if (hop === hops) return level.size > 0
      level = next
    }
    return false
  }

  #least(fixed: World): World {
    let current = this.#all(no)
    for (;;) {
      const next: World = new Map()
      for (const node of current.keys()) {
        this.#positive = current
        this.#negative = fixed
        next.set(node, this.#node(node))
      }
      if ([...next].every(([node, value]) => current.get(node) === value)) return next
      current = next
    }
  }

  #all(value: Truth): World {
    return new Map(this.#nodes.map((node) => [node, value]))
  }

  #everything(): string[] {
    return this.#objects.flatMap((object) =>
      Object.keys(this.#relationsOf(object)).map((relation) => `${object}#${relation}`),
    )
  }

  #below(root: string): string[] {
    const found = new Set([root])
    for (const node of found) for (const [other] of this.#dependencies(node)) found.add(other)
    return this.#everything().filter((node) => found.has(node))
  }

  #node(node: string): Truth {
    if (node === this.#user) return yes
    const [object = "", relation = ""] = node.split("#")
    return this.#rewrite(object, relation, this.#relationsOf(object)[relation] as Userset, false)
  }

  #value(node: string, negated: boolean): Truth {
    return (negated ? this.#negative : this.#positive).get(node) ?? no
  }

  #rewrite(object: string, relation: string, rewrite: Userset, negated: boolean): Truth {
    if ("this" in rewrite) return this.#direct(object, relation, negated)
    if ("computedUserset" in rewrite)
      return this.#value(`${object}#${rewrite.computedUserset.relation}`, negated)
    if ("union" in rewrite)
      return max(rewrite.union.child.map((child) => this.#rewrite(object, relation, child, negated)))
    if ("intersection" in rewrite)
      return min(rewrite.intersection.child.map((child) => this.#rewrite(object, relation, child, negated)))
    if ("difference" in rewrite) {
      const base = this.#rewrite(object, relation, rewrite.difference.base, negated)
      const subtract = this.#rewrite(object, relation, rewrite.difference.subtract, !negated)
      return min([base, (2 - subtract) as Truth])
    }
    const { tupleset, computedUserset } = rewrite.tupleToUserset
    return max(
      this.#on(object, tupleset.relation)
        .filter(({ user }) => !user.includes("#") && !user.endsWith(":*"))
        .map((tuple) =>
          min([this.#condition(tuple), this.#value(`${tuple.user}#${computedUserset.relation}`, negated)]),
        ),
    )
  }

  #direct(object: string, relation: string, negated: boolean): Truth {
    return max(
      this.#on(object, relation).map((tuple) => {
        const condition = this.#condition(tuple)
        if (tuple.user === this.#user) return condition
        const single = !this.#user.includes("#") && !this.#user.endsWith(":*")
        if (single && tuple.user === `${this.#user.split(":")[0]}:*`) return condition
        return tuple.user.includes("#") ? min([condition, this.#value(tuple.user, negated)]) : no
      }),
    )
  }

  #dependencies(node: string): [string, number][] {
    const [object = "", relation = ""] = node.split("#")
    const found: [string, number][] = []
    const visit = (rewrite: Userset): void => {
      if ("this" in rewrite)
        for (const { user } of this.#on(object, relation)) {
          if (user.includes("#")) found.push([user, 1])
        }
      else if ("computedUserset" in rewrite) found.push([`${object}#${rewrite.computedUserset.relation}`, 0])
      else if ("tupleToUserset" in rewrite)
        for (const { user } of this.#on(object, rewrite.tupleToUserset.tupleset.relation))
          found.push([`${user}#${rewrite.tupleToUserset.computedUserset.relation}`, 1])
      else if ("union" in rewrite) rewrite.union.child.forEach(visit)
      else if ("intersection" in rewrite) rewrite.intersection.child.forEach(visit)
      else {
        visit(rewrite.difference.base)
        visit(rewrite.difference.subtract)
      }
    }
    const rewrite = this.#relationsOf(object)[relation]
    if (rewrite !== undefined) visit(rewrite)
    return found
  }

  #condition({ condition }: TupleKey): Truth {
    return condition === undefined ? yes : this.#judge(condition.name, condition.context)
  }

  #on(object: string, relation: string): TupleKey[] {
    return this.#tuples.get(`${object}#${relation}`) ?? []
  }

  #relationsOf(object: string): Record<string, Userset> {
    return this.#relations.get(object.split(":")[0] ?? "") ?? {}
  }
}

/** Does some restriction of the relation admit exactly this kind of user under exactly this condition? */
export function isAllowed(
  model: AuthorizationModel,
  { user, relation, object, condition }: TupleKey,
): boolean {
  const definition = model.type_definitions.find(({ type }) => type === object.split(":")[0])
  const restrictions = definition?.metadata?.relations?.[relation]?.directly_related_user_types ?? []
  return restrictions.some(
    (restriction) => kindOf(restriction) === kindOfUser(user) && restriction.condition === condition?.name,
  )
}

function kindOf({ type, relation, wildcard }: RelationReference): string {
  return wildcard !== undefined ? `${type}:*` : relation === undefined ? type : `${type}#${relation}`
}

function kindOfUser(user: string): string {
  const [object = "", relation] = user.split("#")
  if (relation !== undefined) return `${object.split(":")[0]}#${relation}`
  return object.endsWith(":*") ? object : (object.split(":")[0] ?? "")
}

function max(values: readonly Truth[]): Truth {
  return Math.max(no, ...values) as Truth
}

function min(values: readonly Truth[]): Truth {
  return Math.min(yes, ...values) as Truth
}
