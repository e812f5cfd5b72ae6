import type { Extra, Report } from "../core/diagnostic.ts"
import { didYouMean, nearest } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import { type DocumentEntry, type DocumentMap, type DocumentNode, kindOf, type ScalarNode } from "./node.ts"
import type { DocumentReferences } from "./references.ts"

/** Texts for human readers. They do not affect the gateway. */
const words: ReadonlySet<string> = new Set(["title", "summary", "description", "version", "operationId"])

/** Reads the parts of a document in their expected form. A deviation is a finding at its place, and the method returns undefined or an empty list. */
export class DocumentFields {
  readonly report: Report
  readonly references: DocumentReferences

  constructor(report: Report, references: DocumentReferences) {
    this.report = report
    this.references = references
  }

  /** The map itself, or the map that its `$ref` leads to. */
  map(node: DocumentNode | undefined, what: string): DocumentMap | undefined {
    const found = node === undefined ? undefined : this.references.follow(node)?.node
    if (found === undefined || found.kind === "map") return found
    return this.wrong(found, `${what} must be a map, found ${kindOf(found)}`)
  }

  /** Like `map`, for a part that may be empty. A part without a value is reported and counts as an empty map. */
  part(node: DocumentNode, what: string): DocumentMap | undefined {
    const found = this.references.follow(node)?.node
    if (found === undefined || !isNull(found)) return this.map(node, what)
    this.withoutValue(found, what)
    return { kind: "map", span: found.span, entries: new Map() }
  }

  /** Reports a key without a value. It declares nothing, so ignoring it loses nothing. */
  withoutValue(node: DocumentNode, what: string): undefined {
    return this.aside(node, `${what} has no value, so it has no effect`)
  }

  /** The entries of a map field whose keys are names: `x-request-id` is a header, and `x-api-key` may be a security scheme. */
  entries(map: DocumentMap, key: string, what = `\`${key}\``): readonly (readonly [string, DocumentEntry])[] {
    const field = map.entries.get(key)?.value
    if (field === undefined || isNull(field)) return []
    const found = this.map(field, what)
    return found === undefined ? [] : [...found.entries]
  }

  /** The entries of a map field that may have extensions (`x-…`), without those: `paths` and `responses`. */
  patterned(map: DocumentMap, key: string): readonly (readonly [string, DocumentEntry])[] {
    return this.entries(map, key).filter(([name]) => !name.startsWith("x-"))
  }

  /** The items of a list field. */
  list(map: DocumentMap, key: string): readonly DocumentNode[] {
    const field = map.entries.get(key)?.value
    if (field === undefined || isNull(field)) return []
    if (field.kind === "list") return field.items
    this.wrong(field, `\`${key}\` must be a list, found ${kindOf(field)}`)
    return []
  }

  /** A text. Wrong descriptions are only warnings, because they have no effect on requests. */
  text(map: DocumentMap, key: string): string | undefined {
    const field = map.entries.get(key)?.value
    if (field === undefined || isNull(field)) return undefined
    if (field.kind === "scalar" && typeof field.value === "string") return field.value
    // YAML reads unquoted versions and names as numbers.
    if (field.kind === "scalar" && typeof field.value === "number") return String(field.value)
    const detail = `\`${key}\` must be a string, found ${kindOf(field)}`
    return words.has(key) ? this.aside(field, detail) : this.wrong(field, detail)
  }

  /** A flag; false if it is missing or not a boolean. */
  flag(map: DocumentMap, key: string): boolean {
    return (
      this.choice(
        map,
        key,
        (value) => (typeof value === "boolean" ? value : undefined),
        "`true` or `false`",
      ) ?? false
    )
  }

  /** A scalar that `read` accepts. */
  choice<Value>(
    map: DocumentMap,
    key: string,
    read: (value: ScalarNode["value"]) => Value | undefined,
    expected: string,
  ): Value | undefined {
    const field = map.entries.get(key)?.value
    if (field === undefined) return undefined
    if (isNull(field)) return this.withoutValue(field, `\`${key}\``)
    const value = field.kind === "scalar" ? read(field.value) : undefined
    if (value !== undefined) return value
    const shownValue = field.kind === "scalar" ? `\`${shown(String(field.value))}\`` : kindOf(field)
    return this.wrong(field, `\`${key}\` must be ${expected}, found ${shownValue}`)
  }

  /** Warns about keys that have no meaning here. Returns the places of those that are most likely a misspelt key, by the right key. */
  known(map: DocumentMap, what: string, keys: readonly string[]): ReadonlyMap<string, Span> {
    const misspelt = new Map<string, Span>()
    for (const [name, { key }] of map.entries) {
      if (keys.includes(name) || name.startsWith("x-") || name === "$ref") continue
      const free = keys.filter((each) => !map.entries.has(each))
      const meant = nearest(name, free)
      if (meant !== undefined) misspelt.set(meant, key)
      this.report.add(
        "SP8014",
        key,
        `${what} has no field \`${shown(name)}\`${didYouMean(name, meant === undefined ? keys : free)}`,
      )
    }
    return misspelt
  }

  missing(key: string, what: string, at: Span): undefined {
    this.report.add("SP8003", at, `${what} has no \`${key}\``)
    return undefined
  }

  /** Reports a mistake that does not prevent serving the document: it lets no additional request pass. */
  aside(node: { readonly span: Span }, detail: string, extra: Extra = {}): undefined {
    this.report.add("SP8021", node.span, detail, extra)
    return undefined
  }

  wrong(node: { readonly span: Span }, detail: string): undefined {
    this.report.add("SP8003", node.span, detail)
    return undefined
  }
}

export function isNull(node: DocumentNode): boolean {
  return node.kind === "scalar" && node.value === null
}
