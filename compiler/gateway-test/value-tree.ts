import type { Report } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"
import type { YamlReader, YamlValue } from "../model-test/yaml-reader.ts"

/** A scalar of YAML. */
export type Scalar = string | number | boolean | null

/** An entry of a map. */
export interface TreeEntry {
  readonly key: Span
  readonly value: Tree
}

/** A value of a test file with the places of its parts. Aliases and merges are resolved. */
export type Tree =
  | { readonly is: "scalar"; readonly span: Span; readonly value: Scalar; readonly source: string }
  | { readonly is: "list"; readonly span: Span; readonly items: readonly Tree[] }
  | { readonly is: "map"; readonly span: Span; readonly entries: ReadonlyMap<string, TreeEntry> }

/** The values of a row of `each`, by name. */
export type TableRow = ReadonlyMap<string, Tree>

/** Reads a value of YAML with all its parts. */
export function treeOf(reader: YamlReader, value: YamlValue): Tree {
  const { span } = value
  const scalar = reader.scalar(value)
  if (scalar !== undefined) {
    const found = scalar.value
    const plain = typeof found === "bigint" ? Number(found) : found
    return { is: "scalar", span, value: plain as Scalar, source: scalar.source ?? String(found) }
  }
  if (reader.isEmpty(value)) return { is: "scalar", span, value: null, source: "" }
  if (reader.isList(value))
    return { is: "list", span, items: reader.list(value, "this").map((item) => treeOf(reader, item)) }
  const entries = reader.entries(value, "this") ?? []
  return {
    ...{ is: "map", span },
    entries: new Map(entries.map(({ name, key, value: own }) => [name, { key, value: treeOf(reader, own) }])),
  }
}

const placeholder = /\$\{(\w+)\}/g

/** A value with `${name}` replaced by the row's value: alone, a value of any kind; inside a text, as text. */
export function filledIn(tree: Tree, row: TableRow, report: Report): Tree {
  if (tree.is === "list") return { ...tree, items: tree.items.map((item) => filledIn(item, row, report)) }
  if (tree.is === "map") {
    const entries = [...tree.entries].map(
      ([name, { key, value }]) => [name, { key, value: filledIn(value, row, report) }] as const,
    )
    return { ...tree, entries: new Map(entries) }
  }
  if (typeof tree.value !== "string" || !tree.value.includes("${")) return tree
  const whole = /^\$\{(\w+)\}$/.exec(tree.value)?.[1]
  const found = whole === undefined ? undefined : row.get(whole)
  // The place stays that of the test, because it is the same line that is read for every row.
  if (found !== undefined) return { ...found, span: tree.span }
  const text = tree.value.replace(placeholder, (written, name: string) => {
    const value = row.get(name)
    if (value?.is === "scalar") return String(value.value ?? "")
    const problem =
      value === undefined
        ? `the row of \`each\` has no \`${name}\``
        : `\`${name}\` is a ${value.is}, which has no place inside a text`
    report.add("SP6015", tree.span, problem)
    return written
  })
  return { ...tree, value: text, source: text }
}

/** The value as JSON. */
export function jsonOf(tree: Tree): unknown {
  if (tree.is === "scalar") return tree.value
  if (tree.is === "list") return tree.items.map(jsonOf)
  return Object.fromEntries([...tree.entries].map(([name, { value }]) => [name, jsonOf(value)]))
}
