import { declareType } from "../table.ts"
import { CsObject } from "../values.ts"
import { followPath } from "../xml-path.ts"
import { type XContainer, XElement } from "../xml-tree.ts"

type Row = (...values: never[]) => unknown

const noPrefixes: ReadonlyMap<string, string> = new Map<string, string>()

/** XmlNamespaceManager. */
export class Names extends CsObject {
  readonly typeName = "System.Xml.XmlNamespaceManager"
  readonly prefixes = new Map<string, string>()
}

/** NameTable: a pool of names that .NET shares between documents. Programs use it only to create a namespace manager. */
export class NameTable extends CsObject {
  readonly typeName = "System.Xml.NameTable"
}

/** XPathNavigator, only as far as documents use it: to create a namespace manager. */
class Navigator extends CsObject {
  readonly typeName = "System.Xml.XPath.XPathNavigator"
}

function firstElement(self: XContainer, path: string, prefixes: ReadonlyMap<string, string>): unknown {
  return followPath(self, path, prefixes).find((node) => node instanceof XElement) ?? null
}

/** The methods of System.Xml.XPath.Extensions, as members of a node. */
export const pathRows: Record<string, Row> = {
  "XPathSelectElement(string path): XElement": (self: XContainer, path: string) =>
    firstElement(self, path, noPrefixes),
  "XPathSelectElement(string path, XmlNamespaceManager names): XElement": (
    self: XContainer,
    path: string,
    names: Names,
  ) => firstElement(self, path, names.prefixes),
  "XPathSelectElements(string path): IEnumerable<XElement>": (self: XContainer, path: string) =>
    followPath(self, path, noPrefixes),
  "XPathSelectElements(string path, XmlNamespaceManager names): IEnumerable<XElement>": (
    self: XContainer,
    path: string,
    names: Names,
  ) => followPath(self, path, names.prefixes),
  "CreateNavigator(): XPathNavigator": () => new Navigator(),
}

/** The static form of a member: `System.Xml.XPath.Extensions.XPathSelectElement(node, path)`. */
function asStatic(row: string): string {
  return `static ${row.replace("()", "(XNode node)").replace("(string", "(XNode node, string")}`
}

/** Namespace prefixes for XPath. A name table has no members that documents use; it exists to be passed. */
export function declareNames(): void {
  declareType("XmlNameTable", { holds: (value) => value instanceof NameTable }, {})
  declareType(
    "NameTable",
    { bases: ["XmlNameTable"], holds: (value) => value instanceof NameTable },
    { "new(): NameTable": () => new NameTable() },
  )
  declareType(
    "XmlNamespaceManager",
    { holds: (value) => value instanceof Names },
    {
      "new(XmlNameTable table): XmlNamespaceManager": () => new Names(),
      "AddNamespace(string prefix, string uri): void": (self: Names, prefix: string, uri: string) => {
        self.prefixes.set(prefix, uri)
      },
      "LookupNamespace(string prefix): string": (self: Names, prefix: string) =>
        self.prefixes.get(prefix) ?? null,
      "HasNamespace(string prefix): bool": (self: Names, prefix: string) => self.prefixes.has(prefix),
    },
  )
  declareType(
    "XPathNavigator",
    { holds: (value) => value instanceof Navigator },
    { "NameTable: XmlNameTable": () => new NameTable() },
  )
  declareType(
    "Extensions",
    {},
    Object.fromEntries(Object.entries(pathRows).map(([row, run]) => [asStatic(row), run])),
  )
}
