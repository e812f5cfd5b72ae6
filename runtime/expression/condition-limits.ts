import { ExpressionError } from "./expression-error.ts"
import { parseCidr } from "./ip-address.ts"
import { type CallNode, childrenOf, type NameNode, type TreeNode } from "./syntax-tree.ts"

/** What a condition compares a parameter with. Between two of these values that are next to each other, it does not tell values apart. */
export interface ParameterLimits {
  /** `int`, `uint`, `double`, `bool`, `string`, `timestamp`, `duration` or `ipaddress`. */
  readonly type: string
  /** Values of the type (for numbers, also of other types of numbers); for addresses also ranges (`AddressRange`). */
  readonly values: readonly unknown[]
  /** Whether it is less or greater than another value; otherwise it is only equal to some. */
  readonly isOrdered: boolean
  /** Other parameters of the type that it is compared with. */
  readonly others: readonly string[]
}

/** Addresses of one version: the first one, and the first one after them. */
export class AddressRange {
  readonly version: 4 | 6
  readonly first: bigint
  readonly end: bigint

  constructor(version: 4 | 6, first: bigint, end: bigint) {
    this.version = version
    this.first = first
    this.end = end
  }
}

/** What is needed to read the limits of a condition. */
export interface LimitTerms {
  readonly tree: TreeNode
  readonly typeOf: (parameter: string) => string | undefined
  /** A part of the expression as a function of the values of the parameters. */
  readonly compile: (node: TreeNode) => (values: unknown[]) => unknown
}

const orders = new Set(["<", "<=", ">", ">="])
const ordered = new Set(["int", "uint", "double", "timestamp", "duration", "string"])
const limited = new Set([...ordered, "bool", "ipaddress"])

interface FoundLimits {
  readonly values: unknown[]
  readonly others: Set<string>
  isOrdered: boolean
}

/**
 * The limits of a condition whose truth depends only on how parameters compare with values that are known: comparisons of one parameter
 * with a known value or with another parameter of its type, and ranges of addresses, joined by logic.
 */
export class ConditionLimits {
  readonly #terms: LimitTerms
  readonly #compiled = new Map<TreeNode, (values: unknown[]) => unknown>()

  constructor(terms: LimitTerms) {
    this.#terms = terms
  }

  /** By missing parameter. `values` has the others, as an evaluation does. Undefined: the condition does more than compare. */
  read(missing: ReadonlySet<string>, values: unknown[]): Map<string, ParameterLimits> | undefined {
    const found = new Map<string, FoundLimits>()
    try {
      if (!this.#walk(this.#terms.tree, { missing, values, found })) return undefined
    } catch (error) {
      if (error instanceof ExpressionError) return undefined
      throw error
    }
    const limits = new Map<string, ParameterLimits>()
    for (const [name, { values: own, isOrdered, others }] of found)
      limits.set(name, {
        ...{ type: this.#terms.typeOf(name) ?? "", values: own },
        ...{ isOrdered, others: [...others] },
      })
    return limits
  }

  /** False: a part is more than a comparison. */
  #walk(node: TreeNode, reading: LimitReading): boolean {
    if (!readsAny(node, reading.missing)) return true
    if (node.kind === "logic") return this.#walk(node.left, reading) && this.#walk(node.right, reading)
    if (node.kind === "conditional")
      return [node.condition, node.whenTrue, node.whenFalse].every((each) => this.#walk(each, reading))
    if (node.kind === "name")
      return this.#terms.typeOf(node.name) === "bool" && this.#add(node.name, [], reading) !== undefined
    if (node.kind === "call" && node.form === "method" && node.name === "in_cidr")
      return this.#range(node, reading)
    if (node.kind !== "call" || node.form !== "operator") return false
    const [first] = node.args
    return node.name === "!" && first !== undefined
      ? this.#walk(first, reading)
      : this.#comparison(node, reading)
  }

  #comparison({ name, args: [left, right] }: CallNode, reading: LimitReading): boolean {
    if (left === undefined || right === undefined) return false
    const isOrder = orders.has(name)
    if (isMissing(left, reading) && isMissing(right, reading)) return this.#pair(name, left, right, reading)
    const isSwapped = !isMissing(left, reading)
    const [parameter, other] = isSwapped && name !== "in" ? [right, left] : [left, right]
    if (!isMissing(parameter, reading) || readsAny(other, reading.missing)) return false
    const type = this.#terms.typeOf(parameter.name) ?? ""
    if (!(isOrder ? ordered : limited).has(type)) return false
    if (name === "in") {
      const list = this.#valueOf(other, reading)
      return Array.isArray(list) && this.#add(parameter.name, list, reading) !== undefined
    }
    if (!isOrder && name !== "==" && name !== "!=") return false
    const limits = this.#add(parameter.name, [this.#valueOf(other, reading)], reading)
    if (limits !== undefined && isOrder) limits.isOrdered = true
    return limits !== undefined
  }

  /** Two parameters that are not known: what counts is which one is greater. */
  #pair(sign: string, left: NameNode, right: NameNode, reading: LimitReading): boolean {
    const type = this.#terms.typeOf(left.name) ?? ""
    const isOrder = orders.has(sign)
    if (this.#terms.typeOf(right.name) !== type || !(isOrder ? ordered : limited).has(type)) return false
    if (!isOrder && sign !== "==" && sign !== "!=") return false
    for (const [one, other] of [
      [left.name, right.name],
      [right.name, left.name],
    ] as const) {
      const limits = this.#add(one, [], reading)
      if (limits === undefined) return false
      if (isOrder) limits.isOrdered = true
      limits.others.add(other)
    }
    return true
  }

  /** `address.in_cidr("10.0.0.0/8")`, with a known range. */
  #range({ target, args: [range] }: CallNode, reading: LimitReading): boolean {
    if (target === undefined || range === undefined || !isMissing(target, reading)) return false
    if (readsAny(range, reading.missing) || this.#terms.typeOf(target.name) !== "ipaddress") return false
    const text = this.#valueOf(range, reading)
    const cidr = typeof text === "string" ? parseCidr(text) : undefined
    // An error is neither true nor false.
    if (cidr === undefined) return false
    const { version, bits, shift } = cidr
    const value = new AddressRange(version, bits << shift, (bits + 1n) << shift)
    return this.#add(target.name, [value], reading) !== undefined
  }

  #valueOf(node: TreeNode, { values }: LimitReading): unknown {
    let compiled = this.#compiled.get(node)
    if (compiled === undefined) {
      compiled = this.#terms.compile(node)
      this.#compiled.set(node, compiled)
    }
    return compiled(values)
  }

  /** Undefined: the type has no known regions. */
  #add(name: string, values: readonly unknown[], { found }: LimitReading): FoundLimits | undefined {
    if (!limited.has(this.#terms.typeOf(name) ?? "")) return undefined
    const known = found.get(name) ?? { values: [], others: new Set<string>(), isOrdered: false }
    found.set(name, known)
    known.values.push(...values)
    return known
  }
}

interface LimitReading {
  readonly missing: ReadonlySet<string>
  readonly values: unknown[]
  readonly found: Map<string, FoundLimits>
}

function isMissing(node: TreeNode, { missing }: LimitReading): node is NameNode {
  return node.kind === "name" && missing.has(node.name)
}

/** Whether an expression reads one of these parameters. A variable of a loop with the same name counts too, which only makes less known. */
function readsAny(node: TreeNode, names: ReadonlySet<string>): boolean {
  if (node.kind === "name" && names.has(node.name)) return true
  return childrenOf(node).some((child) => readsAny(child, names))
}
