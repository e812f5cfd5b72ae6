import { type Document, isMap, isScalar, isSeq } from "yaml"

/** The canonical text of a `fga.mod`: the version in quotes, one file a line. Comments and fields that nothing reads are kept. */
export function formatMod(document: Document): string {
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
