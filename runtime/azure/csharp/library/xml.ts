import type { CsEnum } from "../collections.ts"
import { DateTime } from "../date-time.ts"
import { CsException } from "../errors.ts"
import { isNumberType } from "../numbers.ts"
import { declareType } from "../table.ts"
import { type CsType, named } from "../type.ts"
import { toText } from "../values.ts"
import { parseDocument } from "../xml-text.ts"
import {
  XAttribute,
  XCData,
  XComment,
  XDocument,
  XElement,
  XName,
  XNamespace,
  XText,
  xmlnsUri,
} from "../xml-tree.ts"
import { Guid } from "./guid.ts"
import { parseNumber } from "./number.ts"
import { declareEnum, parseBool } from "./object.ts"
import { readDateTime } from "./time-types.ts"
import { ancestors, elementsBelow, readDocument, readElement, setValue } from "./xml-common.ts"
import { declareXmlDocument } from "./xml-document.ts"
import { append, called, declareNodes } from "./xml-nodes.ts"

type Row = (...values: never[]) => unknown

function attribute(self: XElement, name: XName, value: unknown): void {
  const known = self.attribute(name)
  // Null removes an attribute, as in .NET.
  if (value === null) {
    if (known !== null) self.attributes.splice(self.attributes.indexOf(known), 1)
  } else if (known === null) self.addAttribute(new XAttribute(name, toText(value)))
  else known.value = toText(value)
}

const elementRows: Record<string, Row> = {
  "new(XName name): XElement": (name: XName) => new XElement(name),
  "new(XElement other): XElement": (other: XElement) => other.copy(),
  "new(XName name, params object[] content): XElement": (name: XName, content: readonly unknown[]) => {
    const made = new XElement(name)
    // In order: attributes are recognised by their type, whatever their place.
    for (const item of content) append(made, item)
    return made
  },
  "static Parse(string text): XElement": readElement,
  "Name: XName": (self: XElement) => self.name,
  "set Name: XName": (self: XElement, name: XName) => {
    self.name = name
  },
  "Value: string": (self: XElement) => self.content,
  "set Value: string": setValue,
  "SetValue(object value): void": (self: XElement, value: unknown) => setValue(self, toText(value)),
  "SetAttributeValue(XName name, object value): void": attribute,
  "SetElementValue(XName name, object value): void": (self: XElement, name: XName, value: unknown) => {
    const known = self.childElements().find(called(name))
    // Null removes the element; a missing one is added at the end.
    if (value === null) known?.remove()
    else if (known !== undefined) setValue(known, toText(value))
    else {
      const made = new XElement(name)
      setValue(made, toText(value))
      self.add(made)
    }
  },
  "Attribute(XName name): XAttribute": (self: XElement, name: XName) => self.attribute(name),
  "Attributes(): IEnumerable<XAttribute>": (self: XElement) => [...self.attributes],
  "Attributes(XName name): IEnumerable<XAttribute>": (self: XElement, name: XName) =>
    self.attributes.filter((item) => item.name.same(name)),
  "RemoveAttributes(): void": removeAttributes,
  "ReplaceAttributes(params object[] content): void": (self: XElement, content: readonly unknown[]) => {
    removeAttributes(self)
    // Attributes in `content` are added again by `append`.
    append(self, content)
  },
  "RemoveAll(): void": removeAll,
  "ReplaceAll(params object[] content): void": (self: XElement, content: readonly unknown[]) => {
    removeAll(self)
    append(self, content)
  },
  "FirstAttribute: XAttribute": (self: XElement) => self.attributes[0] ?? null,
  "LastAttribute: XAttribute": (self: XElement) => self.attributes.at(-1) ?? null,
  "AncestorsAndSelf(): IEnumerable<XElement>": (self: XElement) => [self, ...ancestors(self)],
  "AncestorsAndSelf(XName name): IEnumerable<XElement>": (self: XElement, name: XName) =>
    [self, ...ancestors(self)].filter(called(name)),
  "HasElements: bool": (self: XElement) => self.childElements().length > 0,
  "HasAttributes: bool": (self: XElement) => self.attributes.length > 0,
  "IsEmpty: bool": (self: XElement) => self.nodes.length === 0,
  "DescendantsAndSelf(): IEnumerable<XElement>": (self: XElement) => [self, ...elementsBelow(self)],
  "GetDefaultNamespace(): XNamespace": (self: XElement) => new XNamespace(namespaceOf(self, "") ?? ""),
  "GetNamespaceOfPrefix(string prefix): XNamespace": (self: XElement, prefix: string) => {
    const uri = namespaceOf(self, prefix)
    return uri === undefined ? null : new XNamespace(uri)
  },
}

function removeAttributes(self: XElement): void {
  for (const item of self.attributes) item.parent = null
  self.attributes.length = 0
}

function removeAll(self: XElement): void {
  removeAttributes(self)
  for (const node of [...self.nodes]) node.remove()
}

function namespaceOf(self: XElement, prefix: string): string | undefined {
  // `xmlns="…"` declares the default namespace and has no prefix.
  for (const at of [self, ...ancestors(self)])
    for (const item of at.attributes)
      if (item.isDeclaration && (item.name.uri === "" ? "" : item.name.local) === prefix) return item.value
  return undefined
}

/** Explicit conversions of an element or attribute to scalar types. Null converts to the nullable types only. */
function casts(type: string, textOf: (self: never) => string): Record<string, Row> {
  const rows: Record<string, Row> = {}
  for (const target of ["string", "int", "long", "double", "decimal", "bool", "DateTime", "Guid"]) {
    rows[`static op_Explicit(${type} value): ${target}`] = (self: unknown) =>
      self === null ? nothing(target) : scalar(textOf(self as never), named(target))
    // A string can be null itself, so it has one conversion only.
    if (target !== "string")
      rows[`static op_Explicit(${type} value): ${target}?`] = (self: unknown) =>
        self === null ? null : scalar(textOf(self as never), named(target))
  }
  return rows
}

function nothing(target: string): null {
  if (target === "string") return null
  throw new CsException("ArgumentNullException", "Value cannot be null. (Parameter 'element')")
}

/** The value of an element or attribute as a scalar, by the rules of XML (`1` and `0` are booleans). */
function scalar(text: string, { name }: CsType): unknown {
  if (name === "string") return text
  if (isNumberType(name)) return parseNumber(text, name)
  if (name === "DateTime") {
    const read = readDateTime(text)
    // `XmlConvert` reads `Z` as UTC and a time without zone as local.
    return text.trim().endsWith("Z") ? new DateTime(read.ticks, "utc") : read
  }
  if (name === "Guid") return Guid.parse(text)
  const found = text.trim() === "1" ? true : text.trim() === "0" ? false : parseBool(text)
  if (found === undefined)
    throw new CsException("FormatException", `The string '${text}' is not a valid Boolean value.`)
  return found
}

/** System.Xml.Linq, and the used parts of System.Xml: XmlDocument over the same tree, and a reader over its nodes. */
export function declareXml(): void {
  declareEnum("SaveOptions", "System.Xml.Linq", { None: 0, DisableFormatting: 1, OmitDuplicateNamespaces: 2 })
  declareEnum("LoadOptions", "System.Xml.Linq", {
    None: 0,
    PreserveWhitespace: 1,
    SetBaseUri: 2,
    SetLineInfo: 4,
  })
  declareNodes()
  declareType(
    "XElement",
    { bases: ["XContainer"], holds: (value) => value instanceof XElement },
    {
      ...elementRows,
      ...casts("XElement", (self: XElement) => self.content),
    },
  )
  declareType(
    "XDocument",
    { bases: ["XContainer"], holds: (value) => value instanceof XDocument },
    {
      "new(params object[] content): XDocument": (content: readonly unknown[]) => {
        const made = new XDocument()
        for (const item of content) append(made, item)
        return made
      },
      "static Parse(string text): XDocument": readDocument,
      "static Parse(string text, LoadOptions options): XDocument": (text: string, options: CsEnum) =>
        parseDocument(text, options.has("PreserveWhitespace")),
      "Root: XElement": (self: XDocument) => self.root,
    },
  )
  declareLeaves()
  declareXmlDocument()
}

function neighbour(self: XAttribute, distance: number): XAttribute | null {
  const attributes = self.parent?.attributes ?? []
  return attributes[attributes.indexOf(self) + distance] ?? null
}

const attributeRows: Record<string, (...values: never[]) => unknown> = {
  "new(XName name, object value): XAttribute": (name: XName, value: unknown) =>
    new XAttribute(name, toText(value)),
  "Name: XName": (self: XAttribute) => self.name,
  "Value: string": (self: XAttribute) => self.value,
  "set Value: string": (self: XAttribute, value: string) => {
    self.value = value
  },
  "SetValue(object value): void": (self: XAttribute, value: unknown) => {
    self.value = toText(value)
  },
  "Parent: XElement": (self: XAttribute) => self.parent,
  "IsNamespaceDeclaration: bool": (self: XAttribute) => self.isDeclaration,
  "Remove(): void": (self: XAttribute) => self.remove(),
  "NextAttribute: XAttribute": (self: XAttribute) => neighbour(self, 1),
  "PreviousAttribute: XAttribute": (self: XAttribute) => neighbour(self, -1),
  ...casts("XAttribute", (self: XAttribute) => self.value),
}

/** Attributes, texts and comments. */
function declareLeaves(): void {
  declareType(
    "XAttribute",
    { bases: ["XObject"], holds: (value) => value instanceof XAttribute },
    attributeRows,
  )
  for (const [name, type] of [
    ["XText", XText],
    ["XCData", XCData],
    ["XComment", XComment],
  ] as const)
    declareType(
      name,
      { bases: [name === "XCData" ? "XText" : "XNode"], holds: (value) => value instanceof type },
      {
        [`new(string value): ${name}`]: (value: string) => new type(value),
        "Value: string": (self: XText) => self.value,
        "set Value: string": (self: XText, value: string) => {
          self.value = value
        },
      },
    )
  declareType(
    "XDeclaration",
    { holds: () => false },
    {
      // A declaration is accepted and not kept: bodies are UTF-8 here.
      "new(string version, string encoding, string standalone): XDeclaration": () => null,
    },
  )
  declareType(
    "XName",
    { holds: (value) => value instanceof XName },
    {
      "static op_Implicit(string text): XName": (text: string | null) =>
        text === null ? null : XName.parse(text),
      "static Get(string text): XName": (text: string) => XName.parse(text),
      "static Get(string local, string uri): XName": (local: string, uri: string) => new XName(uri, local),
      "LocalName: string": (self: XName) => self.local,
      "NamespaceName: string": (self: XName) => self.uri,
      "Namespace: XNamespace": (self: XName) => new XNamespace(self.uri),
    },
  )
  declareType(
    "XNamespace",
    { holds: (value) => value instanceof XNamespace },
    {
      "static op_Implicit(string text): XNamespace": (text: string) => new XNamespace(text),
      "static op_Addition(XNamespace a, string b): XName": (a: XNamespace, b: string) =>
        new XName(a.uri, XName.parse(b).local),
      "static Get(string text): XNamespace": (text: string) => new XNamespace(text),
      "static None: XNamespace": () => new XNamespace(""),
      "static Xmlns: XNamespace": () => new XNamespace(xmlnsUri),
      "GetName(string local): XName": (self: XNamespace, local: string) => new XName(self.uri, local),
      "NamespaceName: string": (self: XNamespace) => self.uri,
    },
  )
}
