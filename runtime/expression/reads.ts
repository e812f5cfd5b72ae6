import { bodyRead, everyPlace, headerOf, type Place, queryOf } from "../plan/places.ts"
import { checkSource } from "./check-source.ts"
import type { Environment } from "./environment.ts"
import type { VariableReference } from "./finding.ts"
import { parseExpression } from "./parse.ts"
import { childrenOf, type MapNode, type TreeNode } from "./syntax-tree.ts"

/**
 * What an expression over a request reads. `fails` is whether it can fail: `never`; `plainly`, if something it names can be absent (always the same
 * error); or `somehow`, for example by the cost limit. `isWord`: its value is a short text that fits into any header field.
 */
export interface ExpressionReads {
  readonly places: readonly Place[]
  readonly fails: "never" | "plainly" | "somehow"
  readonly isWord: boolean
}

/** Fields of the request that no step changes. */
const fixedFields: ReadonlySet<string> = new Set(["method", "path", "id", "ip", "host", "scheme", "time"])
/** Those of `fixedFields` that are short and have no control characters. */
const wordFields: ReadonlySet<string> = new Set(["method", "id", "ip", "scheme"])
/** Objects that are the same for every request of a route. */
const fixedObjects: ReadonlySet<string> = new Set(["api", "operation", "backend", "gateway"])

/** A part of the text that an expression yields: a literal, or a value that can appear unescaped, with its references. */
export type RawPart = { readonly literal: string } | { readonly raw: readonly VariableReference[] }

/** Functions and methods whose result has no delimiters of URLs, forms or markup. */
const escaping: ReadonlySet<string> = new Set([
  ...["xmlEscape", "urlEncode", "percentEncode", "base64.encode", "hex", "sha256", "hmac", "uuid"],
])

/** Types whose texts contain only digits, letters, `:`, `.`, `+` and `-`. */
const harmless: ReadonlySet<string> = new Set(["int", "uint", "double", "bool", "timestamp", "duration"])

/** Analyzes an expression. An invalid one counts as reading everything. */
export function expressionReads(source: string): ExpressionReads {
  const parsed = parseExpression(source, true)
  if (!parsed.ok) return { places: everyPlace, fails: "somehow", isWord: false }
  const places = new Set<Place>()
  collect(parsed.tree, places)
  const { tree } = parsed
  const fails = isSure(tree) ? "never" : isPlain(tree) ? "plainly" : "somehow"
  return { places: [...places], fails, isWord: isWord(tree) }
}

/** Collects the places that a tree reads. A chain is one place, not one for each part. */
function collect(node: TreeNode, places: Set<Place>): void {
  const chain = chainOf(node)
  if (chain === undefined) {
    for (const child of childrenOf(node)) collect(child, places)
    return
  }
  for (const place of placesOf(chain)) places.add(place)
  for (const argument of chain.arguments) collect(argument, places)
}

/** `request.header("x")`, `var.a`, `jwt`: a name of the context and the first member that the expression accesses. */
interface Chain {
  readonly object: string
  readonly member: string | undefined
  readonly isMethod: boolean
  readonly arguments: readonly TreeNode[]
}

/** The chain of a node, if it is one. Deeper fields of the value are no longer part of the context. */
function chainOf(node: TreeNode): Chain | undefined {
  if (node.kind === "name") return { object: node.name, member: undefined, isMethod: false, arguments: [] }
  if (node.kind === "select" && node.operand.kind === "name")
    return { object: node.operand.name, member: node.field, isMethod: false, arguments: [] }
  if (node.kind === "call" && node.form === "method" && node.target?.kind === "name")
    return { object: node.target.name, member: node.name, isMethod: true, arguments: node.args }
  if (node.kind === "call" && node.name === "[]" && node.args[0]?.kind === "name") {
    const [operand, index] = node.args
    const member = constantOf(index)
    return { object: operand.name, member, isMethod: false, arguments: index === undefined ? [] : [index] }
  }
  return undefined
}

/** The places of a chain that begins at a variable. */
function placesOf({ object, member, isMethod, arguments: [first] }: Chain): readonly Place[] {
  switch (object) {
    case "request":
      return isMethod ? requestMethod(member, constantOf(first)) : requestField(member)
    case "query":
      return member === undefined ? ["request.query:*"] : [queryOf(member)]
    case "response":
      if (isMethod) return [headerOf("response", constantOf(first) ?? "*")]
      return responseField(member)
    case "var":
      return [`variable:${member ?? "*"}`]
    case "jwt":
      return ["caller"]
    case "subscription":
    case "product":
      return ["subscription"]
    case "error":
      return ["error"]
    case "now":
      return ["clock"]
    default:
      return []
  }
}

function requestMethod(method: string | undefined, name: string | undefined): readonly Place[] {
  if (method === "query" || method === "queries") return [queryOf(name ?? "*")]
  return [headerOf("request", method === "cookie" ? "cookie" : (name ?? "*"))]
}

function requestField(field: string | undefined): readonly Place[] {
  if (field === undefined) return everyPlace
  return fixedFields.has(field) ? [] : bodyRead("request")
}

function responseField(field: string | undefined): readonly Place[] {
  if (field === undefined) return everyPlace
  if (field === "status") return ["response.status"]
  return field === "reason" ? ["response.status", "response.reason"] : bodyRead("response")
}

function constantOf(node: TreeNode | undefined): string | undefined {
  return node?.kind === "literal" && typeof node.value === "string" ? node.value : undefined
}

const comparisons: ReadonlySet<string> = new Set(["==", "!=", "!", "in"])

function isComparison(node: TreeNode): boolean {
  return node.kind === "call" && node.form === "operator" && comparisons.has(node.name)
}

/** Whether it has a value for every request: everything it names always exists, and no operation on it can fail. */
function isSure(node: TreeNode): boolean {
  // `has(jwt.sub)` tests for presence and does not fail.
  if (node.kind === "select" && node.test && node.operand.kind === "name") return true
  const chain = chainOf(node)
  if (chain !== undefined) return isAlwaysThere(chain)
  switch (node.kind) {
    case "literal":
      return true
    case "logic":
    case "conditional":
    case "list":
      return childrenOf(node).every(isSure)
    case "map":
      return hasOwnKeys(node) && node.entries.every(({ value }) => isSure(value))
    case "call":
      return isComparison(node) && childrenOf(node).every(isSure)
    default:
      return false
  }
}

/** A duplicate key is an error. */
function hasOwnKeys({ entries }: MapNode): boolean {
  const keys = entries.map(({ key }) => constantOf(key))
  return !keys.includes(undefined) && new Set(keys).size === keys.length
}

/** Whether reading the chain can never fail for a missing value. */
function isAlwaysThere({ object, member, isMethod, arguments: args }: Chain): boolean {
  if (member === undefined) return false
  if (object === "request")
    return isMethod ? args.every((each) => constantOf(each) !== undefined) : fixedFields.has(member)
  if (object === "response")
    return isMethod
      ? args.every((each) => constantOf(each) !== undefined)
      : member === "status" || member === "reason"
  // A route has a value for each of its path parameters; an error has all its fields.
  return fixedObjects.has(object) || object === "path" || object === "error"
}

/** Whether it consists only of names, comparisons and logic, which cost next to nothing. Reading a body can fail in other ways. */
function isPlain(node: TreeNode): boolean {
  const chain = chainOf(node)
  if (chain !== undefined)
    return !placesOf(chain).some((place) => place.endsWith(".body")) && chain.arguments.every(isPlain)
  if (node.kind === "loop") return false
  if (node.kind === "call" && !isComparison(node)) return false
  return childrenOf(node).every(isPlain)
}

function isWord(node: TreeNode): boolean {
  const chain = chainOf(node)
  if (chain?.member === undefined || chain.isMethod) return false
  return fixedObjects.has(chain.object) || (chain.object === "request" && wordFields.has(chain.member))
}

/** The parts of the text that an expression yields. The result of an escaping function and a number are not raw. Empty for an invalid expression. */
export function rawParts(source: string, environment: Environment): readonly RawPart[] {
  const checked = checkSource(source, environment)
  return checked.ok ? partsOf(checked.tree, checked.references) : []
}

/** The parts of a text: constants, and what is inserted. */
function partsOf(node: TreeNode, references: readonly VariableReference[]): RawPart[] {
  if (node.kind === "literal" && typeof node.value === "string") return [{ literal: node.value }]
  if (node.kind === "call" && node.form === "operator" && node.name === "+")
    return node.args.flatMap((each) => partsOf(each, references))
  return leavesOf(node).map((leaf): RawPart => {
    if (leaf.kind === "literal") return { literal: String(leaf.value) }
    return { raw: references.filter(({ start, end }) => leaf.start <= start && end <= leaf.end) }
  })
}

/** The parts of an expression whose values can appear in its result, including text literals. */
function leavesOf(node: TreeNode): readonly TreeNode[] {
  if (harmless.has(node.type.text)) return []
  if (node.kind === "conditional") return [...leavesOf(node.whenTrue), ...leavesOf(node.whenFalse)]
  if (node.kind === "call") {
    if (escaping.has(node.namespaced ?? node.name)) return []
    const children = childrenOf(node)
    // A method of an object, such as `request.header("X")`, reads the object.
    return children.length === 0 ? [node] : children.flatMap(leavesOf)
  }
  if (node.kind === "literal") return typeof node.value === "string" ? [node] : []
  return node.kind === "name" || node.kind === "select" ? [node] : childrenOf(node).flatMap(leavesOf)
}
