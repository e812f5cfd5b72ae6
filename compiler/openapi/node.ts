import type { Span } from "../core/source.ts"

/** A value of a JSON or YAML document, with its place (its first line). An alias of YAML puts one node in several places. */
export type DocumentNode = DocumentMap | DocumentList | ScalarNode

export interface DocumentMap {
  readonly kind: "map"
  readonly span: Span
  readonly entries: ReadonlyMap<string, DocumentEntry>
}

export interface DocumentEntry {
  readonly key: Span
  readonly value: DocumentNode
}

export interface DocumentList {
  readonly kind: "list"
  readonly span: Span
  readonly items: readonly DocumentNode[]
}

export interface ScalarNode {
  readonly kind: "scalar"
  readonly span: Span
  readonly value: string | number | boolean | null
}

/** The value as plain JSON data. */
export function plainOf(node: DocumentNode): unknown {
  if (node.kind === "scalar") return node.value
  if (node.kind === "list") return node.items.map(plainOf)
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plainOf(value)]))
}

/** The name of a value's type for messages. */
export function kindOf(node: DocumentNode): string {
  if (node.kind === "map") return "a map"
  if (node.kind === "list") return "a list"
  if (typeof node.value === "string") return "a string"
  return typeof node.value === "number" ? "a number" : `\`${node.value}\``
}

const shownMax = 160

/** The first line of a range that may span many lines. */
export function firstLine(file: Span["file"], start: number, end: number): Span {
  const cut = file.text.slice(start, Math.min(end, start + shownMax))
  const line = cut.indexOf("\n")
  return file.span(start, start + (line === -1 ? cut : cut.slice(0, line)).trimEnd().length)
}
