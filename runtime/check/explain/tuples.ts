import type { CompiledCondition } from "../../expression/condition.ts"
import { type EngineQuestion, isTrue } from "../evaluate/question.ts"
import type { TupleSlot } from "../graph/slots.ts"
import type { ConditionSeen, TupleKey } from "../ports.ts"

/** A place of the plan that a tuple can be in. */
export interface TuplePlace {
  /** Slot of the plan. */
  readonly slot: number
  readonly condition: CompiledCondition | undefined
}

/** A tuple that counted, in the form of explanations. */
export interface ShownTuple {
  readonly tuple: TupleKey
  readonly contextual?: true | undefined
  readonly condition?: ConditionSeen | undefined
}

export function slotOf(question: EngineQuestion, planSlot: number): TupleSlot {
  return question.graph.slots[question.slots[planSlot] as number] as TupleSlot
}

/** The tuple in a slot, with its stored context. */
export function tupleIn(question: EngineQuestion, planSlot: number, object: number, other: number): TupleKey {
  const slot = slotOf(question, planSlot)
  const context = slot.condition === "" ? undefined : question.storedContext(object, slot.id, other)
  return {
    user: userOf(question, slot, other),
    relation: slot.relation,
    object: question.nameOf(object),
    ...(slot.condition === ""
      ? {}
      : { condition: { name: slot.condition, ...(context === undefined ? {} : { context }) } }),
  }
}

function userOf(question: EngineQuestion, { subjectRelation }: TupleSlot, other: number): string {
  const userset = subjectRelation === "" || subjectRelation === "*" ? "" : `#${subjectRelation}`
  return `${question.nameOf(other)}${userset}`
}

export function shown(
  question: EngineQuestion,
  place: TuplePlace,
  object: number,
  other: number,
): ShownTuple {
  const slot = slotOf(question, place.slot)
  const contextual = question.brings(object, slot.id, other)
  return {
    tuple: tupleIn(question, place.slot, object, other),
    ...(contextual ? { contextual } : {}),
    ...(place.condition === undefined
      ? {}
      : { condition: seen(question, place.condition, question.storedContext(object, slot.id, other)) }),
  }
}

/** The outcome of a condition for a tuple with this stored context, and the values it used. */
export function seen(
  question: EngineQuestion,
  condition: CompiledCondition,
  stored: Readonly<Record<string, unknown>> | undefined,
): ConditionSeen {
  const values: Record<string, unknown> = {}
  for (const name of condition.parameters) {
    const given = [stored, question.context].find((from) => from !== undefined && Object.hasOwn(from, name))
    if (given !== undefined) values[name] = plain(given[name])
  }
  const outcome = question.judge(condition, stored)
  const { name } = condition
  if (typeof outcome === "boolean") return { name, outcome: outcome ? "true" : "false", values }
  if ("missing" in outcome)
    return { name, outcome: "missing_context", values, missing_context: [...outcome.missing].sort() }
  return { name, outcome: "error", values, error: outcome.error }
}

/** Contexts are JSON; a caller in the same process may pass integers that JSON cannot express. */
function plain(value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value
}

/** Whether the tuple exists and its condition holds. */
export function counts(question: EngineQuestion, place: TuplePlace, object: number, other: number): boolean {
  const slot = question.slots[place.slot] as number
  if (question.has(object, slot, other) !== isTrue) return false
  return place.condition === undefined || question.edge(object, slot, other, place.condition) === isTrue
}

/** Whether a hop over this slot follows usersets; otherwise it follows a `from`. */
export function isUserset(question: EngineQuestion, planSlot: number): boolean {
  return slotOf(question, planSlot).subjectRelation !== ""
}
