import { CsException } from "../errors.ts"
import { parseDocument } from "../xml-text.ts"
import {
  XAttribute,
  XComment,
  type XContainer,
  type XDocument,
  XElement,
  type XName,
  type XNode,
  XText,
} from "../xml-tree.ts"

/** Parses an XElement: the root of a text. @throws XmlException */
export function readElement(text: string): XElement {
  const { root } = parseDocument(text, false)
  if (root === null) throw new CsException("XmlException", "Root element is missing.")
  root.remove()
  return root
}

export function readDocument(text: string): XDocument {
  return parseDocument(text, false)
}

export function setValue(self: XElement, value: string): void {
  for (const node of [...self.nodes]) node.remove()
  if (value !== "") self.add(new XText(value))
}

export function ancestors(self: XNode, name?: XName): XElement[] {
  const found: XElement[] = []
  for (let at = self.parent; at !== null; at = at.parent)
    if (at instanceof XElement && (name === undefined || at.name.same(name))) found.push(at)
  return found
}

export const elementsBelow = (self: XContainer): XElement[] =>
  self.descendants().filter((node) => node instanceof XElement)

export function nameOf(node: unknown): string {
  if (node instanceof XElement || node instanceof XAttribute) {
    const element = node instanceof XElement ? node : node.parent
    const prefix = node.name.uri === "" || element === null ? "" : prefixOf(element, node.name.uri)
    return prefix === "" ? node.name.local : `${prefix}:${node.name.local}`
  }
  return node instanceof XText ? "#text" : node instanceof XComment ? "#comment" : "#document"
}

function prefixOf(element: XElement, uri: string): string {
  for (const at of [element, ...ancestors(element)])
    for (const item of at.attributes)
      if (item.isDeclaration && item.value === uri) return item.name.uri === "" ? "" : item.name.local
  return ""
}
