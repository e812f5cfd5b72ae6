import { invalidOperation } from "../errors.ts"
import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"
import { nodeText } from "../xml-path.ts"
import { XDocument, XElement, type XNode, XText } from "../xml-tree.ts"
import { writeXml } from "../xml-write.ts"
import { declareEnum } from "./object.ts"
import { nameOf, readDocument } from "./xml-common.ts"
import { NameTable } from "./xml-names.ts"

interface Event {
  readonly node: XNode
  readonly kind: "Element" | "EndElement" | "Text" | "Comment"
  readonly depth: number
}

/** XmlReader over a parsed document: its nodes in document order. */
export class Reader extends CsObject {
  readonly typeName = "System.Xml.XmlReader"
  readonly events: readonly Event[]
  at = -1
  /** Lists all events at once: a reader over a finished tree needs no parser of its own. */
  constructor(from: XNode) {
    super()
    const events: Event[] = []
    const walk = (node: XNode, depth: number): void => {
      if (node instanceof XElement) {
        events.push({ node, kind: "Element", depth })
        for (const child of node.nodes) walk(child, depth + 1)
        if (node.nodes.length > 0) events.push({ node, kind: "EndElement", depth })
      } else events.push({ node, kind: node instanceof XText ? "Text" : "Comment", depth })
    }
    for (const node of from instanceof XDocument ? from.nodes : [from]) walk(node, 0)
    this.events = events
  }
  get current(): Event | undefined {
    return this.events[this.at]
  }
  read(): boolean {
    if (this.at < this.events.length) this.at++
    return this.current !== undefined
  }
  /** Returns the current node and moves to the one after it. */
  take(): XNode {
    const { current } = this
    if (current === undefined) throw invalidOperation("The XmlReader state should be Interactive.")
    do this.at++
    while (this.current !== undefined && this.current.depth > current.depth)
    if (this.current?.kind === "EndElement" && this.current.node === current.node) this.at++
    return current.node.copy()
  }
  toContent(): void {
    if (this.at < 0) this.at = 0
    while (this.current?.kind === "Comment") this.at++
  }
}

class TextSource extends CsObject {
  readonly typeName = "System.IO.StringReader"
  readonly source: string
  constructor(source: string) {
    super()
    this.source = source
  }
}

/** `XmlReader` over a text or a node. */
export function declareReader(): void {
  declareType(
    "StringReader",
    { bases: ["IDisposable"], holds: (value) => value instanceof TextSource },
    {
      "new(string text): StringReader": (text: string) => new TextSource(text),
      "ReadToEnd(): string": (self: TextSource) => self.source,
    },
  )
  const byKind = declareEnum("XmlNodeType", "System.Xml", {
    None: 0,
    Element: 1,
    Text: 3,
    Comment: 8,
    EndElement: 15,
  })
  declareType(
    "XmlReader",
    { bases: ["IDisposable"], holds: (value) => value instanceof Reader },
    {
      "static Create(StringReader source): XmlReader": (source: TextSource) =>
        new Reader(readDocument(source.source)),
      "Read(): bool": (self: Reader) => self.read(),
      "MoveToContent(): XmlNodeType": (self: Reader) => {
        self.toContent()
        return byKind.get(self.current?.kind ?? "None")
      },
      "NameTable: XmlNameTable": () => new NameTable(),
      "EOF: bool": (self: Reader) => self.at >= self.events.length,
      "Name: string": (self: Reader) => (self.current === undefined ? "" : nameOf(self.current.node)),
      "LocalName: string": (self: Reader) =>
        self.current?.node instanceof XElement ? self.current.node.name.local : "",
      "Value: string": (self: Reader) => (self.current?.node instanceof XText ? self.current.node.value : ""),
      "NodeType: XmlNodeType": (self: Reader) => byKind.get(self.current?.kind ?? "None"),
      "Depth: int": (self: Reader) => self.current?.depth ?? 0,
      "GetAttribute(string name): string": (self: Reader, name: string) =>
        self.current?.node instanceof XElement
          ? (self.current.node.attributes.find((item) => nameOf(item) === name)?.value ?? null)
          : null,
      "ReadElementContentAsString(): string": (self: Reader) => nodeText(self.take()),
      "ReadInnerXml(): string": (self: Reader) =>
        (self.take() as XElement).nodes.map((node) => writeXml(node, false)).join(""),
      "ReadOuterXml(): string": (self: Reader) => writeXml(self.take(), false),
      "ReadToFollowing(string name): bool": (self: Reader, name: string) => {
        while (self.read())
          if (self.current?.kind === "Element" && nameOf(self.current.node) === name) return true
        return false
      },
      "Skip(): void": (self: Reader) => {
        self.take()
      },
    },
  )
}
