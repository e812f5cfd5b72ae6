import { parseExpression } from "./parse.ts"
import { expressionReads } from "./reads.ts"
import type { TreeNode } from "./syntax-tree.ts"

/**
 * How the cases in which two tests are true compare. `narrower`: the second is true for some cases of the first, and for no others. `other`: no relation
 * is proved.
 */
export type TestRelation = "same" | "narrower" | "wider" | "other"

/** Limit on the combinations of outcomes to test. */
const casesMax = 20_000

/**
 * Compares two tests by their logic: `!`, `&&`, `||`, `? :` over parts that are compared by their text. It tests every combination of outcomes of the
 * parts, including errors: of two errors the first takes precedence, and a side that decides hides the error of the other. `partial`: names may be
 * unknown, like parameters of a model's conditions.
 */
export function compareTests(before: string, after: string, partial = false): TestRelation {
  const parts = new Parts(partial)
  const [first, second] = [parts.formulaOf(before), parts.formulaOf(after)]
  if (first === undefined || second === undefined || parts.count > casesMax) return "other"
  const found = new Set<TestRelation>()
  for (const values of parts.cases()) {
    const [old, next] = [outcomeOf(first, values), outcomeOf(second, values)]
    if (old.value === true && next.value === false) found.add("narrower")
    else if (old.value === false && next.value === true) found.add("wider")
    else if (keyOf(old) !== keyOf(next)) return "other"
    if (found.size > 1) return "other"
  }
  return [...found][0] ?? "same"
}

/**
 * Compares the cases in which two tests are true, whatever else they are. `narrower`: where the second is true, the first is. Both being so is `narrower`.
 * Names may be unknown.
 */
export function compareTruth(before: string, after: string): "narrower" | "wider" | "other" {
  const parts = new Parts(true)
  const [first, second] = [parts.formulaOf(before), parts.formulaOf(after)]
  if (first === undefined || second === undefined || parts.count > casesMax) return "other"
  let [isNarrower, isWider] = [true, true]
  for (const values of parts.cases()) {
    const [old, next] = [outcomeOf(first, values).value === true, outcomeOf(second, values).value === true]
    if (next && !old) isNarrower = false
    if (old && !next) isWider = false
  }
  return isNarrower ? "narrower" : isWider ? "wider" : "other"
}

type Formula =
  | { readonly kind: "constant"; readonly value: boolean }
  | { readonly kind: "part"; readonly part: Part }
  | { readonly kind: "not"; readonly operand: Formula }
  | { readonly kind: "logic"; readonly deciding: boolean; readonly left: Formula; readonly right: Formula }
  | { readonly kind: "choice"; readonly test: Formula; readonly yes: Formula; readonly no: Formula }

/** A part without logical operators inside. `equals`: the expression that it compares with a text. Two parts with the same expression are never both true. */
interface Part {
  readonly index: number
  readonly mayFail: boolean
  /** Its evaluation can exceed the cost limit, so it matters whether it is evaluated. */
  readonly isDear: boolean
  readonly equals: string | undefined
}

/** The number of the part that failed, or the numbers of the parts with unknown names. */
type Value = boolean | { readonly failed: number } | { readonly unknown: readonly number[] }

interface Outcome {
  readonly value: Value
  readonly evaluated: readonly number[]
}

function keyOf({ value, evaluated }: Outcome): string {
  return JSON.stringify([value, evaluated])
}

/** Replaces what cannot be decided by atoms. Two expressions are the same if they agree for all outcomes of the atoms. */
class Parts {
  readonly #parts = new Map<string, Part>()
  readonly #partial: boolean

  constructor(partial: boolean) {
    this.#partial = partial
  }

  formulaOf(source: string): Formula | undefined {
    const parsed = parseExpression(source, true)
    return parsed.ok ? this.#formula(parsed.tree, source) : undefined
  }

  get count(): number {
    return [...this.#parts.values()].reduce((count, part) => count * this.#valuesOf(part).length, 1)
  }

  /** All combinations of outcomes of the parts. */
  cases(): Iterable<readonly Value[]> {
    const valuesOf = (part: Part) => this.#valuesOf(part)
    const parts = [...this.#parts.values()]
    const walk = function* (values: Value[]): Iterable<readonly Value[]> {
      const part = parts[values.length]
      if (part === undefined) yield values
      else
        for (const value of valuesOf(part)) {
          const isSecond =
            value === true &&
            part.equals !== undefined &&
            parts.some(({ index, equals }) => values[index] === true && equals === part.equals)
          if (!isSecond) yield* walk([...values, value])
        }
    }
    return walk([])
  }

  #valuesOf({ index, mayFail }: Part): readonly Value[] {
    if (!mayFail) return [true, false]
    return [true, false, { failed: index }, ...(this.#partial ? [{ unknown: [index] }] : [])]
  }

  /** An expression as a formula. */
  #formula(node: TreeNode, source: string): Formula {
    const formula = (each: TreeNode) => this.#formula(each, source)
    if (node.kind === "literal" && typeof node.value === "boolean")
      return { kind: "constant", value: node.value }
    if (node.kind === "logic")
      return {
        kind: "logic",
        deciding: node.operator === "||",
        left: formula(node.left),
        right: formula(node.right),
      }
    if (node.kind === "conditional")
      return {
        kind: "choice",
        test: formula(node.condition),
        yes: formula(node.whenTrue),
        no: formula(node.whenFalse),
      }
    if (node.kind === "call" && node.form === "operator") {
      const [left, right] = node.args
      if (node.name === "!" && left !== undefined) return { kind: "not", operand: formula(left) }
      if (left !== undefined && right !== undefined) {
        if (node.name === "==") return this.#equal(left, right, source)
        if (node.name === "!=") return { kind: "not", operand: this.#equal(left, right, source) }
        if (node.name === "in") return this.#oneOf(node, left, right, source)
      }
    }
    return this.#part(shapeOf(node, source), source.slice(node.start, node.end), undefined)
  }

  /** The sides of `==` can be swapped if one is a literal, because evaluating a literal has no effect. */
  #equal(left: TreeNode, right: TreeNode, source: string): Formula {
    const [what, literal] = left.kind === "literal" ? [right, left] : [left, right]
    const shape = `(${shapeOf(what, source)} == ${shapeOf(literal, source)})`
    const isText = literal.kind === "literal" && typeof literal.value === "string"
    const text = `${source.slice(left.start, left.end)} == ${source.slice(right.start, right.end)}`
    return this.#part(shape, text, isText ? shapeOf(what, source) : undefined)
  }

  /** `in` with a list of literals, if the item always has a value. */
  #oneOf(node: TreeNode, item: TreeNode, list: TreeNode, source: string): Formula {
    const text = source.slice(item.start, item.end)
    const sure = !this.#partial && expressionReads(text).fails === "never"
    if (!sure || list.kind !== "list" || !list.elements.every(({ kind }) => kind === "literal"))
      return this.#part(shapeOf(node, source), source.slice(node.start, node.end), undefined)
    return list.elements
      .map((each) => this.#equal(item, each, source))
      .reduce<Formula>((left, right) => ({ kind: "logic", deciding: true, left, right }), {
        kind: "constant",
        value: false,
      })
  }

  /** The atom of an expression. Expressions of the same shape are one atom. */
  #part(shape: string, text: string, equals: Part["equals"]): Formula {
    let part = this.#parts.get(shape)
    if (part === undefined) {
      const { fails } = expressionReads(text)
      const mayFail = this.#partial || fails !== "never"
      part = { index: this.#parts.size, mayFail, isDear: fails === "somehow", equals }
      this.#parts.set(shape, part)
    }
    return { kind: "part", part }
  }
}

/** Like `logic` and `conditional` of closures.ts. */
function outcomeOf(formula: Formula, values: readonly Value[]): Outcome {
  switch (formula.kind) {
    case "constant":
      return { value: formula.value, evaluated: [] }
    case "part": {
      const { index, isDear } = formula.part
      return { value: values[index] ?? false, evaluated: isDear ? [index] : [] }
    }
    case "not": {
      const { value, evaluated } = outcomeOf(formula.operand, values)
      return { value: typeof value === "boolean" ? !value : value, evaluated }
    }
    case "choice": {
      const test = outcomeOf(formula.test, values)
      if (typeof test.value !== "boolean") return test
      return after(test, outcomeOf(test.value ? formula.yes : formula.no, values))
    }
    case "logic": {
      const left = outcomeOf(formula.left, values)
      if (left.value === formula.deciding) return left
      const right = after(left, outcomeOf(formula.right, values))
      if (typeof left.value === "boolean" || right.value === formula.deciding) return right
      const value = typeof right.value === "boolean" ? left.value : bothUndecided(left.value, right.value)
      return { ...right, value }
    }
  }
}

function after(first: Outcome, second: Outcome): Outcome {
  return { ...second, evaluated: [...new Set([...first.evaluated, ...second.evaluated])] }
}

function bothUndecided(first: Exclude<Value, boolean>, second: Exclude<Value, boolean>): Value {
  if (!("unknown" in second)) return first
  if (!("unknown" in first)) return second
  return { unknown: [...new Set([...first.unknown, ...second.unknown])].sort((a, b) => a - b) }
}

/** The text of a tree without its layout. */
function shapeOf(node: TreeNode, source: string): string {
  const shape = (each: TreeNode) => shapeOf(each, source)
  switch (node.kind) {
    case "literal":
      return typeof node.value === "string" ? JSON.stringify(node.value) : source.slice(node.start, node.end)
    case "name":
      return `${node.rooted ? "." : ""}${node.name}`
    case "select":
      return `${node.test ? "has" : ""}(${shape(node.operand)}).${node.field}`
    case "call":
      return `${node.target === undefined ? "" : shape(node.target)}${node.form}:${node.name}(${node.args.map(shape).join()})`
    case "logic":
      return `(${shape(node.left)} ${node.operator} ${shape(node.right)})`
    case "conditional":
      return `(${shape(node.condition)} ? ${shape(node.whenTrue)} : ${shape(node.whenFalse)})`
    case "list":
      return `[${node.elements.map(shape).join()}]`
    case "map":
      return `{${node.entries.map(({ key, value }) => `${shape(key)}: ${shape(value)}`).join()}}`
    case "loop": {
      const inner = [node.test, node.result].map((each) => (each === undefined ? "" : shape(each)))
      return `${node.macro}(${shape(node.range)}; ${node.variable}; ${node.second ?? ""}; ${inner.join("; ")})`
    }
  }
}
