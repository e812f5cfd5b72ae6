import { XmlCdata, XmlElement, XmlText } from "@rgrove/parse-xml"
import { plainObject } from "../../expression/plain-object.ts"
import { type ReadXml, readXml } from "./xml-reading.ts"

/** How a document is converted to JSON. */
export interface XmlToJsonOptions {
  /** `direct`: attributes are `@name`; `javascript-friendly`: attributes are ordinary members. */
  readonly style: "direct" | "javascript-friendly"
  /** Every child element becomes an array, even when there is only one. */
  readonly alwaysArray: boolean
}

/**
 * Converts a document to a JSON value. An element is an object of its attributes and children. Repeated children are an array. An element with only
 * text is that text; text next to other nodes is `#text`. An empty element is null. All values are strings. Comments and instructions are omitted.
 * @throws XmlProblem
 */
export function jsonOfXml(text: string, options: XmlToJsonOptions): unknown {
  const document = readXml(text)
  return { [document.root.name]: valueOfElement(document.root, document, options) }
}

type Members = Record<string, unknown>

/** The value of an element: its text, or an object with attributes and children. */
function valueOfElement(element: XmlElement, document: ReadXml, options: XmlToJsonOptions): unknown {
  const members = plainObject<unknown>()
  for (const [name, value] of Object.entries(element.attributes))
    members[options.style === "direct" ? `@${name}` : name] = value
  const repeated = new Set<string>()
  let text = ""
  for (const child of element.children) {
    if (child instanceof XmlElement)
      addChild(members, child, valueOfElement(child, document, options), repeated, options)
    else if (child instanceof XmlText || child instanceof XmlCdata) text += child.text
  }
  const names = Object.keys(members)
  if (names.length === 0) return text === "" && isSelfClosed(element, document) ? null : text
  if (text.trim() !== "") members["#text"] = text
  return { ...members }
}

/** Children of one name become an array when the second one arrives. */
function addChild(
  members: Members,
  { name }: XmlElement,
  value: unknown,
  repeated: Set<string>,
  options: XmlToJsonOptions,
): void {
  if (repeated.has(name)) (members[name] as unknown[]).push(value)
  else if (name in members) {
    members[name] = [members[name], value]
    repeated.add(name)
  } else if (options.alwaysArray) {
    members[name] = [value]
    repeated.add(name)
  } else members[name] = value
}

/** `<a/>` and `<a></a>` mean the same in XML, but only the first stands for `null` here. */
function isSelfClosed({ end }: XmlElement, { source }: ReadXml): boolean {
  return source[end - 2] === "/"
}
