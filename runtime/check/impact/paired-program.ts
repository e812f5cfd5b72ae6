import type { CompiledCondition } from "../../expression/condition.ts"
import { type ModelPair, pairOf, relationNameOf, slotOf } from "../../model/model-pair.ts"
import type { RelationNode } from "../../plan/authorization-model.ts"
import type { Graph } from "../graph/graph.ts"
import type { LoadedModel } from "../loaded-model.ts"

/** The old model is 0, the new one 1. */
export type ImpactSide = 0 | 1

/** Tuples of a slot whose subject is a user or everybody of a type. */
export interface DirectSlot {
  /** Number in the graph. */
  readonly slot: number
  /** Equal for both models, unless they define the slot's condition differently. */
  readonly key: number
  readonly wildcard: boolean
  readonly condition: CompiledCondition | undefined
}

/** Tuples of a slot that lead to another object: has the user `relation` there? */
export interface HopSlot {
  readonly slot: number
  readonly key: number
  readonly relation: number
  readonly condition: CompiledCondition | undefined
}

/** A relation's plan, or a part of it, in the numbers of the graph. `parts` are the operands of `all` and `but`, and the branches of `any`. */
export interface PairedPart {
  readonly op: "any" | "all" | "but"
  /** Unique among the parts of both models. */
  readonly number: number
  readonly side: ImpactSide
  /** It is the whole plan of a relation. */
  readonly isRoot: boolean
  /** The relation that it belongs to. */
  readonly relation: number
  /** Equal for parts that decide equally, if the relations that they read do. */
  readonly text: string
  readonly direct: readonly DirectSlot[]
  readonly hops: readonly HopSlot[]
  readonly refs: readonly number[]
  /** Of a union: relations of the same object whose sets (`object#relation`) have the part, because they were inlined here. */
  readonly same: readonly number[]
  readonly parts: readonly PairedPart[]
}

/** A relation of one of the models, or of both. */
export interface PairedRelation {
  readonly number: number
  readonly name: string
  readonly relation: string
  /** Number in the graph. */
  readonly type: number
  /** Its plans in both models; undefined in a model that does not have it. The same object when the change cannot concern it. */
  readonly sides: readonly [PairedPart | undefined, PairedPart | undefined]
  /** The models may decide it differently, because its plan or one that it reads differs. */
  readonly affected: boolean
  /** Where it is read: by hops through a slot, or on the same object (slot -1). */
  readonly readers: readonly { readonly slot: number; readonly relation: number }[]
}

/** Both models over one graph. */
export class PairedProgram {
  readonly relations: readonly PairedRelation[]
  /** All parts by number. */
  readonly parts: readonly PairedPart[]
  readonly pair: ModelPair

  constructor(graph: Graph, before: LoadedModel, after: LoadedModel) {
    this.pair = pairOf(before.plan, after.plan)
    const names = [
      ...new Set(
        [before, after].flatMap(({ plan }) =>
          plan.relations.relations.map((_, index) => relationNameOf(plan.relations, index) ?? ""),
        ),
      ),
    ].sort()
    const numbers = new Map(names.map((name, number) => [name, number]))
    const compiler = new PartCompiler(graph, this.pair, numbers)
    const [old, next] = [compiler.compile(before, 0), compiler.compile(after, 1)]
    this.parts = compiler.parts
    const readers = readersOf(this.parts, names.length)
    const differing = names.map(
      (name) => this.pair.affected.has(name) || old.get(name)?.text !== next.get(name)?.text,
    )
    // What reads a relation that only sets decide differently; the pair knows the others.
    const found = names.flatMap((_, number) => (differing[number] === true ? [number] : []))
    for (const number of found)
      for (const { relation } of readers[number] ?? []) {
        if (differing[relation] === true) continue
        differing[relation] = true
        found.push(relation)
      }
    this.relations = names.map((name, number) => {
      const affected = differing[number] === true
      const [type = "", relation = ""] = name.split("#")
      const first = old.get(name)
      return {
        ...{ number, name, relation, affected },
        type: graph.typeId(type),
        sides: [first, affected ? next.get(name) : first] as const,
        readers: readers[number] ?? [],
      }
    })
  }
}

function readersOf(parts: readonly PairedPart[], relations: number) {
  const readers: { slot: number; relation: number }[][] = Array.from({ length: relations }, () => [])
  const seen = new Set<string>()
  const add = (target: number, slot: number, relation: number) => {
    const key = `${target} ${slot} ${relation}`
    if (seen.has(key)) return
    seen.add(key)
    readers[target]?.push({ slot, relation })
  }
  for (const { relation, hops, refs } of parts) {
    for (const hop of hops) add(hop.relation, hop.slot, relation)
    for (const ref of refs) add(ref, -1, relation)
  }
  return readers
}

/** Compiles relation plans to parts. */
class PartCompiler {
  readonly parts: PairedPart[] = []
  readonly #graph: Graph
  readonly #pair: ModelPair
  readonly #numbers: ReadonlyMap<string, number>

  constructor(graph: Graph, pair: ModelPair, numbers: ReadonlyMap<string, number>) {
    this.#graph = graph
    this.#pair = pair
    this.#numbers = numbers
  }

  /** The plans of a model, by the names of their relations. */
  compile(model: LoadedModel, side: ImpactSide): Map<string, PairedPart> {
    const { relations } = model.plan.relations
    const { slots } = model.inGraph(this.#graph)
    const found = new Map<string, PairedPart>()
    relations.forEach(({ plan }, index) => {
      const name = relationNameOf(model.plan.relations, index) ?? ""
      const relation = this.#numbers.get(name) as number
      found.set(name, this.#part(plan, { model, side, slots, relation }, true))
    })
    return found
  }

  #part(node: RelationNode, place: PlanPlace, isRoot: boolean): PairedPart {
    const { side } = place
    const inner = (nodes: readonly RelationNode[]) => nodes.map((each) => this.#part(each, place, false))
    if ("but" in node || "all" in node) {
      const op = "but" in node ? "but" : "all"
      const parts = inner("but" in node ? node.but : node.all)
      const texts = parts.map(({ text }) => text)
      const text = `${op}(${(op === "all" ? texts.sort() : texts).join()})`
      return this.#add({ op, side, isRoot, text, direct: [], hops: [], refs: [], same: [], parts }, place)
    }
    const { same: inlined = [], direct: slots = [], from = [], refs = [], branches = [] } = node.any
    const direct: DirectSlot[] = []
    const hops: HopSlot[] = []
    for (const slot of slots) this.#direct(slot, place, direct, hops)
    for (const [slot, target] of from)
      hops.push({ ...this.#slot(slot, place), relation: this.#number(target, place) })
    const numbers = refs.map((ref) => this.#number(ref, place))
    const same = inlined.map((relation) => this.#number(relation, place))
    const parts = inner(branches)
    const text = `any(${[
      ...direct.map(({ key }) => `d${key}`),
      ...hops.map(({ key, relation }) => `h${key} ${relation}`),
      ...numbers.map((number) => `r${number}`),
      ...same.map((number) => `s${number}`),
      ...parts.map((part) => part.text),
    ]
      .sort()
      .join()})`
    return this.#add({ op: "any", side, isRoot, text, direct, hops, refs: numbers, same, parts }, place)
  }

  #add(part: Omit<PairedPart, "number" | "relation">, { relation }: PlanPlace): PairedPart {
    const made = { ...part, relation, number: this.parts.length }
    this.parts.push(made)
    return made
  }

  #direct(planSlot: number, place: PlanPlace, direct: DirectSlot[], hops: HopSlot[]): void {
    const { subject = "" } = slotOf(place.model.plan.relations, planSlot) ?? {}
    const slot = this.#slot(planSlot, place)
    const target = this.#numbers.get(subject)
    if (!subject.includes("#")) direct.push({ ...slot, wildcard: subject.endsWith(":*") })
    else if (
      target !== undefined &&
      place.model.types.get(subject.split("#")[0] ?? "")?.has(subject.split("#")[1] ?? "")
    )
      hops.push({ ...slot, relation: target })
  }

  #slot(planSlot: number, { model, side, slots }: PlanPlace) {
    const name = slotOf(model.plan.relations, planSlot)?.condition
    const slot = slots[planSlot] as number
    const differs = name !== undefined && this.#pair.changedConditions.has(name)
    return {
      slot,
      key: 2 * slot + (differs ? side : 0),
      condition: name === undefined ? undefined : model.conditions.get(name),
    }
  }

  #number(index: number, { model }: PlanPlace): number {
    return this.#numbers.get(relationNameOf(model.plan.relations, index) ?? "") as number
  }
}

interface PlanPlace {
  readonly model: LoadedModel
  readonly side: ImpactSide
  readonly slots: Int32Array
  readonly relation: number
}
