import type { CsEnum } from "../collections.ts"
import { CsList } from "../collections.ts"
import { argument, invalidOperation } from "../errors.ts"
import { chargeItems } from "../run.ts"
import { declareType } from "../table.ts"
import { elementsOf, toText } from "../values.ts"
import { XAttribute, type XContainer, XDocument, XElement, type XName, XNode, XText } from "../xml-tree.ts"
import { writeXml } from "../xml-write.ts"
import { ancestors, elementsBelow } from "./xml-common.ts"
import { pathRows } from "./xml-names.ts"
import { Reader } from "./xml-reader.ts"

type Row = (...values: never[]) => unknown

/** Appends content: nodes, attributes and sequences of them; everything else as text. */
export function append(self: XContainer, content: unknown): void {
  if (content === null || content === undefined) return
  if (content instanceof XAttribute) {
    if (!(self instanceof XElement)) throw argument("An attribute cannot be added to content.")
    self.addAttribute(content)
  } else if (content instanceof XDocument) {
    for (const node of [...content.nodes]) self.add(node)
  } else if (content instanceof XNode) self.add(content)
  else if (Array.isArray(content) || content instanceof CsList)
    for (const item of elementsOf(content)) append(self, item)
  else self.add(new XText(toText(content)))
}

/** Inserts content into the nodes of a container, after the first `at` nodes. */
function insert(self: XContainer, at: number, content: readonly unknown[]): void {
  const { length } = self.nodes
  append(self, content)
  const added = self.nodes.splice(length)
  chargeItems(length - at)
  self.nodes.splice(at, 0, ...added)
}

function removeNodes(self: XContainer): void {
  chargeItems(self.nodes.length)
  for (const node of self.nodes) node.parent = null
  self.nodes.length = 0
}

function placeOf(self: XNode): { parent: XContainer; at: number } {
  const { parent } = self
  if (parent === null) throw invalidOperation("The parent is missing.")
  chargeItems(parent.nodes.length)
  return { parent, at: parent.nodes.indexOf(self) }
}

/** The nodes before and after a node; empty without a parent. */
function around(self: XNode): { before: XNode[]; after: XNode[] } {
  if (self.parent === null) return { before: [], after: [] }
  const { parent, at } = placeOf(self)
  return { before: parent.nodes.slice(0, at), after: parent.nodes.slice(at + 1) }
}

const isElement = (node: XNode): node is XElement => node instanceof XElement

export const called =
  (name: XName) =>
  (element: XElement): boolean =>
    element.name.same(name)

/** Members of all nodes. A node that is added elsewhere is copied if it still has a parent, as in .NET. */
const nodeRows: Record<string, Row> = {
  "Parent: XElement": (self: XNode) => (self.parent instanceof XElement ? self.parent : null),
  "Document: XDocument": (self: XNode) => {
    let at: XNode = self
    while (at.parent !== null) at = at.parent
    return at instanceof XDocument ? at : null
  },
  "Remove(): void": (self: XNode) => self.remove(),
  "ReplaceWith(params object[] content): void": (self: XNode, content: readonly unknown[]) => {
    const { parent, at } = placeOf(self)
    self.remove()
    insert(parent, at, content)
  },
  "AddAfterSelf(params object[] content): void": (self: XNode, content: readonly unknown[]) => {
    const { parent, at } = placeOf(self)
    insert(parent, at + 1, content)
  },
  "AddBeforeSelf(params object[] content): void": (self: XNode, content: readonly unknown[]) => {
    const { parent, at } = placeOf(self)
    insert(parent, at, content)
  },
  "NextNode: XNode": (self: XNode) => around(self).after[0] ?? null,
  "PreviousNode: XNode": (self: XNode) => around(self).before.at(-1) ?? null,
  "NodesAfterSelf(): IEnumerable<XNode>": (self: XNode) => around(self).after,
  "NodesBeforeSelf(): IEnumerable<XNode>": (self: XNode) => around(self).before,
  "ElementsAfterSelf(): IEnumerable<XElement>": (self: XNode) => around(self).after.filter(isElement),
  "ElementsAfterSelf(XName name): IEnumerable<XElement>": (self: XNode, name: XName) =>
    around(self).after.filter(isElement).filter(called(name)),
  "ElementsBeforeSelf(): IEnumerable<XElement>": (self: XNode) => around(self).before.filter(isElement),
  "ElementsBeforeSelf(XName name): IEnumerable<XElement>": (self: XNode, name: XName) =>
    around(self).before.filter(isElement).filter(called(name)),
  "static DeepEquals(XNode one, XNode other): bool": (one: XNode | null, other: XNode | null) =>
    one === null || other === null ? one === other : one.deepEquals(other),
  "Ancestors(): IEnumerable<XElement>": (self: XNode) => ancestors(self),
  "Ancestors(XName name): IEnumerable<XElement>": ancestors,
  "ToString(SaveOptions options): string": (self: XNode, options: CsEnum) =>
    writeXml(self, !options.has("DisableFormatting")),
  ...pathRows,
  "CreateReader(): XmlReader": (self: XNode) => new Reader(self),
  "static ReadFrom(XmlReader reader): XNode": (reader: Reader) => reader.take(),
}

const containerRows: Record<string, Row> = {
  "Add(params object[] content): void": (self: XContainer, content: readonly unknown[]) => {
    for (const item of content) append(self, item)
  },
  "AddFirst(params object[] content): void": (self: XContainer, content: readonly unknown[]) =>
    insert(self, 0, content),
  "ReplaceNodes(params object[] content): void": (self: XContainer, content: readonly unknown[]) => {
    removeNodes(self)
    append(self, content)
  },
  "Element(XName name): XElement": (self: XContainer, name: XName) =>
    self.childElements().find(called(name)) ?? null,
  "Elements(): XElements": (self: XContainer) => self.childElements(),
  "Elements(XName name): XElements": (self: XContainer, name: XName) =>
    self.childElements().filter(called(name)),
  "Descendants(): XElements": elementsBelow,
  "Descendants(XName name): XElements": (self: XContainer, name: XName) =>
    elementsBelow(self).filter(called(name)),
  "DescendantNodes(): IEnumerable<XNode>": (self: XContainer) => self.descendants(),
  "DescendantNodesAndSelf(): IEnumerable<XNode>": (self: XContainer) => [self, ...self.descendants()],
  "Nodes(): IEnumerable<XNode>": (self: XContainer) => [...self.nodes],
  "FirstNode: XNode": (self: XContainer) => self.nodes[0] ?? null,
  "LastNode: XNode": (self: XContainer) => self.nodes.at(-1) ?? null,
  "RemoveNodes(): void": removeNodes,
}

/** A member of node and attribute sequences: removes each item from its parent. */
function removeAll(self: unknown): void {
  for (const item of [...elementsOf(self)]) (item as XNode | XAttribute).remove()
}

/** Members for all elements of a list (`System.Xml.Linq.Extensions`). */
const elementListRows: Record<string, Row> = {
  "Elements(): XElements": (self: unknown) => ofEach(self, (element) => element.childElements()),
  "Elements(XName name): XElements": (self: unknown, name: XName) =>
    ofEach(self, (element) => element.childElements().filter(called(name))),
  "Descendants(): XElements": (self: unknown) => ofEach(self, elementsBelow),
  "Descendants(XName name): XElements": (self: unknown, name: XName) =>
    ofEach(self, (element) => elementsBelow(element).filter(called(name))),
  "Nodes(): IEnumerable<XNode>": (self: unknown) => ofEach(self, ({ nodes }) => nodes),
  "DescendantsAndSelf(): XElements": (self: unknown) =>
    ofEach(self, (element) => [element, ...elementsBelow(element)]),
  "Attributes(): IEnumerable<XAttribute>": (self: unknown) => ofEach(self, ({ attributes }) => attributes),
  "Attributes(XName name): IEnumerable<XAttribute>": (self: unknown, name: XName) =>
    ofEach(self, (element) => {
      const found = element.attribute(name)
      return found === null ? [] : [found]
    }),
}

function ofEach<Item>(self: unknown, inside: (element: XElement) => readonly Item[]): Item[] {
  return elementsOf(self).flatMap((element) => inside(element as XElement))
}

/** Nodes and containers, and the members of System.Xml.Linq.Extensions for sequences of them. */
export function declareNodes(): void {
  declareType("XObject", { holds: (value) => value instanceof XNode || value instanceof XAttribute }, {})
  declareType("XNode", { bases: ["XObject"], holds: (value) => value instanceof XNode }, nodeRows)
  declareType(
    "XContainer",
    { bases: ["XNode"], holds: (value) => value instanceof XElement || value instanceof XDocument },
    containerRows,
  )
  declareType("XElements", { bases: ["IEnumerable<XElement>"], ofSequencesOf: "XElement" }, elementListRows)
  declareType("XNodes", { ofSequencesOf: "XNode" }, { "Remove(): void": removeAll })
  declareType("XAttributes", { ofSequencesOf: "XAttribute" }, { "Remove(): void": removeAll })
}
