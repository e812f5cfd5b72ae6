import { CsLimitError } from "./errors.ts"
import { chargeItems, chargeText } from "./run.ts"

/** Limit on the nesting of elements in XML that is read or written. */
export const xmlDepthMax = 256

export const xmlUri = "http://www.w3.org/XML/1998/namespace"

interface Named {
  readonly uri: string
  readonly local: string
}

/** The written parts of a node: texts and comments have a value, elements a name and attributes; elements and documents have child nodes. */
interface WrittenNode {
  readonly typeName: string
  readonly value?: string
  readonly name?: Named
  readonly attributes?: readonly {
    readonly name: Named
    readonly value: string
    readonly isDeclaration: boolean
  }[]
  readonly nodes?: readonly WrittenNode[]
}

type WrittenElement = Required<Omit<WrittenNode, "value">>

// Distinguished by name, so that the tree can import this module.
const isElement = (node: WrittenNode): node is WrittenElement => node.typeName === "System.Xml.Linq.XElement"
const isText = (node: WrittenNode): boolean =>
  ["System.Xml.Linq.XText", "System.Xml.Linq.XCData"].includes(node.typeName)

/** Writes a node as XML: `indented` by two spaces unless an element contains text. A document is written without its declaration, like `ToString`. */
export function writeXml(node: WrittenNode, indented: boolean): string {
  const pieces: string[] = []
  // A node written alone declares its namespaces again.
  write(node, new Map([[xmlUri, "xml"]]), indented, 0, pieces)
  const text = pieces.join("")
  chargeText(text.length)
  return text
}

/** Appends pieces to `into`; they are joined once at the end. `scope` maps namespaces to prefixes. */
function write(
  node: WrittenNode,
  scope: ReadonlyMap<string, string>,
  indented: boolean,
  depth: number,
  into: string[],
): void {
  if (depth > xmlDepthMax) throw new CsLimitError("the XML is nested too deeply")
  chargeItems(1)
  if (node.typeName === "System.Xml.Linq.XCData") into.push(`<![CDATA[${node.value ?? ""}]]>`)
  else if (isText(node)) into.push(escapeText(node.value ?? ""))
  else if (node.typeName === "System.Xml.Linq.XComment") into.push(`<!--${node.value ?? ""}-->`)
  else if (node.typeName === "System.Xml.Linq.XDocument") {
    node.nodes?.forEach((child, index) => {
      if (index > 0 && indented) into.push("\n")
      write(child, scope, indented, depth, into)
    })
  } else if (isElement(node)) writeElement(node, scope, indented, depth, into)
}

/** An element with text is written without indentation: white space would become part of its content. */
function writeElement(
  node: WrittenElement,
  outer: ReadonlyMap<string, string>,
  indented: boolean,
  depth: number,
  into: string[],
): void {
  const { name, scope, attributes } = startTag(node, outer)
  into.push(`<${name}${attributes.join("")}`)
  if (node.nodes.length === 0) {
    into.push(" />")
    return
  }
  into.push(">")
  const pretty = indented && !node.nodes.some((child) => isText(child))
  for (const child of node.nodes) {
    if (pretty) into.push("\n", "  ".repeat(depth + 1))
    write(child, scope, pretty, depth + 1, into)
  }
  if (pretty) into.push("\n", "  ".repeat(depth))
  into.push(`</${name}>`)
}

/**
 * The name and the attributes as written, and the namespaces that apply below. A namespace without a prefix is declared where it is needed.
 */
function startTag(
  node: WrittenElement,
  outer: ReadonlyMap<string, string>,
): { name: string; scope: Map<string, string>; attributes: string[] } {
  const scope = new Map(outer)
  const attributes: string[] = []
  for (const attribute of node.attributes) {
    if (!attribute.isDeclaration) continue
    const prefix = attribute.name.uri === "" ? "" : attribute.name.local
    for (const [uri, other] of scope) if (other === prefix) scope.delete(uri)
    scope.set(attribute.value, prefix)
    attributes.push(` ${prefix === "" ? "xmlns" : `xmlns:${prefix}`}="${escapeAttribute(attribute.value)}"`)
  }
  const current = [...scope].find(([, prefix]) => prefix === "")?.[0] ?? ""
  let name = node.name.local
  if (node.name.uri !== current) {
    const prefix = scope.get(node.name.uri)
    if (prefix !== undefined && node.name.uri !== "") name = prefix === "" ? name : `${prefix}:${name}`
    else {
      if (current !== "") scope.delete(current)
      scope.set(node.name.uri, "")
      attributes.unshift(` xmlns="${escapeAttribute(node.name.uri)}"`)
    }
  }
  for (const attribute of node.attributes)
    if (!attribute.isDeclaration)
      attributes.push(
        ` ${attributeName(attribute.name, scope, attributes)}="${escapeAttribute(attribute.value)}"`,
      )
  return { name, scope, attributes }
}

/** Attributes without a prefix have no namespace, so one with a namespace gets a prefix, `p1` and so on. */
function attributeName(name: Named, scope: Map<string, string>, attributes: string[]): string {
  if (name.uri === "") return name.local
  let prefix = scope.get(name.uri)
  if (prefix === undefined || prefix === "") {
    const taken = new Set(scope.values())
    let count = 1
    while (taken.has(`p${count}`)) count++
    prefix = `p${count}`
    scope.set(name.uri, prefix)
    attributes.push(` xmlns:${prefix}="${escapeAttribute(name.uri)}"`)
  }
  return `${prefix}:${name.local}`
}

function escapeText(text: string): string {
  return text.replace(/[&<>]/g, (c) => (c === "&" ? "&amp;" : c === "<" ? "&lt;" : "&gt;"))
}

/** Line breaks and tabs are written as references: a parser would read them as spaces. */
function escapeAttribute(text: string): string {
  return text.replace(/[&<>"\r\n\t]/g, (c) =>
    c === "&"
      ? "&amp;"
      : c === "<"
        ? "&lt;"
        : c === ">"
          ? "&gt;"
          : c === '"'
            ? "&quot;"
            : `&#x${c.charCodeAt(0).toString(16).toUpperCase()};`,
  )
}
