import type { CompiledCondition } from "../../expression/condition.ts"
import { type ConditionCase, jointTruths } from "../../expression/joint-truths.ts"
import type { Graph } from "../graph/graph.ts"

/** Conditions by number in a bit set; those from the last number on share its bit. */
const conditionBits = 31
/** Sets of conditions whose ways are found; of later ones nothing is known. */
const waysMax = 10_000

/** All ways in which what has these numbers can be true and false together. */
export interface ConditionWays {
  readonly numbers: readonly number[]
  readonly ways: readonly (readonly boolean[])[]
}

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
  /** By number: the condition, with the values that tuples and the context give it. */
  readonly #cases: ConditionCase[] = []
  /** By numbers that are decided together. */
  readonly #ways = new Map<string, readonly (readonly boolean[])[] | undefined>()

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

  /**
   * The ways in which what has these numbers can be true and false together, for each group that reads the same parameters. What does more than
   * compare parameters with known values is in no group: it may be true or false whatever the others are.
   */
  waysOf(numbers: readonly number[]): ConditionWays[] {
    const groups: { numbers: number[]; names: Set<string> }[] = []
    for (const number of numbers) {
      if (this.#waysOfGroup([number]) === undefined) continue
      const { condition, known } = this.#cases[number] as ConditionCase
      const made = { numbers: [number], names: new Set(condition.used.filter((name) => !(name in known))) }
      for (const other of groups.filter(({ names }) => [...names].some((name) => made.names.has(name)))) {
        made.numbers.unshift(...other.numbers)
        for (const name of other.names) made.names.add(name)
        groups.splice(groups.indexOf(other), 1)
      }
      groups.push(made)
    }
    return groups.flatMap(({ numbers: some }) => {
      const ways = this.#waysOfGroup(some)
      return ways === undefined ? [] : [{ numbers: some, ways }]
    })
  }

  #waysOfGroup(numbers: readonly number[]): readonly (readonly boolean[])[] | undefined {
    const key = numbers.join()
    const known = this.#ways.get(key)
    if (known !== undefined || this.#ways.has(key) || this.#ways.size >= waysMax) return known
    const cases = numbers.map((number) => this.#cases[number] as ConditionCase)
    const ways = jointTruths(cases)?.map(({ truths }) => truths)
    this.#ways.set(key, ways)
    return ways
  }

  #numberOf(
    condition: CompiledCondition,
    definition: number,
    stored: Readonly<Record<string, unknown>> | undefined,
  ): number {
    const { name, used } = condition
    const values = used.map((parameter) =>
      stored !== undefined && Object.hasOwn(stored, parameter) ? [stored[parameter]] : [],
    )
    const text = JSON.stringify([name, definition, values])
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#bits.length)
    this.#cases.push({ condition, known: { ...this.#context, ...stored } })
    let at = this.names.indexOf(name)
    if (at < 0) at = this.names.push(name) - 1
    return this.#bits.push(1 << Math.min(at, conditionBits - 1)) - 1
  }

  /** The bit of the condition's name, by the number of what decides a tuple. */
  bitOf(number: number): number {
    return this.#bits[number] as number
  }
}
