import { ExpressionError } from "./expression-error.ts"
import { type CallNode, childrenOf, type TreeNode } from "./syntax-tree.ts"
import { Duration, intMax, intMin, Timestamp, Uint, uintMax } from "./values.ts"

/** What a condition compares a parameter with. Between two of these values that are next to each other, it does not tell values apart. */
export interface ParameterLimits {
  /** `int`, `uint`, `double`, `bool`, `string`, `timestamp` or `duration`. */
  readonly type: string
  readonly values: readonly unknown[]
}

/** What is needed to read the limits of a condition. */
export interface LimitTerms {
  readonly tree: TreeNode
  readonly typeOf: (parameter: string) => string | undefined
  /** A part of the expression as a function of the values of the parameters. */
  readonly compile: (node: TreeNode) => (values: unknown[]) => unknown
}

const orders = new Set(["<", "<=", ">", ">="])
const ordered = new Set(["int", "uint", "double", "timestamp", "duration"])
const limited = new Set([...ordered, "bool", "string"])

/**
 * The limits of a condition whose truth depends only on how parameters compare with values that are known: comparisons of one parameter, joined
 * by logic.
 */
export class ConditionLimits {
  readonly #terms: LimitTerms
  readonly #compiled = new Map<TreeNode, (values: unknown[]) => unknown>()

  constructor(terms: LimitTerms) {
    this.#terms = terms
  }

  /** By missing parameter. `values` has the others, as an evaluation does. Undefined: the condition does more than compare. */
  read(missing: ReadonlySet<string>, values: unknown[]): Map<string, ParameterLimits> | undefined {
    const found = new Map<string, unknown[]>()
    try {
      if (!this.#walk(this.#terms.tree, { missing, values, found })) return undefined
    } catch (error) {
      if (error instanceof ExpressionError) return undefined
      throw error
    }
    const limits = new Map<string, ParameterLimits>()
    for (const [name, each] of found) limits.set(name, { type: this.#terms.typeOf(name) ?? "", values: each })
    return limits
  }

  /** False: a part is more than a comparison. */
  #walk(node: TreeNode, reading: LimitReading): boolean {
    if (!readsAny(node, reading.missing)) return true
    if (node.kind === "logic") return this.#walk(node.left, reading) && this.#walk(node.right, reading)
    if (node.kind === "conditional")
      return [node.condition, node.whenTrue, node.whenFalse].every((each) => this.#walk(each, reading))
    if (node.kind === "name")
      return this.#terms.typeOf(node.name) === "bool" && this.#add(node.name, [], reading)
    if (node.kind !== "call" || node.form !== "operator") return false
    const [first] = node.args
    return node.name === "!" && first !== undefined
      ? this.#walk(first, reading)
      : this.#comparison(node, reading)
  }

  #comparison({ name, args: [left, right] }: CallNode, reading: LimitReading): boolean {
    if (left === undefined || right === undefined) return false
    const isSwapped = left.kind !== "name" || !reading.missing.has(left.name)
    const [parameter, other] = isSwapped && name !== "in" ? [right, left] : [left, right]
    if (parameter.kind !== "name" || readsAny(other, reading.missing)) return false
    const type = this.#terms.typeOf(parameter.name) ?? ""
    if (!(orders.has(name) ? ordered : limited).has(type)) return false
    if (name === "in") {
      const list = this.#valueOf(other, reading)
      return Array.isArray(list) && this.#add(parameter.name, list, reading)
    }
    if (!orders.has(name) && name !== "==" && name !== "!=") return false
    return this.#add(parameter.name, [this.#valueOf(other, reading)], reading)
  }

  #valueOf(node: TreeNode, { values }: LimitReading): unknown {
    let compiled = this.#compiled.get(node)
    if (compiled === undefined) {
      compiled = this.#terms.compile(node)
      this.#compiled.set(node, compiled)
    }
    return compiled(values)
  }

  #add(name: string, values: readonly unknown[], { found }: LimitReading): boolean {
    const known = found.get(name) ?? []
    found.set(name, known)
    known.push(...values)
    return limited.has(this.#terms.typeOf(name) ?? "")
  }
}

interface LimitReading {
  readonly missing: ReadonlySet<string>
  readonly values: unknown[]
  readonly found: Map<string, unknown[]>
}

/** Whether an expression reads one of these parameters. A variable of a loop with the same name counts too, which only makes less known. */
function readsAny(node: TreeNode, names: ReadonlySet<string>): boolean {
  if (node.kind === "name" && names.has(node.name)) return true
  return childrenOf(node).some((child) => readsAny(child, names))
}

/**
 * Values of a parameter, at least one from each region that the limits divide its type into. They can be given as values of a context. Undefined:
 * the regions are not known.
 */
export function valuesOfRegions({ type, values }: ParameterLimits): unknown[] | undefined {
  if (type === "bool") return [true, false]
  if (type === "string") {
    let other = "other"
    while (values.includes(other)) other += "-"
    return [...new Set([...values.filter((each) => typeof each === "string"), other])]
  }
  if (type === "double") return doublesOf(values)
  const whole = wholeNumbersOf(type, values)
  return whole && stepsOf(type, whole)
}

/** Numbers between which whole numbers are not told apart: a fraction lies between the two next to it. */
function wholeNumbersOf(type: string, values: readonly unknown[]): bigint[] | undefined {
  const found = new Set<bigint>()
  for (const value of values) {
    if (typeof value === "bigint") found.add(value)
    else if (value instanceof Uint) found.add(value.value)
    else if (value instanceof Timestamp || value instanceof Duration) found.add(value.nanoseconds)
    else if (typeof value === "number" && Number.isFinite(value) && (type === "int" || type === "uint")) {
      found.add(BigInt(Math.floor(value)))
      found.add(BigInt(Math.ceil(value)))
    } else return undefined
  }
  return [...found].sort((a, b) => (a < b ? -1 : 1))
}

const second = 1_000_000_000n

/** The limits, and values below, between and above them; moments and durations a second apart, where there is room. */
function stepsOf(type: string, limits: readonly bigint[]): unknown[] {
  const isTime = type === "timestamp" || type === "duration"
  const near = isTime ? second : 1n
  const found = new Set<bigint>(limits.length === 0 ? [0n] : limits)
  limits.forEach((limit, at) => {
    const next = limits[at + 1]
    found.add(next === undefined || limit + near < next ? limit + near : limit + 1n)
    const last = limits[at - 1]
    if (last === undefined) found.add(limit - near).add(limit - 1n)
    if (next === undefined) found.add(limit + 1n)
  })
  return [...found].flatMap((value) => madeOf(type, value) ?? [])
}

/** Undefined when the type does not have the value. */
function madeOf(type: string, value: bigint): unknown {
  if (type === "int") return value < intMin || value > intMax ? undefined : value
  if (type === "uint") return value < 0n || value > uintMax ? undefined : value
  try {
    return type === "timestamp" ? new Timestamp(value) : new Duration(value)
  } catch (error) {
    if (error instanceof ExpressionError) return undefined
    throw error
  }
}

function doublesOf(values: readonly unknown[]): number[] | undefined {
  const found: number[] = []
  for (const value of values) {
    const number = value instanceof Uint ? value.value : value
    if (typeof number === "bigint" && BigInt(Number(number)) === number) found.push(Number(number))
    else if (typeof number === "number" && Number.isFinite(number)) found.push(number)
    else return undefined
  }
  const limits = [...new Set(found)].sort((a, b) => a - b)
  const [first = 0, last = 0] = [limits[0], limits.at(-1)]
  const between = limits.slice(1).map((limit, at) => (limits[at] as number) / 2 + limit / 2)
  const outside = [first - Math.max(1, Math.abs(first)), last + Math.max(1, Math.abs(last))]
  return [...new Set([...limits, ...between, ...outside.map(finite)])]
}

const finite = (value: number): number => Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value))
