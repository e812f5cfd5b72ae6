import { constantFault } from "./constants.ts"
import type { DeclaredObject, Environment } from "./environment.ts"
import type { ExpressionFinding, FindingKind, VariableReference } from "./finding.ts"
import { macroForms } from "./loop-macros.ts"
import { NameResolver } from "./name-resolution.ts"
import { callFault, findOverload } from "./overloads.ts"
import type { Library, Signature } from "./signatures.ts"
import { excerpt, reservedWords } from "./source-characters.ts"
import type {
  CallNode,
  ConditionalNode,
  LoopNode,
  Meaning,
  NameNode,
  SelectNode,
  TreeNode,
} from "./syntax-tree.ts"
import { typeOfLiteral } from "./type-names.ts"
import { type CelTypeTree, listOf, mapOf, secretType, simpleTypes } from "./types.ts"
import { join } from "./unify.ts"

const { dyn, bool, type: typeType } = simpleTypes

/** After this many findings the check stops. */
const findingsMax = 20

interface Details {
  readonly name?: string
  readonly candidates?: readonly string[]
}

/** Sets the type of every node, and collects findings and references. A wrong part gets the type `dyn`, so that one mistake is one finding. */
export class TreeChecker {
  readonly findings: ExpressionFinding[] = []
  readonly references: VariableReference[] = []
  private readonly source: string
  private readonly environment: Environment
  /** The keys of `hmac`, where secrets may be. */
  private readonly keys = new Set<TreeNode>()
  private readonly loopVariables: { readonly name: string; readonly type: CelTypeTree }[] = []
  private readonly isObject: (name: string) => boolean
  private readonly names: NameResolver
  private readonly library: Library

  constructor(source: string, environment: Environment) {
    this.source = source
    this.environment = environment
    this.isObject = environment.isObject
    this.library = environment.library
    this.names = new NameResolver(source, environment, this)
  }

  /** Whether an enclosing loop has a variable of this name. */
  isLocal(name: string): boolean {
    return this.local(name) !== undefined
  }

  private local(name: string): { readonly type: CelTypeTree } | undefined {
    const { loopVariables } = this
    for (let at = loopVariables.length - 1; at >= 0; at--) {
      if (loopVariables[at]?.name === name) return loopVariables[at]
    }
    return undefined
  }

  check(node: TreeNode, insideChain = false): CelTypeTree {
    node.type = this.typeOf(node, insideChain)
    return node.type
  }

  /** Adds a finding up to the maximum and returns `dyn`, so that no further finding follows from it. */
  private report(
    kind: FindingKind,
    message: string,
    start: number,
    end: number,
    details: Details = {},
  ): CelTypeTree {
    if (this.findings.length < findingsMax) this.findings.push({ kind, message, start, end, ...details })
    return dyn
  }

  /** The type of a node. `insideChain`: the node is a part of `a.b.c` that was noted as a reference already. */
  private typeOf(node: TreeNode, insideChain: boolean): CelTypeTree {
    switch (node.kind) {
      case "literal":
        return typeOfLiteral(node.value)
      case "name":
        return this.typeOfName(node, insideChain)
      case "select":
        return this.typeOfSelect(node, insideChain)
      case "call":
        return this.typeOfCall(node, insideChain)
      case "logic":
        this.requireBool(node.left, sideRules[node.operator])
        this.requireBool(node.right, sideRules[node.operator])
        return bool
      case "conditional":
        return this.typeOfConditional(node)
      case "list": {
        let element: CelTypeTree | undefined
        for (const child of node.elements) element = join(element, this.check(child))
        return listOf(element ?? dyn)
      }
      case "map": {
        let key: CelTypeTree | undefined
        let value: CelTypeTree | undefined
        for (const entry of node.entries) {
          key = join(key, this.typeOfKey(entry.key))
          value = join(value, this.check(entry.value))
        }
        return mapOf(key ?? dyn, value ?? dyn)
      }
      case "loop":
        return this.typeOfLoop(node)
    }
  }

  private typeOfName(node: NameNode, insideChain: boolean): CelTypeTree {
    const { name, start, end } = node
    const local = node.rooted ? undefined : this.local(name)
    if (local !== undefined) return local.type
    node.meaning = this.names.meaningOf(node)
    const type = this.typeOfMeaning(node.meaning, node, insideChain) ?? this.unknownName(name, start, end)
    if (type !== secretType || this.keys.has(node)) return type
    return this.report("secret", `\`${name}\` is a secret, which can only be the key of \`hmac\``, start, end)
  }

  /** The type of a variable or type name; undefined for names that mean neither. */
  private typeOfMeaning(
    meaning: Meaning | undefined,
    { start, end }: TreeNode,
    insideChain: boolean,
  ): CelTypeTree | undefined {
    if (meaning === undefined) return undefined
    if (meaning.kind === "type") return typeType
    if (!insideChain) this.references.push({ path: [meaning.name], start, end })
    return this.environment.variables.get(meaning.name)
  }

  /** A name without meaning, with the names that it may have been meant as. */
  private unknownName(name: string, start: number, end: number): CelTypeTree {
    if (reservedWords.has(name)) return this.report("syntax", `\`${name}\` is a reserved word`, start, end)
    const candidates = [
      ...this.loopVariables.map((variable) => variable.name),
      ...this.environment.variables.keys(),
    ]
    const isFunction = this.library.function.has(name)
    const message = isFunction ? `\`${name}\` is a function; call it` : `unknown name \`${name}\``
    return this.report("unknown-name", message, start, end, { name, candidates })
  }

  /** The variable that a node refers to, except loop variables. */
  private variableOf(node: TreeNode): string | undefined {
    if (node.kind === "name" && !node.rooted && this.local(node.name) !== undefined) return undefined
    if (node.kind !== "name" && !this.environment.isQualified) return undefined
    const meaning = this.names.meaningOf(node)
    return meaning?.kind === "variable" ? meaning.name : undefined
  }

  /** The names from a variable down to this node, if the node is such a chain. */
  private chainOf(node: TreeNode): string[] | undefined {
    const path: string[] = []
    let part = node
    for (;;) {
      const variable = this.variableOf(part)
      if (variable !== undefined) {
        path.push(variable)
        return path.reverse()
      }
      if (part.kind === "select" && (part === node || !part.test)) {
        path.push(part.field)
        part = part.operand
        continue
      }
      const [operand, index] = part.kind === "call" && part.name === "[]" ? part.args : []
      if (operand === undefined || index?.kind !== "literal" || typeof index.value !== "string")
        return undefined
      path.push(index.value)
      part = operand
    }
  }

  /** Records the chain that ends here. Returns true if there is one, so that its inner parts are not recorded again. */
  private noteChain(node: SelectNode | CallNode, insideChain: boolean): boolean {
    const path = insideChain ? undefined : this.chainOf(node)
    if (path === undefined) return insideChain
    const test = node.kind === "select" && node.test
    const start = test ? node.operand.start : node.start
    this.references.push({ path, start, end: test ? node.fieldEnd : node.end })
    return true
  }

  /** `a.b`: a qualified name comes before the field of a value, as CEL demands. */
  private typeOfSelect(node: SelectNode, insideChain: boolean): CelTypeTree {
    node.meaning = node.test ? undefined : this.names.meaningOf(node)
    const named = node.meaning && this.typeOfMeaning(node.meaning, node, insideChain)
    if (named !== undefined) return named
    const chained = this.noteChain(node, insideChain)
    const operand = this.check(node.operand, chained)
    const field = this.typeOfField(node.operand, operand, node.field, node.fieldStart, node.fieldEnd)
    return node.test ? bool : field
  }

  /** The type of a field. `dyn` has every field; whether it exists is known at run time. */
  private typeOfField(
    operand: TreeNode,
    type: CelTypeTree,
    field: string,
    start: number,
    end: number,
  ): CelTypeTree {
    if (type.name === "dyn") return dyn
    const [key, value] = type.args
    if (type.name === "map" && key !== undefined && value !== undefined) {
      if (key.name === "string" || key.name === "dyn") return value
      return this.report("type", `the keys of this map are \`${key.text}\`, not \`string\``, start, end)
    }
    const object = this.environment.objects.get(type.name)
    if (object === undefined) return this.report("type", `a \`${type.text}\` has no fields`, start, end)
    const declared = object.fields.get(field) ?? object.open
    if (declared !== undefined) return declared
    return this.unknownField(operand, object, field, start, end)
  }

  /** The finding for a field that the object lacks. */
  private unknownField(
    operand: TreeNode,
    object: DeclaredObject,
    name: string,
    start: number,
    end: number,
  ): CelTypeTree {
    const candidates = [...object.fields.keys(), ...object.methods.keys()]
    const message = object.methods.has(name)
      ? `\`${name}\` is a method; call it`
      : `\`${excerpt(this.source.slice(operand.start, operand.end))}\` has no field \`${name}\``
    return this.report("unknown-field", message, start, end, { name, candidates })
  }

  /** The type of a call. An object's own method comes before the functions of the library. */
  private typeOfCall(node: CallNode, insideChain: boolean): CelTypeTree {
    if (node.form === "operator")
      return node.name === "[]" ? this.typeOfIndex(node, insideChain) : this.typeOfApplied(node, node.name)
    node.namespaced = this.names.namespacedFunction(node)
    if (node.namespaced !== undefined) return this.typeOfApplied(node, node.namespaced)
    const [, key] = node.args
    if (node.form === "function" && node.name === "hmac" && key !== undefined) this.keys.add(key)
    const before = this.findings.length
    const receiver = node.target === undefined ? undefined : this.check(node.target)
    const isWrongTarget = this.findings.length > before
    const object = receiver === undefined ? undefined : this.environment.objects.get(receiver.name)
    const method = object?.methods.get(node.name)
    if (receiver !== undefined && method === undefined && macroForms.has(node.name))
      return this.wrongMacro(node)
    const given = node.args.map((arg) => this.check(arg))
    const rows = method === undefined ? this.library[node.form].get(node.name) : [method]
    if (rows === undefined) return isWrongTarget ? dyn : this.unknownFunction(node, receiver, object)
    return this.typeOfResult(
      node,
      rows,
      receiver === undefined || method !== undefined ? given : [receiver, ...given],
    )
  }

  /** An operator, or a function with dots in its name. */
  private typeOfApplied(node: CallNode, name: string): CelTypeTree {
    const types: CelTypeTree[] = []
    for (const arg of node.args) types.push(this.check(arg))
    const rows = node.form === "operator" ? this.library.operator : this.library.function
    return this.typeOfResult(node, rows.get(name) ?? [], types)
  }

  /** The result of the overload that takes the arguments. */
  private typeOfResult(
    node: CallNode,
    overloads: readonly Signature[],
    types: readonly CelTypeTree[],
  ): CelTypeTree {
    const result = findOverload(overloads, types, this.isObject)
    if (result === undefined) {
      const fault = callFault(node, overloads, types, this.isObject)
      return this.report("no-overload", fault.message, fault.start, fault.end)
    }
    const wrong = node.form === "operator" ? undefined : constantFault(node)
    if (wrong !== undefined) this.report(wrong.kind, wrong.message, wrong.start, wrong.end)
    return result
  }

  /** A macro in a wrong form. Its arguments contain undeclared names, so they are not checked. */
  private wrongMacro({ name, nameStart, end }: CallNode): CelTypeTree {
    return this.report("no-overload", `\`${name}\` must be written ${macroForms.get(name)}`, nameStart, end)
  }

  /** The finding for an unknown function, with those that the receiver has. */
  private unknownFunction(
    node: CallNode,
    receiver: CelTypeTree | undefined,
    object: DeclaredObject | undefined,
  ): CelTypeTree {
    const { name, nameStart: start, nameEnd: end } = node
    if (name === "has" && receiver === undefined) {
      return this.report("no-overload", "`has` takes a field: `has(a.b)`", start, node.end)
    }
    if (receiver === undefined) {
      const candidates = [...this.library.function.keys(), "has"]
      return this.report("unknown-name", `unknown function \`${name}\``, start, end, {
        name,
        candidates,
      })
    }
    const fitting = [...this.library.method].filter(([, rows]) =>
      rows.some((row) => row.parameters[0]?.name === receiver.name || receiver.name === "dyn"),
    )
    const candidates = [...(object?.methods.keys() ?? []), ...fitting.map(([key]) => key)]
    const message = `unknown method \`${name}\`${receiver.name === "dyn" ? "" : ` on \`${receiver.text}\``}`
    return this.report("unknown-name", message, start, end, { name, candidates })
  }

  /** `a[b]`: the index of a list, the key of a map or the name of a field. */
  private typeOfIndex(node: CallNode, insideChain: boolean): CelTypeTree {
    const [operand, index] = node.args
    if (operand === undefined || index === undefined) return dyn
    const chained = this.noteChain(node, insideChain)
    const type = this.check(operand, chained)
    const given = this.check(index)
    if (type.name === "dyn") return dyn
    if (this.isObject(type.name)) {
      if (index.kind === "literal" && typeof index.value === "string") {
        return this.typeOfField(operand, type, index.value, index.start, index.end)
      }
      if (given.name === "string" || given.name === "dyn") return dyn
      return this.report(
        "type",
        `the name of a field must be a \`string\`, not \`${given.text}\``,
        index.start,
        index.end,
      )
    }
    const [first] = type.args
    if (type.name !== "list" && type.name !== "map") {
      return this.report("type", `a \`${type.text}\` has no elements`, node.start, node.end)
    }
    const wanted = type.name === "list" ? simpleTypes.int : (first ?? dyn)
    const result = findOverload(this.library.operator.get("[]") ?? [], [type, given], this.isObject)
    if (result !== undefined) return result
    const message = `the index of this \`${type.name}\` must be \`${wanted.text}\`, not \`${given.text}\``
    return this.report("no-overload", message, index.start, index.end)
  }

  private requireBool(node: TreeNode, rule: string): void {
    const type = this.check(node)
    if (type.name === "bool" || type.name === "dyn") return
    this.report("type", `${rule}, not \`${type.text}\``, node.start, node.end)
  }

  /** The keys of a map have one of four types (CEL). */
  private typeOfKey(node: TreeNode): CelTypeTree {
    const type = this.check(node)
    if (["string", "int", "uint", "bool", "dyn"].includes(type.name)) return type
    return this.report(
      "type",
      `a map key must be \`string\`, \`int\`, \`uint\` or \`bool\`, not \`${type.text}\``,
      node.start,
      node.end,
    )
  }

  /** Both branches must have one type; `null` fits every type. */
  private typeOfConditional(node: ConditionalNode): CelTypeTree {
    this.requireBool(node.condition, "the part before `?` must be `bool`")
    const left = this.check(node.whenTrue)
    const right = this.check(node.whenFalse)
    const result = findOverload([eitherBranch], [left, right], this.isObject)
    if (result !== undefined) return left.name === "null" ? right : result
    const message = `both sides of \`:\` must have the same type, not \`${left.text}\` and \`${right.text}\``
    return this.report("type", message, node.whenTrue.start, node.whenFalse.end)
  }

  /** The type of a macro. Its variables exist only in its condition and result. */
  private typeOfLoop(node: LoopNode): CelTypeTree {
    const range = this.check(node.range)
    const [key, value] = this.elementsOf(node.range, range)
    const element = range.name === "list" ? value : key
    const before = this.loopVariables.length
    this.loopVariables.push({ name: node.variable, type: node.second === undefined ? element : key })
    if (node.second !== undefined) this.loopVariables.push({ name: node.second, type: value })
    if (node.test !== undefined)
      this.requireBool(node.test, `the condition of \`${node.macro}\` must be \`bool\``)
    const result = node.result === undefined ? undefined : this.check(node.result)
    this.loopVariables.length = before
    if (node.macro === "filter") return listOf(element)
    if (result === undefined) return bool
    if (node.macro === "transformMap") return mapOf(key, result)
    return node.macro === "transformMapEntry" ? this.typeOfEntry(node, result) : listOf(result)
  }

  private typeOfEntry({ result }: LoopNode, type: CelTypeTree): CelTypeTree {
    if (type.name === "map") return type
    if (type.name === "dyn" || result === undefined) return mapOf(dyn, dyn)
    const message = `an entry must be a \`map\` like \`{key: value}\`, not \`${type.text}\``
    return this.report("type", message, result.start, result.end)
  }

  /** The key and value types of the range of a loop; the key of a list is the index. */
  private elementsOf(node: TreeNode, range: CelTypeTree): readonly [CelTypeTree, CelTypeTree] {
    const [first, second] = range.args
    if (range.name === "list") return [simpleTypes.int, first ?? dyn]
    if (range.name === "map") return [first ?? dyn, second ?? dyn]
    if (range.name !== "dyn")
      this.report("type", `a \`${range.text}\` has no elements to iterate over`, node.start, node.end)
    return [dyn, dyn]
  }
}

const sideRules = { "&&": "`&&` takes `bool`", "||": "`||` takes `bool`" }

const letter: CelTypeTree = { name: "A", args: [], text: "A" }
const eitherBranch = { parameters: [letter, letter], returns: letter, isGeneric: true }
