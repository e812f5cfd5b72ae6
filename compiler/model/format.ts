import { type Document, isMap, isScalar, isSeq } from "yaml"
import type { Report } from "../core/diagnostic.ts"
import type { SourceFile, Span } from "../core/source.ts"
import { parseLayout } from "./document.ts"
import { formatModel } from "./format-model.ts"
import { ModelMistakes } from "./mistakes.ts"
import { isModFile, parseModYaml, readModFile } from "./mod-file.ts"
import { checkReadable } from "./readable.ts"

/**
 * The canonical text of a model file: `fga.mod`, or OpenFGA's language as a whole model or a module. It keeps all comments and the meaning of
 * the file, and formatting it again changes nothing. Returns undefined when the file could not be parsed; the report contains the reason. Does
 * not check the meaning.
 */
export function formatModelFile(file: SourceFile, report: Report): string | undefined {
  const mistakes = new ModelMistakes(file, report)
  if (!checkReadable(mistakes)) return undefined
  if (!isModFile(file.path)) {
    const layout = parseLayout(mistakes)
    return mistakes.blocked ? undefined : formatModel(layout)
  }
  const document = parseModYaml(mistakes)
  return document === undefined ? undefined : formatMod(document)
}

/** The files that a `fga.mod` lists, with their places, relative to its folder. Empty for any other file. Mistakes in the list are reported. */
export function modulesIn(
  file: SourceFile,
  report: Report,
): readonly { readonly text: string; readonly span: Span }[] {
  const mistakes = new ModelMistakes(file, report)
  return isModFile(file.path) && checkReadable(mistakes) ? (readModFile(mistakes)?.contents.value ?? []) : []
}

/** The canonical text of a `fga.mod`: the version in quotes, one file per line. Keeps comments and unknown fields. */
function formatMod(document: Document): string {
  const { contents } = document
  if (isMap(contents)) {
    contents.flow = false
    for (const { key, value } of contents.items) {
      if (!isScalar(key)) continue
      if (key.value === "schema" && isScalar(value)) value.type = "QUOTE_DOUBLE"
      if (key.value !== "contents" || !isSeq(value)) continue
      value.flow = false
      for (const item of value.items) if (isScalar(item)) item.type = "PLAIN"
    }
  }
  return document.toString({ indent: 2, indentSeq: true, lineWidth: 0 })
}
