import { checkSource } from "./check-source.ts"
import type { Environment } from "./environment.ts"
import type { VariableReference } from "./finding.ts"
import { childrenOf, type TreeNode } from "./syntax-tree.ts"

/** A stretch of the text that an expression makes: what it says itself, or a value with what it reads that may come out as it is. */
export type RawPart = { readonly literal: string } | { readonly raw: readonly VariableReference[] }

/** Functions and methods whose outcome has no character that could end a place in a URL, a form or markup. */
const escaping: ReadonlySet<string> = new Set([
  ...["xmlEscape", "urlEncode", "percentEncode", "base64.encode", "hex", "sha256", "hmac", "uuid"],
])

/** Types whose texts have digits, letters, `:`, `.`, `+` and `-` only. */
const harmless: ReadonlySet<string> = new Set(["int", "uint", "double", "bool", "timestamp", "duration"])

/** The text an expression makes, in stretches: what it reads through an escaping function, or as a number, is not raw. None where the expression is wrong. */
export function rawParts(source: string, environment: Environment): readonly RawPart[] {
  const checked = checkSource(source, environment)
  return checked.ok ? partsOf(checked.tree, checked.references) : []
}

function partsOf(node: TreeNode, references: readonly VariableReference[]): RawPart[] {
  if (node.kind === "literal" && typeof node.value === "string") return [{ literal: node.value }]
  if (node.kind === "call" && node.form === "operator" && node.name === "+")
    return node.args.flatMap((each) => partsOf(each, references))
  return leavesOf(node).map((leaf): RawPart => {
    if (leaf.kind === "literal") return { literal: String(leaf.value) }
    return { raw: references.filter(({ start, end }) => leaf.start <= start && end <= leaf.end) }
  })
}

/** The parts of an expression whose values may come out of it, texts it says itself among them. */
function leavesOf(node: TreeNode): readonly TreeNode[] {
  if (harmless.has(node.type.text)) return []
  if (node.kind === "conditional") return [...leavesOf(node.whenTrue), ...leavesOf(node.whenFalse)]
  if (node.kind === "call") {
    if (escaping.has(node.namespaced ?? node.name)) return []
    const children = childrenOf(node)
    // A method of an object, as `request.header("X")`, reads the object.
    return children.length === 0 ? [node] : children.flatMap(leavesOf)
  }
  if (node.kind === "literal") return typeof node.value === "string" ? [node] : []
  return node.kind === "name" || node.kind === "select" ? [node] : childrenOf(node).flatMap(leavesOf)
}
