import { type SchemaShape, textShape } from "./shape.ts"

/** What a text means where a schema expects something else than text; the text itself where it means nothing else. */
export function valueOfText(text: string, { types }: SchemaShape): unknown {
  if (types.size === 0 || types.has("string")) return text
  if (
    (types.has("number") || types.has("integer")) &&
    /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)
  )
    return Number(text)
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true"
  return types.has("null") && (text === "" || text === "null") ? null : text
}

/** What several texts of one name mean: a list where the schema has a place for one. Undefined: there must be one alone. */
export function valuesOfTexts(
  texts: readonly string[],
  shape: SchemaShape,
  read: (text: string, shape: SchemaShape) => unknown = valueOfText,
): unknown {
  if (shape.types.has("array")) return texts.map((text) => read(text, shape.items ?? textShape))
  return texts.length === 1 ? read(texts[0] as string, shape) : undefined
}
