import { type ArgumentPattern, oneOf, slot, word } from "./row.ts"

/** Media types that keywords represent. JSON is UTF-8 by definition (RFC 8259 §8.1) and has no charset. */
export const mediaTypes = {
  json: "application/json",
  text: "text/plain; charset=utf-8",
  xml: "application/xml; charset=utf-8",
} as const

/** Whether values in a body of this media type are escaped as JSON. */
export function isJsonMedia(media: string): boolean {
  return /[/+]json\b/i.test(media)
}

/**
 * `json (…)`, `xml "…"`, `text "…"`, `"text/csv" "…"`, `"text/xml" xml "…"`, optionally with `liquid "…"`. To keep the message's own media
 * type: `as-is "…"`, or an expression that yields text, bytes or JSON.
 */
export const bodyContent = oneOf(
  [word("as-is"), slot("text", "text")],
  [word("liquid"), slot("template", "text", { label: '"TEMPLATE"' })],
  xmlPart(),
  [slot("media", "choice", { choices: ["json", "text"], label: "json|text" }), templateOr(contentPart())],
  [slot("type", "constant", { label: '"MEDIA/TYPE"', max: 256 }), templateOr([xmlPart(), ...contentPart()])],
  [slot("expression", "expression")],
)

function contentPart(): ArgumentPattern[][] {
  return [[slot("expression", "expression")], [slot("text", "text")]]
}

/** XML whose expressions are escaped by their position. */
function xmlPart(): ArgumentPattern[] {
  return [word("xml"), slot("markup", "text", { label: '"XML"' })]
}

function templateOr(alternatives: ArgumentPattern[][]): ArgumentPattern {
  return oneOf([word("liquid"), slot("template", "text", { label: '"TEMPLATE"' })], ...alternatives)
}

/** A value: an expression, or a text. */
export const textOrExpression = oneOf([slot("expression", "expression")], [slot("value", "text")])
