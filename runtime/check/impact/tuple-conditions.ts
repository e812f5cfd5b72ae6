import type { CompiledCondition } from "../../expression/condition.ts"
import type { Graph } from "../graph/graph.ts"

/** Conditions by number in a bit set; those from the last number on share its bit. */
const conditionBits = 31

/** A slot with its condition. Slots with keys of another parity define the condition differently. */
interface ConditionedSlot {
  readonly slot: number
  readonly key: number
  readonly condition: CompiledCondition | undefined
}

/**
 * The conditions of tuples under the given values. What decides an undecided tuple is its condition and the stored values that this reads: tuples
 * with the same ones have the same number, because they are true together, whatever the missing values are.
 */
export class TupleConditions {
  /** Names of undecided conditions. */
  readonly names: string[] = []
  readonly #graph: Graph
  readonly #context: Readonly<Record<string, unknown>> | undefined
  readonly #numbers = new Map<string, number>()
  /** By number: the bit of its condition's name. */
  readonly #bits: number[] = []

  constructor(graph: Graph, context: Readonly<Record<string, unknown>> | undefined) {
    this.#graph = graph
    this.#context = context
  }

  /** Whether a tuple of a slot counts; the number of what decides it when it is undecided. */
  judge(object: number, { slot, key, condition }: ConditionedSlot, subject: number): boolean | number {
    if (condition === undefined) return true
    const stored = this.#graph.context(object, slot, subject)
    // As the engine does: a condition grants only with all parameters that it reads.
    const outcome = condition.evaluate({ stored, request: this.#context }, "read")
    return typeof outcome === "boolean" ? outcome : this.#numberOf(condition, key & 1, stored)
  }

  #numberOf(
    { name, used }: CompiledCondition,
    definition: number,
    stored: Readonly<Record<string, unknown>> | undefined,
  ): number {
    const values = used.map((parameter) =>
      stored !== undefined && Object.hasOwn(stored, parameter) ? [stored[parameter]] : [],
    )
    const text = JSON.stringify([name, definition, values])
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#bits.length)
    let at = this.names.indexOf(name)
    if (at < 0) at = this.names.push(name) - 1
    return this.#bits.push(1 << Math.min(at, conditionBits - 1)) - 1
  }

  /** The bit of the condition's name, by the number of what decides a tuple. */
  bitOf(number: number): number {
    return this.#bits[number] as number
  }
}
