import { TreeChecker } from "./check-tree.ts"
import type { Environment } from "./environment.ts"
import { macroForms } from "./loop-macros.ts"
import { parseExpression } from "./parse.ts"
import type { Signature } from "./signatures.ts"
import { childrenOf, type TreeNode } from "./syntax-tree.ts"
import { type CelType, type CelTypeTree, isBuiltInTypeName, secretType, simpleTypes } from "./types.ts"
import { accepts, newBindings } from "./unify.ts"

/** A name of the language or of a place, for people who write an expression. */
export interface ExpressionName {
  readonly name: string
  readonly kind: "variable" | "field" | "method" | "function"
  /** The type of a value; for a call one form per overload: `split(string) → list<string>`. */
  readonly forms: readonly string[]
  /** The object type that has the field or method, e.g. `request`; undefined for names of the language and for variables. */
  readonly of: CelType | undefined
}

/** What can be written at an offset: `start` is where the name that is being written begins. */
export interface ExpressionNames {
  readonly start: number
  /** The type of the value before the dot; undefined if the name is not behind a dot. */
  readonly receiver: CelType | undefined
  readonly names: readonly ExpressionName[]
}

/** A name as an expression has it, with its offsets in the source. */
export interface NameAt extends ExpressionName {
  readonly start: number
  readonly end: number
}

/** Stands for the name that is being written: an expression with it can be parsed. */
const placeholder = "nameBeingWritten__"

/**
 * The names that can be written at an offset of a source: behind a dot those that the value before it has, elsewhere variables and functions.
 * They are those that the type check accepts. Empty inside of a text and of a number.
 */
export function expressionNamesAt(source: string, offset: number, environment: Environment): ExpressionNames {
  const before = source.slice(0, offset)
  const partial = /[A-Za-z_]\w*$/.exec(before)?.[0] ?? ""
  const start = offset - partial.length
  const nothing = { start, receiver: undefined, names: [] }
  if (isInText(before) || /[\d]$/.test(source.slice(0, start))) return nothing
  const rest = /^\w*/.exec(source.slice(offset))?.[0] ?? ""
  const written = `${source.slice(0, start)}${placeholder}${source.slice(offset + rest.length)}`
  if (!/\.\s*$/.test(source.slice(0, start))) {
    const around = checkedTree(written, environment)
    const loops = around === undefined ? [] : loopVariablesAround(around)
    return { start, receiver: undefined, names: [...loops, ...freeNames(environment)] }
  }
  // A mistake elsewhere in the expression must not hide the names here: then only what is before the dot is read.
  const chain = `${source.slice(chainStart(source, start), start)}${placeholder}`
  for (const text of [written, chain]) {
    const tree = checkedTree(text, environment)
    const found = tree === undefined ? undefined : nodesOf(tree).find(isPlaceholder)
    if (found?.kind !== "select") continue
    const { operand } = found
    const space = operand.kind === "name" && operand.meaning === undefined ? operand.name : undefined
    const functions = space === undefined ? [] : functionsBelow(space, environment)
    if (functions.length > 0) return { start, receiver: undefined, names: functions }
    return { start, receiver: operand.type.text, names: namesOfType(operand.type, environment) }
  }
  return nothing
}

/** The variable, field, method or function at an offset of a source that can be parsed. */
export function expressionNameAt(
  source: string,
  offset: number,
  environment: Environment,
): NameAt | undefined {
  const tree = checkedTree(source, environment)
  if (tree === undefined) return undefined
  for (const node of nodesOf(tree)) {
    const found = nameOfNode(node, environment)
    if (found !== undefined && found.start <= offset && offset <= found.end) return found
  }
  return undefined
}

/** A part of an expression, for colours. */
export interface ExpressionToken {
  readonly kind: "variable" | "field" | "function" | "text" | "number"
  readonly start: number
  readonly end: number
}

/** The names and literals of a source, by their offsets; empty if it cannot be parsed. Types are not needed. */
export function expressionTokens(source: string, extended: boolean): readonly ExpressionToken[] {
  const parsed = parseExpression(source, extended)
  if (!parsed.ok) return []
  const tokens = nodesOf(parsed.tree).flatMap((node): ExpressionToken[] => {
    if (node.kind === "name") return [{ kind: "variable", start: node.start, end: node.end }]
    if (node.kind === "select") return [{ kind: "field", start: node.fieldStart, end: node.fieldEnd }]
    if (node.kind === "call" && node.form !== "operator")
      return [{ kind: "function", start: node.nameStart, end: node.nameEnd }]
    if (node.kind !== "literal" || typeof node.value === "boolean" || node.value === null) return []
    const kind = /["']/.test(source.slice(node.start, node.end)) ? "text" : "number"
    return [{ kind, start: node.start, end: node.end }]
  })
  return tokens.sort((a, b) => a.start - b.start)
}

function nameOfNode(node: TreeNode, environment: Environment): NameAt | undefined {
  if (node.kind === "name") {
    const { name, start, end, type } = node
    if (!environment.variables.has(name)) return undefined
    return { name, kind: "variable", forms: [type.text], of: undefined, start, end }
  }
  if (node.kind === "select") {
    const { field, fieldStart, fieldEnd, operand } = node
    const type = environment.objects.get(operand.type.name)?.fields.get(field) ?? node.type
    const at = { start: fieldStart, end: fieldEnd }
    return { name: field, kind: "field", forms: [type.text], of: operand.type.text, ...at }
  }
  if (node.kind !== "call" || node.form === "operator") return undefined
  const { name, nameStart, nameEnd, target, namespaced } = node
  const at = { start: nameStart, end: nameEnd }
  if (target === undefined || namespaced !== undefined) {
    const full = namespaced ?? name
    const rows = environment.library.function.get(full) ?? []
    return { name: full, kind: "function", forms: formsOf(full, rows), of: undefined, ...at }
  }
  const found = namesOfType(target.type, environment).find((each) => each.name === name)
  return found === undefined ? undefined : { ...found, ...at }
}

/** The tree with its types, whatever findings it has; undefined if it cannot be parsed. */
function checkedTree(source: string, environment: Environment): TreeNode | undefined {
  const parsed = parseExpression(source, environment.extended)
  if (!parsed.ok) return undefined
  new TreeChecker(source, environment).check(parsed.tree)
  return parsed.tree
}

function nodesOf(node: TreeNode): TreeNode[] {
  return [node, ...childrenOf(node).flatMap(nodesOf)]
}

function isPlaceholder(node: TreeNode): boolean {
  return node.kind === "select"
    ? node.field === placeholder
    : node.kind === "name" && node.name === placeholder
}

/** The variables of the loops around the placeholder. */
function loopVariablesAround(node: TreeNode): ExpressionName[] {
  if (!nodesOf(node).some(isPlaceholder)) return []
  const inner = childrenOf(node).flatMap(loopVariablesAround)
  if (node.kind !== "loop" || nodesOf(node.range).some(isPlaceholder)) return inner
  const names = [node.variable, node.second ?? []].flat()
  const [element = simpleTypes.dyn] = node.range.type.args
  const form = names.length === 1 ? element.text : "dyn"
  return [
    ...inner,
    ...names.map((name) => ({ name, kind: "variable" as const, forms: [form], of: undefined })),
  ]
}

/** Variables, functions without a receiver, and the first parts of names such as `math.abs`. */
function freeNames({ variables, library }: Environment): ExpressionName[] {
  const own = [...variables].flatMap(([name, type]): ExpressionName[] =>
    type === secretType ? [] : [{ name, kind: "variable", forms: [type.text], of: undefined }],
  )
  const spaces = new Map<string, ExpressionName>()
  for (const [name, rows] of library.function) {
    const [first = name, second] = name.split(".")
    const forms = second === undefined ? formsOf(name, rows) : [`${first}.…`]
    if (!spaces.has(first)) spaces.set(first, { name: first, kind: "function", forms, of: undefined })
  }
  const has: ExpressionName = {
    name: "has",
    kind: "function",
    forms: ["has(object.field) → bool"],
    of: undefined,
  }
  return [...own, ...spaces.values(), has]
}

/** The functions of a namespace: `abs` of `math`. */
function functionsBelow(space: string, { library }: Environment): ExpressionName[] {
  return [...library.function].flatMap(([name, rows]): ExpressionName[] =>
    name.startsWith(`${space}.`)
      ? [{ name: name.slice(space.length + 1), kind: "function", forms: formsOf(name, rows), of: undefined }]
      : [],
  )
}

/** Fields and methods of an object type; methods and macros of the language for other values. */
function namesOfType(type: CelTypeTree, { objects, library, isObject }: Environment): ExpressionName[] {
  const object = objects.get(type.name)
  if (object !== undefined) {
    const fields = [...object.fields].map(
      ([name, field]): ExpressionName => ({ name, kind: "field", forms: [field.text], of: type.name }),
    )
    const methods = [...object.methods].map(
      ([name, method]): ExpressionName => ({
        ...{ name, kind: "method", of: type.name },
        forms: [`${name}(${method.parameters.map(({ text }) => text).join(", ")}) → ${method.returns.text}`],
      }),
    )
    return [...fields, ...methods]
  }
  const methods = [...library.method].flatMap(([name, rows]): ExpressionName[] => {
    const fitting = rows.filter(
      ({ parameters: [first] }) => first && accepts(first, type, newBindings(), isObject),
    )
    const forms = formsOf(
      name,
      fitting.map((row) => ({ ...row, parameters: row.parameters.slice(1) })),
    )
    return fitting.length === 0 ? [] : [{ name, kind: "method", forms, of: undefined }]
  })
  const macros = ["list", "map", "dyn"].includes(type.name)
    ? [...macroForms].map(
        ([name, form]): ExpressionName => ({
          name,
          kind: "method",
          forms: [form.replaceAll("`", "")],
          of: undefined,
        }),
      )
    : []
  return [...methods, ...macros]
}

function formsOf(name: string, rows: readonly Signature[]): string[] {
  return rows.map(
    ({ parameters, returns }) => `${name}(${parameters.map(shownType).join(", ")}) → ${shownType(returns)}`,
  )
}

/** A type letter means any type. */
function shownType({ name, text }: CelTypeTree): string {
  return name.length === 1 && !isBuiltInTypeName(name) ? "any" : text.replaceAll(/\b[A-Z]\b/g, "any")
}

/** Whether a text begins before the end of the source and does not end there. */
function isInText(before: string): boolean {
  const open = before.replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, "")
  return /["']/.test(open)
}

/** Where the chain of names, calls and indexes that ends at an offset begins. */
function chainStart(source: string, end: number): number {
  let at = end
  while (at > 0) {
    const char = source[at - 1] ?? ""
    if (/[\w.]/.test(char)) at -= 1
    else if (char === ")" || char === "]") at = openingOf(source, at - 1)
    else break
  }
  return at
}

/** The offset of the bracket that the one at `close` closes; 0 without one. Brackets in texts do not count. */
function openingOf(source: string, close: number): number {
  let depth = 0
  for (let at = close; at >= 0; at--) {
    const char = source[at] ?? ""
    if (char === '"' || char === "'") {
      const before = source.lastIndexOf(char, at - 1)
      if (before < 0) return 0
      at = before
    } else if (char === ")" || char === "]") depth += 1
    else if (char === "(" || char === "[") {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return 0
}
