import { adapterFor, adaptRawInt } from "./adapt.ts"
import { type CelClosure, conditional, logic, strict } from "./closures.ts"
import type { Environment } from "./environment.ts"
import { ExpressionError } from "./expression-error.ts"
import { functionOf, impureFunctions } from "./functions.ts"
import { compareWithConstant, intArithmetic, intComparison } from "./int-operators.ts"
import { runLoop } from "./loops.ts"
import { costMaxDefault, metered } from "./meter.ts"
import { fieldReader, methodCaller, readNamedField } from "./object-access.ts"
import { compileRegex } from "./regex.ts"
import {
  type CallNode,
  type LiteralNode,
  type LoopNode,
  type NameNode,
  type SelectNode,
  type TreeNode,
  weightOf,
} from "./syntax-tree.ts"
import type { CelTypeTree } from "./types.ts"
import { CelMap, TypeValue } from "./values.ts"

/** Makes the closure that reads a variable. `raw` allows an int to be a number if the effect is the same. */
export type VariableReader = (name: string, type: CelTypeTree, raw: boolean) => CelClosure

export interface TreeCompilerOptions {
  readonly environment: Environment
  readonly readVariable: VariableReader
  /** Variables may be unknown. An evaluation then looks at all parts, to find every name on which the outcome depends. This is slower. */
  readonly isPartial: boolean
}

/** Turns a checked tree into closures. */
export class TreeCompiler {
  /** How many slots for loop variables a frame needs. */
  slots = 0
  private readonly options: TreeCompilerOptions
  private readonly scopes: { readonly name: string; readonly slot: number }[] = []

  constructor(options: TreeCompilerOptions) {
    this.options = options
  }

  /** A node as a closure. `raw`: the caller takes whole numbers as they are, so they need not become bigint. */
  compile(node: TreeNode, raw = false): CelClosure {
    switch (node.kind) {
      case "literal": {
        const value = node.value
        return () => value
      }
      case "name":
        return this.name(node, raw)
      case "select":
        return this.select(node, raw)
      case "call":
        return this.call(node, raw)
      case "logic":
        return logic(this.compile(node.left), this.compile(node.right), node.operator === "||")
      case "conditional":
        return conditional(
          this.compile(node.condition),
          this.compile(node.whenTrue),
          this.compile(node.whenFalse),
        )
      case "list": {
        const constant = literalsOf(node.elements)
        if (constant !== undefined) return () => constant
        const elements = node.elements.map((element) => this.compile(element))
        return this.strict(elements, (...values) => values)
      }
      case "map": {
        const parts = node.entries.flatMap(({ key, value }) => [this.compile(key), this.compile(value)])
        return this.strict(parts, mapOfParts)
      }
      case "loop":
        return this.loop(node)
    }
  }

  private strict(parts: readonly CelClosure[], apply: (...values: unknown[]) => unknown): CelClosure {
    return strict(parts, apply, this.options.isPartial)
  }

  private name(node: NameNode, raw: boolean): CelClosure {
    const scope = node.rooted ? undefined : this.scopes.findLast((variable) => variable.name === node.name)
    if (scope === undefined) return this.meaning(node, raw) ?? failing(`unknown name \`${node.name}\``)
    const { slot } = scope
    return (frame) => frame.locals[slot]
  }

  /** The closure for a name or chain of names with a meaning of its own. */
  private meaning({ meaning, type }: NameNode | SelectNode, raw: boolean): CelClosure | undefined {
    if (meaning?.kind === "variable") return this.options.readVariable(meaning.name, type, raw)
    if (meaning === undefined) return undefined
    const named = new TypeValue(meaning.name)
    return () => named
  }

  /** Reads a field. With `test` it says whether the field exists. */
  private select(node: SelectNode, raw: boolean): CelClosure {
    const named = this.meaning(node, raw)
    if (named !== undefined) return named
    const operand = this.compile(node.operand)
    const object = this.options.environment.objects.get(node.operand.type.name)
    const read = fieldReader(node.field, object, node.test)
    if (node.test) {
      const isThere: typeof read = this.options.environment.nullHasNothing
        ? (value) => value !== null && read(value)
        : read
      return this.strict([operand], isThere)
    }
    const adapt = object === undefined ? undefined : raw ? adaptRawInt : adapterFor(node.type)
    if (adapt === undefined) return this.strict([operand], read)
    return this.strict([operand], (value) => adapt(read(value)))
  }

  /** A method of an object, a function with its own closure, or a function of the library. */
  private call(node: CallNode, raw: boolean): CelClosure {
    const object =
      node.target === undefined ? undefined : this.options.environment.objects.get(node.target.type.name)
    const method = object?.methods.get(node.name)
    if (method !== undefined && node.target !== undefined) {
      const parts = [node.target, ...node.args].map((part) => this.compile(part))
      const call = methodCaller(node.name, method)
      const adapt = raw ? adaptRawInt : adapterFor(method.returns)
      return this.strict(parts, adapt === undefined ? call : (...values) => adapt(call(...values)))
    }
    return this.specialCall(node) ?? this.plainCall(node)
  }

  /** A function of the library. One with constant arguments is computed now, unless its result differs each time. */
  private plainCall(node: CallNode): CelClosure {
    const { target, args, namespaced } = node
    const parts = target === undefined || namespaced !== undefined ? args : [target, ...args]
    const form = namespaced === undefined ? node.form : "function"
    const areInts =
      form === "operator" && parts.length === 2 && parts.every(({ type }) => type.name === "int")
    const ofInts = areInts ? intArithmetic(node.name) : undefined
    const apply = ofInts ?? functionOf(form, namespaced ?? node.name, parts.length)
    if (apply === undefined) return failing(`no ${form} \`${node.name}\` takes ${parts.length}`)
    const isPure = form === "function" && !impureFunctions.has(namespaced ?? node.name)
    const constants = isPure ? literalsOf(parts) : undefined
    const folded = constants === undefined ? undefined : fold(apply, constants)
    if (folded !== undefined) return () => folded
    const [first, second] = parts
    if (first !== undefined && second?.kind === "literal" && parts.length === 2 && !this.options.isPartial) {
      const operand = this.compile(first)
      const constant = second.value
      return (frame) => apply(operand(frame), constant)
    }
    return this.strict(
      parts.map((part) => this.compile(part)),
      apply,
    )
  }

  /** Calls for which the compiler knows more than their values: types and constants. */
  private specialCall(node: CallNode): CelClosure | undefined {
    const [left, right] = node.target === undefined ? node.args : [node.target, ...node.args]
    if (left === undefined || right === undefined) return undefined
    if (node.form === "operator" && node.name === "[]") return this.namedField(left, right)
    if (node.form === "operator")
      return this.comparison(node, left, right) ?? this.membership(node, left, right)
    if (node.name !== "matches" || right.kind !== "literal" || typeof right.value !== "string")
      return undefined
    const regex = compileRegex(right.value)
    if ("fault" in regex) return undefined
    return this.strict([this.compile(left)], (text) => {
      if (typeof text === "string") return regex.test(text)
      throw new ExpressionError("type", "`matches` takes a string")
    })
  }

  /** Comparisons of two ints or with a constant text, which most conditions consist of, without the general case. */
  private comparison(node: CallNode, left: TreeNode, right: TreeNode): CelClosure | undefined {
    if (left.type.name === "int" && right.type.name === "int")
      return this.comparisonOfInts(node.name, left, right)
    if (node.name !== "==" && node.name !== "!=") return undefined
    const constant = [left, right].find((part) => part.kind === "literal" && typeof part.value === "string")
    if (constant?.kind !== "literal") return undefined
    const other = this.compile(constant === left ? right : left)
    const text = constant.value
    return this.strict([other], node.name === "==" ? (value) => value === text : (value) => value !== text)
  }

  private comparisonOfInts(sign: string, left: TreeNode, right: TreeNode): CelClosure | undefined {
    const compare = intComparison(sign)
    if (compare === undefined) return undefined
    if (right.kind === "literal" && !this.options.isPartial) {
      return compareWithConstant(sign, this.intOperand(left), intConstant(right))
    }
    return this.strict([this.intOperand(left), this.intOperand(right)], compare)
  }

  private membership(node: CallNode, left: TreeNode, right: TreeNode): CelClosure | undefined {
    if (node.name !== "in" || right.kind !== "list") return undefined
    const texts = literalsOf(right.elements)
    if (texts === undefined || !texts.every((value) => typeof value === "string")) return undefined
    const set = new Set<unknown>(texts)
    return this.strict([this.compile(left)], (value) => set.has(value))
  }

  /** `object["name"]`. */
  private namedField(left: TreeNode, right: TreeNode): CelClosure | undefined {
    const object = this.options.environment.objects.get(left.type.name)
    if (object === undefined) return undefined
    const parts = [this.compile(left), this.compile(right)]
    return this.strict(parts, (operand, name) => readNamedField(operand, name, object))
  }

  private intOperand(node: TreeNode): CelClosure {
    if (node.kind !== "literal") return this.compile(node, true)
    const value = intConstant(node)
    return () => value
  }

  /** A macro. Its variables have slots of the frame, one behind the other for nested macros. */
  private loop(node: LoopNode): CelClosure {
    const range = this.compile(node.range)
    const slot = this.scopes.length
    this.scopes.push({ name: node.variable, slot })
    if (node.second !== undefined) this.scopes.push({ name: node.second, slot: slot + 1 })
    this.slots = Math.max(this.slots, this.scopes.length)
    const test = node.test === undefined ? undefined : this.compile(node.test)
    const result = node.result === undefined ? undefined : this.compile(node.result)
    this.scopes.length = slot
    const stepCost = weightOf(node) - weightOf(node.range)
    return runLoop({
      macro: node.macro,
      range,
      slot,
      isPaired: node.second !== undefined,
      stepCost,
      test,
      result,
    })
  }
}

/** An int as a number if that is exact, because comparing numbers is faster. */
function intConstant({ value }: LiteralNode): bigint | number {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : (value as bigint)
}

/** A part that the type check rejects. It is compiled only for expressions that run unchecked. */
function failing(message: string): CelClosure {
  return () => {
    throw new ExpressionError("other", message)
  }
}

function mapOfParts(...parts: unknown[]): CelMap {
  const entries: [unknown, unknown][] = []
  for (let index = 0; index < parts.length; index += 2) entries.push([parts[index], parts[index + 1]])
  return CelMap.of(entries)
}

function literalsOf(nodes: readonly TreeNode[]): unknown[] | undefined {
  const values: unknown[] = []
  for (const node of nodes) {
    if (node.kind !== "literal") return undefined
    values.push(node.value)
  }
  return values
}

/** The value of a call of constants. Undefined if it fails: the failure must wait for the evaluation (`x || int("no")`). */
function fold(apply: (...values: unknown[]) => unknown, constants: readonly unknown[]): unknown {
  try {
    return metered(costMaxDefault, () => apply(...constants), undefined)
  } catch {
    return undefined
  }
}
