import type { CompiledCondition } from "../../expression/condition.ts"
import { relationsReaching } from "../../model/reach.ts"
import type { RelationNode, RelationPlans } from "../../plan/authorization-model.ts"

/** Is the subject in this slot of the object? With `wildcard`: is the wildcard of its type? */
export interface Test {
  readonly slot: number
  readonly wildcard: boolean
  readonly condition: CompiledCondition | undefined
}

/** For every id in this slot of the object: has the subject the relation `target` there? Used for usersets and `from`. */
export interface Hop {
  readonly slot: number
  readonly target: number
  readonly condition: CompiledCondition | undefined
}

export interface AnyPart {
  readonly op: "any"
  readonly number: number
  /** A relation inlined here is the subject's own relation: true when the object is the subject's. */
  readonly self: boolean
  /** The inlined relations of the same type. */
  readonly same: readonly number[]
  readonly tests: readonly Test[]
  readonly refs: readonly number[]
  readonly hops: readonly Hop[]
  readonly branches: readonly ProgramPart[]
}

export interface AllPart {
  readonly op: "all"
  readonly number: number
  readonly children: readonly ProgramPart[]
}

export interface ButPart {
  readonly op: "but"
  readonly number: number
  readonly base: ProgramPart
  readonly subtract: ProgramPart
}

/**
 * `number` identifies the part in the program: a relation's part has the relation's index; the parts inside it have numbers of their own.
 */
export type ProgramPart = AnyPart | AllPart | ButPart

/**
 * The backward steps from a userset or object in a slot: the positive ways in which a relation can hold. For a pure relation they are
 * exact. Otherwise they reach all nodes that may hold and some that do not, because they ignore subtractions, conditions and all but one
 * operand of an intersection.
 */
export interface BackHops {
  /** By plan slot: relations that hold when the subject (`wildcard`: its wildcard) is in the slot. */
  readonly seeds: readonly { readonly slot: number; readonly wildcard: boolean; readonly relation: number }[]
  /** By relation r: slots whose object has `relation` when r holds on the id in the slot. */
  readonly steps: readonly (readonly { readonly slot: number; readonly relation: number }[])[]
  /** By relation r: relations of the same object that hold when r holds. */
  readonly same: readonly (readonly number[] | undefined)[]
  /** Relations that hold on the subject's own object. */
  readonly selves: readonly number[]
}

/** The relation plans of a model for one kind of subject, without the parts that this kind can never reach. */
export class RelationProgram {
  /** `user`, `user:*` or `group#member`. */
  readonly kind: string
  /** Index of the subject's own relation for usersets, else -1. */
  readonly own: number
  /**
   * Per relation; undefined when this kind of subject cannot have it. The inner parts follow the relations, so that they can be evaluated
   * like a relation.
   */
  readonly parts: readonly (ProgramPart | undefined)[]
  /** Per part: unconditioned tuples and unions alone decide it, at every level. Then it is plain reachability. */
  readonly pure: readonly boolean[]
  /** Some test needs the wildcard of the subject's type. */
  readonly asksWildcard: boolean
  readonly #backHops = new Map<number, BackHops>()

  constructor(plans: RelationPlans, kind: string, conditions: ReadonlyMap<string, CompiledCondition>) {
    this.kind = kind
    this.own = plans.relations.findIndex(({ type, relation }) => `${type}#${relation}` === kind)
    const specializer = new Specializer(plans, kind, this.own, conditions)
    this.parts = specializer.parts()
    this.asksWildcard = specializer.asksWildcard
    this.pure = pureParts(this.parts)
  }

  /** The backward steps to the relations (or parts) that `target` depends on. */
  backHops(target: number): BackHops {
    const known = this.#backHops.get(target)
    if (known !== undefined) return known
    const made = this.#makeBackHops(target)
    this.#backHops.set(target, made)
    return made
  }

  #makeBackHops(target: number): BackHops {
    const region = new Set([target])
    const seeds: { slot: number; wildcard: boolean; relation: number }[] = []
    const steps: { slot: number; relation: number }[][] = this.parts.map(() => [])
    const same: number[][] = []
    const selves = new Set<number>()
    for (const relation of region) {
      if (relation === this.own) selves.add(relation)
      for (const part of supportsOf(this.parts[relation])) {
        for (const { slot, wildcard } of part.tests) seeds.push({ slot, wildcard, relation })
        for (const hop of part.hops) {
          region.add(hop.target)
          steps[hop.target]?.push({ slot: hop.slot, relation })
        }
        for (const ref of part.refs) {
          region.add(ref)
          same[ref] = [...(same[ref] ?? []), relation]
        }
        if (part.self) selves.add(relation)
      }
    }
    return { seeds, steps, same, selves: [...selves] }
  }
}

/** The unions of which at least one must hold when the part holds. */
function supportsOf(part: ProgramPart | undefined): AnyPart[] {
  if (part === undefined) return []
  if (part.op === "any") return [part, ...part.branches.flatMap(supportsOf)]
  return supportsOf(part.op === "but" ? part.base : part.children[0])
}

class Specializer {
  readonly #plans: RelationPlans
  readonly #kind: string
  readonly #own: number
  readonly #conditions: ReadonlyMap<string, CompiledCondition>
  readonly #reaching: (relation: number) => boolean
  readonly #targets: readonly number[]
  asksWildcard = false

  constructor(
    plans: RelationPlans,
    kind: string,
    own: number,
    conditions: ReadonlyMap<string, CompiledCondition>,
  ) {
    this.#plans = plans
    this.#kind = kind
    this.#own = own
    this.#conditions = conditions
    const column = own < 0 ? plans.subjects.indexOf(kind) : -1
    // The table has no column for usersets, and none for a type that occurs only as a wildcard.
    const computed = column < 0 ? relationsReaching(plans, kind) : undefined
    this.#reaching = (relation) =>
      computed === undefined
        ? plans.relations[relation]?.reach.includes(column) === true
        : computed[relation] === 1
    const indexOf = new Map(
      plans.relations.map(({ type, relation }, index) => [`${type}#${relation}`, index]),
    )
    this.#targets = plans.subjects.map((subject) => indexOf.get(subject) ?? -1)
  }

  parts(): (ProgramPart | undefined)[] {
    const parts: (ProgramPart | undefined)[] = this.#plans.relations.map(() => undefined)
    const inner: ProgramPart[] = []
    this.#plans.relations.forEach(({ plan }, index) => {
      const part = this.#reaching(index) ? this.#part(plan) : undefined
      if (part === undefined) return
      const found = innerParts(part)
      found.forEach((child, at) => {
        child.number = parts.length + inner.length + at
      })
      inner.push(...found)
      part.number = index
      parts[index] = part
    })
    return [...parts, ...inner]
  }

  /** Numbers are assigned later, when it is known which parts are kept. */
  #part(node: RelationNode): Unnumbered | undefined {
    if ("all" in node) {
      const children = node.all.map((child) => this.#part(child))
      const reachable = children.filter((child) => child !== undefined)
      return reachable.length === children.length ? { op: "all", number: -1, children: reachable } : undefined
    }
    if ("but" in node) {
      const base = this.#part(node.but[0])
      const subtract = this.#part(node.but[1])
      return base === undefined || subtract === undefined ? base : { op: "but", number: -1, base, subtract }
    }
    return this.#any(node.any)
  }

  #any({ same = [], direct = [], from = [], refs = [], branches = [] }: AnyNode): AnyPart | undefined {
    const tests: Test[] = []
    const hops: Hop[] = []
    for (const slot of direct) {
      const row = this.#plans.slots[slot]
      const subject = this.#plans.subjects[row?.[1] ?? -1]
      const condition = this.#condition(row?.[2] ?? -1)
      if (subject === this.#kind) tests.push({ slot, wildcard: false, condition })
      else if (subject === `${this.#kind}:*`) {
        tests.push({ slot, wildcard: true, condition })
        this.asksWildcard = true
      }
      const target = this.#targets[row?.[1] ?? -1] ?? -1
      if (target >= 0 && this.#reaching(target)) hops.push({ slot, target, condition })
    }
    for (const [slot, target] of from)
      if (this.#reaching(target))
        hops.push({ slot, target, condition: this.#condition(this.#plans.slots[slot]?.[2] ?? -1) })
    const part: AnyPart = {
      op: "any",
      number: -1,
      self: same.includes(this.#own),
      same,
      tests,
      refs: refs.filter((relation) => this.#reaching(relation)),
      hops,
      branches: branches.map((branch) => this.#part(branch)).filter((branch) => branch !== undefined),
    }
    const parts = part.tests.length + part.refs.length + part.hops.length + part.branches.length
    return parts === 0 && !part.self ? undefined : part
  }

  #condition(index: number): CompiledCondition | undefined {
    return index < 0 ? undefined : this.#conditions.get(this.#plans.conditions[index] ?? "")
  }
}

type Unnumbered = ProgramPart & { number: number }

/** The parts inside a part, at every level. */
export function innerParts(part: ProgramPart): Unnumbered[] {
  const found: ProgramPart[] = [part]
  for (const next of found) {
    if (next.op === "all") found.push(...next.children)
    else if (next.op === "but") found.push(next.base, next.subtract)
    else found.push(...next.branches)
  }
  return found.slice(1)
}

type AnyNode = Extract<RelationNode, { any: unknown }>["any"]

/** The greatest set of relations that are unions over unconditioned slots and lead only to each other. */
function pureParts(parts: readonly (ProgramPart | undefined)[]): boolean[] {
  const pure = parts.map(
    (part) =>
      part?.op === "any" &&
      part.refs.length === 0 &&
      part.branches.length === 0 &&
      part.tests.every((test) => test.condition === undefined) &&
      part.hops.every((hop) => hop.condition === undefined),
  )
  for (let changed = true; changed; ) {
    changed = false
    parts.forEach((part, index) => {
      if (!pure[index] || part?.op !== "any" || part.hops.every((hop) => pure[hop.target])) return
      pure[index] = false
      changed = true
    })
  }
  return pure
}
