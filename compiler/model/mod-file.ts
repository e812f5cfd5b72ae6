import { type Document, isMap, isScalar, isSeq, type Node, parseDocument, type YAMLMap } from "yaml"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { yamlProblems } from "../core/yaml-problem.ts"
import type { Name } from "./ast.ts"
import type { ModelMistakes } from "./mistakes.ts"

/**
 * `fga.mod`: the schema version, and the files of the modules in their order. Spans cover the values including their quotes; the span of
 * `contents` covers the whole list.
 */
export interface ModFile {
  readonly file: SourceFile
  readonly schema: Name
  readonly contents: { readonly value: readonly Name[]; readonly span: Span }
}

/** Whether a path names a `fga.mod`, the file that lists the modules. */
export function isModFile(path: string): boolean {
  return /(?:^|\/)[^/]*\.mod$/.test(path)
}

/**
 * Reads a `fga.mod`. Every mistake is reported with its place. Returns undefined when a mistake leaves nothing to work with. Invalid entries
 * of `contents` are reported and left out.
 */
export function readModFile(mistakes: ModelMistakes): ModFile | undefined {
  const document = parseModYaml(mistakes)
  if (document === undefined) return undefined
  const { file } = mistakes
  const root = document.contents
  if (!isMap(root)) {
    mistakes.add("SP4051", file.span(0, 0), "missing schema field")
    return undefined
  }
  const fields = fieldsOf(root, mistakes)
  const schema = readSchema(fields.get("schema"), mistakes)
  const contents = readContents(fields.get("contents"), mistakes)
  return schema === undefined || contents === undefined ? undefined : { file, schema, contents }
}

/** The tree of the YAML, with places. Returns undefined when it is not YAML, which is reported. The library is recursive, so some texts overflow its stack. */
export function parseModYaml(mistakes: ModelMistakes): Document | undefined {
  const { file } = mistakes
  let document: Document.Parsed
  try {
    document = parseDocument(file.text, { prettyErrors: false })
  } catch (error) {
    const what = error instanceof RangeError ? "nested too deeply" : "it cannot be read"
    mistakes.add("SP4050", file.span(0, 0), `this is not valid YAML: ${what}`)
    return undefined
  }
  for (const { start, end, detail, help } of yamlProblems(document.errors, file.text))
    mistakes.add("SP4050", file.span(start, end), detail, help === undefined ? {} : { help })
  return document.errors.length > 0 ? undefined : document
}

interface Field {
  readonly node: Node | undefined
  readonly span: Span
}

/** The fields of the file; unknown ones are reported. */
function fieldsOf(root: YAMLMap, mistakes: ModelMistakes): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>()
  for (const { key, value } of root.items) {
    const at = spanOf(key as Node, mistakes.file)
    const name = isScalar(key) ? String(key.value) : ""
    const node = (value ?? undefined) as Node | undefined
    if (name === "schema" || name === "contents") {
      fields.set(name, { node, span: node === undefined ? at : spanOf(node, mistakes.file) })
    } else {
      const hint = didYouMean(name, ["schema", "contents"])
      mistakes.add("SP4057", at, `unknown field \`${shown(name)}\`${hint}`)
    }
  }
  return fields
}

/** The schema version, with the messages of OpenFGA's tools. */
function readSchema(field: Field | undefined, mistakes: ModelMistakes): Name | undefined {
  if (field === undefined) {
    mistakes.add("SP4051", mistakes.file.span(0, 0), "missing schema field")
    return undefined
  }
  const text = textOf(field.node)
  if (text === undefined) {
    const detail = `unexpected schema type, expected string got value ${written(field)}`
    mistakes.add("SP4052", field.span, detail, { help: 'Write `schema: "1.2"`, in quotes.' })
    return undefined
  }
  if (text !== "1.2") {
    const detail = "unsupported schema version, fga.mod only supported in version `1.2`"
    mistakes.add("SP4053", field.span, detail)
    return undefined
  }
  return { text, span: field.span }
}

/** The listed files, each once. Two paths that name one file are the same. */
function readContents(field: Field | undefined, mistakes: ModelMistakes): ModFile["contents"] | undefined {
  if (field === undefined) {
    mistakes.add("SP4051", mistakes.file.span(0, 0), "missing contents field")
    return undefined
  }
  if (!isSeq(field.node)) {
    const detail = `unexpected contents type, expected list of strings got value ${written(field)}`
    mistakes.add("SP4052", field.span, detail)
    return undefined
  }
  const known = new Map<string, Name>()
  for (const item of field.node.items) {
    const node = item as Node
    const name = readItem({ node, span: spanOf(node, mistakes.file) }, mistakes)
    if (name === undefined) continue
    const path = name.text
      .split("/")
      .filter((step) => step !== "" && step !== ".")
      .join("/")
    const first = known.get(path)
    if (first === undefined) known.set(path, name)
    else {
      const related = [{ span: first.span, message: "listed here first" }]
      mistakes.add("SP4054", name.span, `\`${shown(name.text)}\` is listed twice`, {
        related,
        help: "Remove the repetition.",
      })
    }
  }
  if (field.node.items.length === 0) mistakes.add("SP4051", field.span, "`contents` lists no file")
  const [start, , end] = field.node.range ?? [field.span.start, 0, field.span.end]
  return { value: [...known.values()], span: mistakes.file.span(start, end) }
}

/** One listed file. */
function readItem(field: Field, mistakes: ModelMistakes): Name | undefined {
  const text = textOf(field.node)
  if (text === undefined) {
    const detail = `unexpected contents item type, expected string got value ${written(field)}`
    mistakes.add("SP4052", field.span, detail)
  } else if (!staysInside(text)) {
    mistakes.add("SP4054", field.span, `invalid contents item ${shown(text)}`)
  } else if (!text.endsWith(".fga")) {
    const detail = `contents items should use fga file extension, got ${shown(text)}`
    mistakes.add("SP4054", field.span, detail)
  } else return { text, span: field.span }
  return undefined
}

/** Whether the path is relative and stays below the folder of fga.mod on every system: `%2e%2e`, backslashes or a drive letter leave it on some. */
function staysInside(path: string): boolean {
  const decoded = path.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  if (/\\|^\/|^[A-Za-z]:|\0/.test(decoded)) return false
  return !decoded.split("/").includes("..")
}

function textOf(node: Node | undefined): string | undefined {
  return isScalar(node) && typeof node.value === "string" ? node.value : undefined
}

/** The value as the file contains it. */
function written({ span }: Field): string {
  return shown(span.file.text.slice(span.start, span.end).trim())
}

function spanOf(node: Node, file: SourceFile): Span {
  const [start, end] = node.range ?? [0, 0]
  return file.span(start, end)
}
