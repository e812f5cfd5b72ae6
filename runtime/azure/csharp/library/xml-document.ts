import { CsList } from "../collections.ts"
import { declareType } from "../table.ts"
import { followPath, nodeText } from "../xml-path.ts"
import { parseDocument } from "../xml-text.ts"
import { XAttribute, XContainer, XDocument, XElement, XNode } from "../xml-tree.ts"
import { writeXml } from "../xml-write.ts"
import { elementsBelow, nameOf, setValue } from "./xml-common.ts"
import { declareNames, type Names, NameTable } from "./xml-names.ts"
import { declareReader } from "./xml-reader.ts"

type Row = (...values: never[]) => unknown

const noPrefixes = new Map<string, string>()

/** XmlDocument: a document whose content is loaded later. */
class XmlDocument extends XDocument {
  preserve = false
  load(text: string): void {
    for (const node of [...this.nodes]) node.remove()
    for (const node of [...parseDocument(text, this.preserve).nodes]) {
      node.remove()
      this.add(node)
    }
  }
}

/** Members of a node and its paths, for XmlNode and XmlDocument. */
const xmlNodeRows: Record<string, Row> = {
  "SelectSingleNode(string path): XmlNode": (self: XContainer, path: string) =>
    followPath(self, path, noPrefixes)[0] ?? null,
  "SelectSingleNode(string path, XmlNamespaceManager names): XmlNode": (
    self: XContainer,
    path: string,
    names: Names,
  ) => followPath(self, path, names.prefixes)[0] ?? null,
  "SelectNodes(string path): XmlNodeList": (self: XContainer, path: string) =>
    new CsList(followPath(self, path, noPrefixes)),
  "SelectNodes(string path, XmlNamespaceManager names): XmlNodeList": (
    self: XContainer,
    path: string,
    names: Names,
  ) => new CsList(followPath(self, path, names.prefixes)),
  "InnerText: string": (self: XNode) => nodeText(self),
  "set InnerText: string": (self: XElement, value: string) => setValue(self, value),
  "Value: string": (self: XNode) => (self instanceof XContainer ? null : nodeText(self)),
  "InnerXml: string": (self: XContainer) => self.nodes.map((node) => writeXml(node, false)).join(""),
  "OuterXml: string": (self: XNode) => writeXml(self, false),
  "Name: string": nameOf,
  "LocalName: string": (self: XElement) => self.name?.local ?? nameOf(self),
  "NamespaceURI: string": (self: XElement) => self.name?.uri ?? "",
  "ChildNodes: XmlNodeList": (self: XContainer) => new CsList([...self.nodes]),
  "HasChildNodes: bool": (self: XContainer) => self.nodes.length > 0,
  "FirstChild: XmlNode": (self: XContainer) => self.nodes[0] ?? null,
  "LastChild: XmlNode": (self: XContainer) => self.nodes.at(-1) ?? null,
  "ParentNode: XmlNode": (self: XNode) => self.parent,
  "Attributes: XmlAttributeCollection": (self: XElement) => new CsList([...self.attributes]),
  "this[string name]: XmlNode": (self: XContainer, name: string) =>
    self.childElements().find((child) => nameOf(child) === name) ?? null,
  "GetAttribute(string name): string": (self: XElement, name: string) =>
    self.attributes.find((item) => nameOf(item) === name)?.value ?? "",
  "GetElementsByTagName(string name): XmlNodeList": (self: XContainer, name: string) =>
    new CsList(elementsBelow(self).filter((element) => name === "*" || nameOf(element) === name)),
}

/** The older XML API of .NET, over the same tree as LINQ to XML. */
export function declareXmlDocument(): void {
  declareType(
    "XmlNode",
    { holds: (value) => value instanceof XNode || value instanceof XAttribute },
    xmlNodeRows,
  )
  declareType("XmlElement", { bases: ["XmlNode"], holds: (value) => value instanceof XElement }, {})
  declareType(
    "XmlAttribute",
    { bases: ["XmlNode"], holds: (value) => value instanceof XAttribute },
    {
      "Value: string": (self: XAttribute) => self.value,
      "InnerText: string": (self: XAttribute) => self.value,
    },
  )
  declareType(
    "XmlDocument",
    { bases: ["XmlNode"], holds: (value) => value instanceof XmlDocument },
    {
      "new(): XmlDocument": () => new XmlDocument(),
      "LoadXml(string text): void": (self: XmlDocument, text: string) => self.load(text),
      "DocumentElement: XmlElement": (self: XmlDocument) => self.root,
      "PreserveWhitespace: bool": (self: XmlDocument) => self.preserve,
      "set PreserveWhitespace: bool": (self: XmlDocument, preserve: boolean) => {
        self.preserve = preserve
      },
      "NameTable: XmlNameTable": () => new NameTable(),
    },
  )
  for (const [name, element] of [
    ["XmlNodeList", "XmlNode"],
    ["XmlAttributeCollection", "XmlAttribute"],
  ] as const)
    declareType(
      name,
      { bases: [`IEnumerable<${element}>`] },
      {
        "Count: int": (self: CsList) => self.items.length,
        [`this[int index]: ${element}`]: (self: CsList, index: number) => self.items[index] ?? null,
        [`Item(int index): ${element}`]: (self: CsList, index: number) => self.items[index] ?? null,
        [`this[string name]: ${element}`]: (self: CsList, name: string) =>
          self.items.find((item) => nameOf(item) === name) ?? null,
      },
    )
  declareNames()
  declareReader()
}
