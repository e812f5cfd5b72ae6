import { CsException, invalidOperation } from "./errors.ts"
import { chargeItems, chargeText } from "./run.ts"
import { CsObject } from "./values.ts"
import { writeXml } from "./xml-write.ts"

export const xmlnsUri = "http://www.w3.org/2000/xmlns/"

/** XNamespace: equal if the URIs are equal. */
export class XNamespace extends CsObject {
  readonly typeName = "System.Xml.Linq.XNamespace"
  readonly uri: string

  constructor(uri: string) {
    super()
    this.uri = uri
  }
  override text(): string {
    return this.uri
  }
  override same(other: unknown): boolean {
    return other instanceof XNamespace && other.uri === this.uri
  }
  override hash(): unknown {
    return `ns:${this.uri}`
  }
}

/** XName: `{uri}local`. */
export class XName extends CsObject {
  readonly typeName = "System.Xml.Linq.XName"
  readonly uri: string
  readonly local: string

  constructor(uri: string, local: string) {
    super()
    this.uri = uri
    this.local = local
  }
  /** `local` or `{uri}local`. @throws XmlException for an invalid name */
  static parse(text: string): XName {
    const found = /^(?:\{([^}]*)\})?([^{}]*)$/.exec(text)
    if (found === null || !isXmlName(found[2] as string))
      throw new CsException("XmlException", `The name '${text.slice(0, 100)}' cannot be used in XML.`)
    return new XName(found[1] ?? "", found[2] as string)
  }
  override text(): string {
    return this.uri === "" ? this.local : `{${this.uri}}${this.local}`
  }
  override same(other: unknown): boolean {
    return other instanceof XName && other.uri === this.uri && other.local === this.local
  }
  override hash(): unknown {
    return `name:${this.text()}`
  }
}

/** An XML name without colons. */
function isXmlName(text: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_.\-·\p{M}]*$/u.test(text)
}

/** An attribute; declarations of namespaces are attributes too, as in .NET. */
export class XAttribute extends CsObject {
  readonly typeName = "System.Xml.Linq.XAttribute"
  readonly name: XName
  value: string
  parent: XElement | null = null

  constructor(name: XName, value: string) {
    super()
    this.name = name
    this.value = value
  }
  get isDeclaration(): boolean {
    return this.name.uri === xmlnsUri || (this.name.uri === "" && this.name.local === "xmlns")
  }
  override text(): string {
    return `${this.name.local}="${this.value}"`
  }
  remove(): void {
    this.parent?.attributes.splice(this.parent.attributes.indexOf(this), 1)
    this.parent = null
  }
}

/** A possible child of an element or a document. */
export abstract class XNode extends CsObject {
  parent: XContainer | null = null
  abstract copy(): XNode
  override text(): string {
    return writeXml(this, true)
  }
  remove(): void {
    if (this.parent === null) throw invalidOperation("The parent is missing.")
    this.parent.nodes.splice(this.parent.nodes.indexOf(this), 1)
    this.parent = null
  }
  /** Whether another node has the same content: names, attributes in order, children. */
  deepEquals(other: XNode): boolean {
    return writeXml(this, false) === writeXml(other, false)
  }
  /** The node itself if it has no parent, otherwise a copy, as in .NET when an object is added to a second tree. */
  free(): this {
    chargeItems(1)
    return this.parent === null ? this : (this.copy() as this)
  }
}

export class XText extends XNode {
  readonly typeName: string = "System.Xml.Linq.XText"
  value: string
  constructor(value: string) {
    super()
    this.value = value
  }
  copy(): XNode {
    return new XText(this.value)
  }
}

export class XCData extends XText {
  override readonly typeName: string = "System.Xml.Linq.XCData"
  override copy(): XNode {
    return new XCData(this.value)
  }
}

export class XComment extends XNode {
  readonly typeName = "System.Xml.Linq.XComment"
  value: string
  constructor(value: string) {
    super()
    this.value = value
  }
  copy(): XNode {
    return new XComment(this.value)
  }
}

/** A node with children: a document or an element. */
export abstract class XContainer extends XNode {
  readonly nodes: XNode[] = []

  add(node: XNode): void {
    for (let at: XNode | null = this; at !== null; at = at.parent)
      if (at === node) throw invalidOperation("An element cannot contain itself.")
    const free = node.free()
    free.parent = this
    this.nodes.push(free)
  }
  childElements(): XElement[] {
    chargeItems(this.nodes.length)
    return this.nodes.filter((node) => node instanceof XElement)
  }
  /** All descendants in document order. */
  descendants(): XNode[] {
    const found: XNode[] = []
    const waiting: XNode[] = this.nodes.toReversed()
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      chargeItems(1)
      found.push(node)
      if (node instanceof XContainer)
        for (let at = node.nodes.length - 1; at >= 0; at--) waiting.push(node.nodes[at] as XNode)
    }
    return found
  }
  get content(): string {
    const text = this.descendants()
      .map((node) => (node instanceof XText ? node.value : ""))
      .join("")
    chargeText(text.length)
    return text
  }
}

/** An element. Its attributes keep the order of the document. */
export class XElement extends XContainer {
  readonly typeName = "System.Xml.Linq.XElement"
  name: XName
  readonly attributes: XAttribute[] = []

  constructor(name: XName) {
    super()
    this.name = name
  }
  attribute(name: XName): XAttribute | null {
    return this.attributes.find((attribute) => attribute.name.same(name)) ?? null
  }
  addAttribute(attribute: XAttribute): void {
    if (this.attribute(attribute.name) !== null) throw invalidOperation("Duplicate attribute.")
    chargeItems(1)
    const free = attribute.parent === null ? attribute : new XAttribute(attribute.name, attribute.value)
    free.parent = this
    this.attributes.push(free)
  }
  copy(): XNode {
    const made = new XElement(this.name)
    for (const attribute of this.attributes) made.addAttribute(attribute)
    for (const node of this.nodes) made.add(node)
    return made
  }
}

/** A document. Comments may stand before and after its root. */
export class XDocument extends XContainer {
  readonly typeName = "System.Xml.Linq.XDocument"
  get root(): XElement | null {
    return this.nodes.find((node) => node instanceof XElement) ?? null
  }
  copy(): XNode {
    const made = new XDocument()
    for (const node of this.nodes) made.add(node)
    return made
  }
}
