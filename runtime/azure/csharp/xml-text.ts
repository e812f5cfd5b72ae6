import {
  parseXml as parse,
  XmlCdata,
  XmlComment,
  XmlElement,
  XmlError,
  type XmlNode,
  XmlText,
} from "@rgrove/parse-xml"
import { CsException } from "./errors.ts"
import { charge, chargeItems } from "./run.ts"

/** Parsing XML takes 0.2 µs per character: one evaluation can parse about 75,000. */
const stepsOfCharacter = 4

import {
  XAttribute,
  XCData,
  XComment,
  type XContainer,
  XDocument,
  XElement,
  XName,
  XText,
  xmlnsUri,
} from "./xml-tree.ts"
import { xmlDepthMax, xmlUri } from "./xml-write.ts"

/**
 * Parses a document. It does not read a document type, so that only the five predefined entities exist. White space between elements is dropped unless
 * `keepSpace`. @throws XmlException
 */
export function parseDocument(text: string, keepSpace: boolean): XDocument {
  charge(text.length * stepsOfCharacter)
  // The parser is recursive: the depth is checked first, to avoid a stack overflow.
  refuseDepth(text)
  const document = new XDocument()
  for (const node of parsed(text.replace(/^\ufeff/, "")).children) build(node, document, new Map(), keepSpace)
  return document
}

/** Document types are refused: entities can multiply a text (“billion laughs”) or name files. */
function parsed(text: string): { readonly children: readonly XmlNode[] } {
  if (/<!DOCTYPE/i.test(text))
    throw new CsException("XmlException", "For security reasons DTD is prohibited in this XML document.")
  try {
    return parse(text, { preserveCdata: true, preserveComments: true })
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    const [reason = ""] = error.message.split("\n")
    throw new CsException("XmlException", reason)
  }
}

/** The parser recurses for each level, so the depth is checked before it runs. */
function refuseDepth(text: string): void {
  let depth = 0
  for (const [tag] of text.matchAll(/<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\/?[^\s<>!?/][^<>]*>/g)) {
    if (tag.startsWith("<!")) continue
    if (tag.startsWith("</")) depth--
    else if (!tag.endsWith("/>")) depth++
    if (depth > xmlDepthMax)
      throw new CsException("XmlException", `The XML is nested deeper than ${xmlDepthMax} elements.`)
  }
}

/** White space between elements is kept only if the document asks for it, as `LoadOptions.PreserveWhitespace` does. */
function build(
  node: XmlNode,
  into: XContainer,
  scope: ReadonlyMap<string, string>,
  keepSpace: boolean,
): void {
  chargeItems(1)
  if (node instanceof XmlCdata) into.add(new XCData(node.text))
  else if (node instanceof XmlText) {
    const blank = node.text.trim() === ""
    if (!blank || (keepSpace && into instanceof XElement) || node.parent?.children.length === 1)
      if (into instanceof XElement) into.add(new XText(node.text))
  } else if (node instanceof XmlComment) into.add(new XComment(node.content))
  else if (node instanceof XmlElement) into.add(element(node, scope, keepSpace))
}

/** Declarations of an element apply to its own name and to its attributes, so they are read first. */
function element(node: XmlElement, outer: ReadonlyMap<string, string>, keepSpace: boolean): XElement {
  const scope = new Map(outer)
  const attributes = Object.entries(node.attributes)
  for (const [name, value] of attributes) {
    if (name === "xmlns") scope.set("", value)
    else if (name.startsWith("xmlns:")) scope.set(name.slice(6), value)
  }
  const made = new XElement(resolve(node.name, scope, true))
  for (const [name, value] of attributes)
    made.addAttribute(new XAttribute(resolve(name, scope, false), value))
  for (const child of node.children) build(child, made, scope, keepSpace)
  return made
}

/** The default namespace applies to elements only (Namespaces in XML 1.0, section 6.2). */
function resolve(name: string, scope: ReadonlyMap<string, string>, isElement: boolean): XName {
  const colon = name.indexOf(":")
  if (colon < 0) return new XName(isElement ? (scope.get("") ?? "") : "", name)
  const [prefix, local] = [name.slice(0, colon), name.slice(colon + 1)]
  if (prefix === "xmlns") return new XName(xmlnsUri, local)
  const uri = prefix === "xml" ? xmlUri : scope.get(prefix)
  if (uri === undefined) throw new CsException("XmlException", `'${prefix}' is an undeclared prefix.`)
  return new XName(uri, local)
}
