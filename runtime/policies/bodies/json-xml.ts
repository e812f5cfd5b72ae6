import { grownBytesMax } from "./find-bytes.ts"
import { XmlProblem, xmlDepthMax } from "./xml-reading.ts"

/** How JSON is converted to a document. */
export interface JsonToXmlOptions {
  /** Dates are normalized: zeros at the end of the fraction are removed. */
  readonly parseDates: boolean
  /** Separates prefix and name in the names of members, instead of `:`. */
  readonly namespaceSeparator: string
  /** Members whose name is this prefix and the separator declare namespaces; usually `xmlns`. */
  readonly namespacePrefix: string | undefined
  /** The member that contains the attributes. */
  readonly attributeBlock: string | undefined
}

/** Name of the root element when the JSON does not have exactly one suitable member. */
const rootName = "Document"
/** Name of the items of an array without a name. */
const itemName = "item"

/**
 * Converts JSON to a document, the inverse of `jsonOfXml`: `@name` is an attribute, `#text` is text, an array repeats its element, null is an empty
 * element. Characters that XML names cannot contain become `_xHHHH_`.
 * @throws XmlProblem
 */
export function xmlOfJson(value: unknown, options: JsonToXmlOptions): Buffer {
  const writer = new Writer(options)
  const only = isObject(value) ? Object.entries(value) : []
  const [root] = only
  if (root !== undefined && only.length === 1 && !Array.isArray(root[1]) && !isAttribute(root[0], options))
    writer.element(root[0], root[1], new Set(), 1)
  else if (Array.isArray(value)) writer.element(rootName, { [itemName]: value }, new Set(), 1)
  else writer.element(rootName, value, new Set(), 1)
  return writer.bytes()
}

/** Output is encoded in pieces of this many characters: a string concatenated from millions of parts needs memory for each part. */
const pieceMax = 65_536

/** Writes XML in pieces: one growing text of many megabytes would be copied again and again. */
class Writer {
  #text = ""
  readonly #pieces: Buffer[] = []
  #bytes = 0
  readonly #options: JsonToXmlOptions

  constructor(options: JsonToXmlOptions) {
    this.#options = options
  }

  /** `prefixes`: declared by the elements around this one. */
  element(name: string, value: unknown, prefixes: ReadonlySet<string>, depth: number): void {
    if (depth > xmlDepthMax) throw new XmlProblem(`is more than ${xmlDepthMax} levels deep`)
    if (this.#text.length > pieceMax) this.#cut()
    if (Array.isArray(value)) {
      for (const item of value) this.element(name, item, prefixes, depth + 1)
      return
    }
    if (!isObject(value)) {
      const written = this.#name(name, prefixes)
      this.#text += value === null || value === undefined ? `<${written} />` : this.#leaf(written, value)
      return
    }
    const { attributes, children } = this.#split(value)
    const inside = new Set(prefixes)
    for (const [attribute] of attributes) {
      const prefix = /^xmlns:(.+)$/.exec(attribute)?.[1]
      if (prefix !== undefined) inside.add(prefix)
    }
    const written = this.#name(name, inside)
    this.#text += `<${written}`
    for (const [attribute, content] of attributes)
      this.#text += ` ${this.#name(attribute, inside)}="${escapeAttribute(this.#textOf(content))}"`
    if (children.length === 0) {
      this.#text += " />"
      return
    }
    this.#text += ">"
    for (const [child, content] of children) {
      if (child === "#text") this.#text += escapeText(this.#textOf(content))
      else this.element(child, content, inside, depth + 1)
    }
    this.#text += `</${written}>`
  }

  bytes(): Buffer {
    this.#cut()
    return Buffer.concat(this.#pieces)
  }

  #cut(): void {
    const piece = Buffer.from(this.#text)
    this.#text = ""
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (this.#bytes > grownBytesMax) throw new XmlProblem(`results in more than ${grownBytesMax} bytes`)
  }

  #leaf(name: string, value: unknown): string {
    return `<${name}>${escapeText(this.#textOf(value))}</${name}>`
  }

  /** Which members become attributes, by their block or prefix. */
  #split(value: Readonly<Record<string, unknown>>): {
    attributes: [string, unknown][]
    children: [string, unknown][]
  } {
    const attributes = new Map<string, unknown>()
    const children: [string, unknown][] = []
    for (const [name, content] of Object.entries(value)) {
      if (name === this.#options.attributeBlock && isObject(content))
        for (const [inner, text] of Object.entries(content)) attributes.set(this.#attribute(inner), text)
      else if (isAttribute(name, this.#options) && !isObject(content) && !Array.isArray(content))
        attributes.set(this.#attribute(name), content)
      else children.push([name, content])
    }
    return { attributes: [...attributes], children }
  }

  #attribute(name: string): string {
    if (name.startsWith("@")) return name.slice(1)
    const { namespacePrefix, namespaceSeparator } = this.#options
    if (namespacePrefix === undefined || !isNamespace(name, this.#options)) return name
    const rest = name.slice(namespacePrefix.length)
    return rest === "" ? "xmlns" : `xmlns:${rest.slice(namespaceSeparator.length)}`
  }

  /** The name of an element. A separator behind a declared prefix becomes `:`; other characters that names cannot have are encoded. */
  #name(name: string, prefixes: ReadonlySet<string>): string {
    const at = name.indexOf(this.#options.namespaceSeparator)
    if (at > 0 && prefixes.has(name.slice(0, at)) && at + 1 < name.length)
      return `${encodeName(name.slice(0, at))}:${encodeName(name.slice(at + 1))}`
    const colon = name.indexOf(":")
    const prefix = name.slice(0, colon)
    if (
      colon > 0 &&
      (prefixes.has(prefix) || prefix === "xmlns" || prefix === "xml") &&
      colon + 1 < name.length
    )
      return `${encodeName(prefix)}:${encodeName(name.slice(colon + 1))}`
    return encodeName(name)
  }

  #textOf(value: unknown): string {
    if (typeof value !== "string")
      return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "")
    return this.#options.parseDates ? plainDate(value) : value
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function isAttribute(name: string, options: JsonToXmlOptions): boolean {
  return (name.startsWith("@") && name.length > 1) || isNamespace(name, options)
}

function isNamespace(name: string, { namespacePrefix, namespaceSeparator }: JsonToXmlOptions): boolean {
  return (
    namespacePrefix !== undefined &&
    (name === namespacePrefix || name.startsWith(`${namespacePrefix}${namespaceSeparator}`))
  )
}

const dateTime = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{1,9}?)0*(Z|[+-]\d\d:\d\d)?$/

/** `2026-01-01T00:00:00.500Z` → `2026-01-01T00:00:00.5Z`. */
function plainDate(text: string): string {
  const [, seconds, fraction, zone = ""] = dateTime.exec(text) ?? []
  if (seconds === undefined || Number.isNaN(Date.parse(text))) return text
  return Number(fraction) === 0 ? `${seconds}${zone}` : `${seconds}.${fraction}${zone}`
}

/** Letters and digits in names; below U+00C0 only ASCII. */
const nameStart = /[A-Za-z_]|[\u00c0-\uffff]/
const nameCharacter = /[-.0-9A-Za-z_]|[\u00c0-\uffff]/
const letter = /[-.0-9A-Za-z_]|\p{L}|\p{Nd}/u

/** Encodes characters that XML names cannot contain (XML 1.0 §2.3) as `_xHHHH_`. */
function encodeName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) return name
  if (name === "") return "_"
  let encoded = ""
  for (let at = 0; at < name.length; at += 1) {
    const character = name[at] as string
    const fits = (at === 0 ? nameStart : nameCharacter).test(character) && letter.test(character)
    encoded += fits ? character : `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`
  }
  return encoded
}

/** Characters that XML 1.0 cannot represent (§2.2). */
const notInXml =
  /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\ud800-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

function escapeText(text: string): string {
  return text.replace(notInXml, "\ufffd").replace(/[&<>\r]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function escapeAttribute(text: string): string {
  return text
    .replace(notInXml, "\ufffd")
    .replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)
}
