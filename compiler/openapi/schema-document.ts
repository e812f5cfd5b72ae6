import type { Report } from "../core/diagnostic.ts"
import { nearest } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { DocumentFields } from "./fields.ts"
import type { DocumentMap, DocumentNode } from "./node.ts"
import { DocumentReferences, type LoadFile } from "./references.ts"
import { type SchemaDialect, Schemas } from "./schema.ts"
import { annotations, keywords } from "./schema-keywords.ts"

/** A file with schemas: one JSON Schema, or a document with several. */
export interface SchemaDocument {
  readonly schemas: Schemas
  /**
   * The key in `schemas` of the file's own schema, or of the schema that a pointer leads to (`#/components/schemas/Order`). Undefined when the
   * pointer has no target, which is reported at `said`, the place that requested it.
   */
  key(pointer: string | undefined, said: Span): string | undefined
}

/**
 * Reads a file with JSON Schemas (2020-12, or those of an OpenAPI document; JSON or YAML) and the files that its `$ref`s lead to. Returns
 * undefined when it can't be read. Mistakes are reported, SP8xxx.
 */
export function readSchemaDocument(
  file: SourceFile,
  report: Report,
  load: LoadFile,
): SchemaDocument | undefined {
  const references = new DocumentReferences(load, report)
  const tree = references.tree(file)
  if (tree === undefined) return undefined
  const dialect = dialectOf(tree)
  if (dialect === "3.1") references.followIdentifiers()
  const schemas = new Schemas(new DocumentFields(report, references), dialect)
  return {
    schemas,
    key: (pointer, said) => {
      if (pointer !== undefined && !references.leads(pointer, tree.span, said, helpFor(pointer, tree)))
        return undefined
      const asked = pointer === undefined ? tree : reference(pointer, tree.span)
      const meant = references.follow(asked)?.node
      if (meant === undefined) return undefined
      if (judges(meant)) return schemas.use(asked)
      const where = pointer === undefined ? `in \`${shown(file.path)}\`` : `under \`${shown(pointer)}\``
      report.add("SP8003", said, `the value ${where} is not a JSON Schema, so it would check nothing`, {
        related: [{ span: meant.span, message: "this has no schema keywords" }],
        help: helpFor(pointer, tree),
      })
      return undefined
    },
  }
}

const pointersShown = 5

/** Suggestions: the schema whose name equals or resembles the end of the pointer, otherwise some of the file's schemas. */
function helpFor(pointer: string | undefined, tree: DocumentNode): string {
  const named = new Map(
    [...pointersOf(tree)].map((each) => [each.slice(each.lastIndexOf("/") + 1), each] as const).reverse(),
  )
  const last = pointer?.slice(pointer.lastIndexOf("/") + 1) ?? ""
  const meant = named.get(last) ?? named.get(nearest(last, named.keys()) ?? "")
  if (meant !== undefined && meant !== pointer) return `Write \`${shown(meant)}\`.`
  const all = [...named.values()].reverse()
  const more = all.length > pointersShown ? ` and ${all.length - pointersShown} more` : ""
  return all.length === 0
    ? "Name a file with a JSON Schema; if it contains several, add the pointer to one of them."
    : `Select one of its schemas: ${all
        .slice(0, pointersShown)
        .map((each) => `\`${shown(each)}\``)
        .join(", ")}${more}.`
}

/** Places with named schemas: OpenAPI, JSON Schema and its older versions, plain collections. */
function* pointersOf(tree: DocumentNode): Iterable<string> {
  for (const path of [["components", "schemas"], ["$defs"], ["definitions"], []]) {
    const holder = path.reduce<DocumentNode | undefined>(
      (node, step) => (node?.kind === "map" ? node.entries.get(step)?.value : undefined),
      tree,
    )
    if (holder?.kind !== "map") continue
    for (const [name, { value }] of holder.entries)
      if (value.kind === "map" && judges(value))
        yield `#/${[...path, name].map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`
  }
}

/** Whether a value is a schema with constraints. A document or collection of schemas has none: as a schema it would accept everything. */
function judges(tree: DocumentNode): boolean {
  if (tree.kind !== "map") return true
  return [...tree.entries.keys()].some((name) => {
    const kind = keywords[name]
    if (name === "$ref" || name === "const") return true
    // Among the other keywords, those followed by `any` or `place`, and annotations, do not constrain the value itself.
    return kind !== undefined && kind !== "any" && kind !== "place" && !annotations.has(name)
  })
}

function dialectOf(tree: DocumentNode): SchemaDialect {
  const said = tree.kind === "map" ? (tree.entries.get("openapi") ?? tree.entries.get("swagger")) : undefined
  const version = said?.value.kind === "scalar" ? String(said.value.value) : ""
  return version.startsWith("3.0") ? "3.0" : version.startsWith("2") ? "2.0" : "3.1"
}

/** A `$ref` to a pointer in the file. */
function reference(pointer: string, span: Span): DocumentMap {
  const value = { kind: "scalar" as const, span, value: pointer }
  return { kind: "map", span, entries: new Map([["$ref", { key: span, value }]]) }
}
