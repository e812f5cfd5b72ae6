import { checkContext } from "../../expression/condition.ts"
import { none } from "../graph/adjacency.ts"
import type { Graph } from "../graph/graph.ts"
import type { TupleSlot } from "../graph/slots.ts"
import type { LoadedModel } from "../loaded-model.ts"

/** Ids between two yields. */
const idsAtOnce = 4_096

/**
 * Stored tuples of one shape that the models treat differently. `ignored`: the new model does not allow them, so they have no effect.
 * `counted`: the old one did not. `invalid`: the context stored with their condition does not fit its parameters any more.
 */
export interface TupleShapeChange {
  readonly becomes: "ignored" | "counted" | "invalid"
  readonly tuples: number
  /** `user`, `user:*` or `group#member`. */
  readonly user: string
  readonly relation: string
  /** The type of the objects. */
  readonly type: string
  readonly condition?: string | undefined
}

/** Counts the stored tuples that only one of two models allows. Yields now and then. */
export function* tupleShapeChanges(
  graph: Graph,
  before: LoadedModel,
  after: LoadedModel,
  changedConditions: ReadonlyMap<string, unknown>,
): Generator<void, TupleShapeChange[]> {
  const changed = changedSlots(graph, before, after, changedConditions)
  const next = slotsOf(after, graph)
  const ignored: number[] = []
  const invalid: number[] = []
  for (let id = 0; id < graph.names.idsEnd; id++) {
    if (id % idsAtOnce === 0) yield
    graph.forward.eachSlot(id, (slot, value) => {
      const change = changed.get(slot)
      if (change === "allowed") ignored[slot] = (ignored[slot] ?? 0) + graph.forward.length(value)
      else if (change === "condition") invalid[slot] = (invalid[slot] ?? 0) + misfits(graph, after, id, slot)
    })
  }
  const found = [...graph.slots].flatMap((slot) => [
    ...changeOf(slot, ignored[slot.id] ?? 0, next.has(slot.id) ? "counted" : "ignored"),
    ...changeOf(slot, invalid[slot.id] ?? 0, "invalid"),
  ])
  return found.sort((a, b) => b.tuples - a.tuples)
}

/** The slots that only one of two models allows, and those whose condition they define differently. */
export function changedSlots(
  graph: Graph,
  before: LoadedModel,
  after: LoadedModel,
  changedConditions: ReadonlyMap<string, unknown>,
): ReadonlyMap<number, "allowed" | "condition"> {
  const [old, next] = [slotsOf(before, graph), slotsOf(after, graph)]
  const found = new Map<number, "allowed" | "condition">()
  for (const slot of new Set([...old, ...next])) {
    const { condition } = graph.slots[slot] as TupleSlot
    if (old.has(slot) !== next.has(slot)) found.set(slot, "allowed")
    else if (changedConditions.has(condition)) found.set(slot, "condition")
  }
  return found
}

function slotsOf(model: LoadedModel, graph: Graph): Set<number> {
  return new Set(model.inGraph(graph).slots)
}

function changeOf(slot: TupleSlot, tuples: number, becomes: TupleShapeChange["becomes"]): TupleShapeChange[] {
  if (tuples === 0) return []
  const { subjectType, subjectRelation, relation, objectType, condition } = slot
  const user =
    subjectRelation === ""
      ? subjectType
      : subjectRelation === "*"
        ? `${subjectType}:*`
        : `${subjectType}#${subjectRelation}`
  return [
    {
      ...{ becomes, tuples, user, relation, type: objectType },
      ...(condition === "" ? {} : { condition }),
    },
  ]
}

/** Tuples of an object in a slot whose stored context does not fit the parameters of the condition. */
function misfits(graph: Graph, model: LoadedModel, object: number, slot: number): number {
  const definition = model.plan.model.conditions?.[graph.slots[slot]?.condition ?? ""]
  const value = graph.forward.find(object, slot)
  if (definition === undefined || value === none) return 0
  const others = value >= 0 ? [value] : Array.from(stretchOf(graph, value))
  return others.filter((other) => {
    const context = graph.context(object, slot, other)
    return context !== undefined && checkContext(definition, context) !== undefined
  }).length
}

function stretchOf({ forward }: Graph, value: number): Int32Array {
  const { array, start, end } = forward.stretch(value)
  return array.subarray(start, end)
}
