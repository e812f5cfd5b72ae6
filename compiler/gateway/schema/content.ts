import { oneOf, type Part, type Row, slot, word } from "./row.ts"

/** Media types of the words that stand for some; JSON is UTF-8 by definition (RFC 8259 §8.1) and has no charset. */
export const mediaTypes = {
  json: "application/json",
  text: "text/plain; charset=utf-8",
  xml: "application/xml; charset=utf-8",
} as const

/** Whether values in the text of such a body are escaped as JSON. */
export function isJsonMedia(media: string): boolean {
  return /[/+]json\b/i.test(media)
}

/** `json (…)`, `xml "…"`, `text "…"`, `"text/csv" "…"`, `"text/xml" xml "…"`, perhaps `liquid "…"`; with the message's own media type `as-is "…"`, or an expression whose value is text, bytes or JSON. */
export const bodyContent = oneOf(
  [word("as-is"), slot("text", "text")],
  [word("liquid"), slot("template", "text", { label: '"TEMPLATE"' })],
  xmlPart(),
  [slot("media", "choice", { choices: ["json", "text"], label: "json|text" }), templateOr(contentPart())],
  [slot("type", "constant", { label: '"MEDIA/TYPE"', max: 256 }), templateOr([xmlPart(), ...contentPart()])],
  [slot("expression", "expression")],
)

function contentPart(): Part[][] {
  return [[slot("expression", "expression")], [slot("text", "text")]]
}

/** XML whose expressions are escaped by the place they stand in. */
function xmlPart(): Part[] {
  return [word("xml"), slot("markup", "text", { label: '"XML"' })]
}

function templateOr(alternatives: Part[][]): Part {
  return oneOf([word("liquid"), slot("template", "text", { label: '"TEMPLATE"' })], ...alternatives)
}

/** A value: found by an expression, or a text. */
export const textOrExpression = oneOf([slot("expression", "expression")], [slot("value", "text")])

const always: Row = {
  keyword: "always",
  forms: [{ args: [] }],
  byDefault: "only where Content-Type says so",
  docs: "Converts whatever the message says its body is.",
  example: "always",
}

const ifAccepted: Row = {
  keyword: "if-accepted",
  forms: [{ args: [] }],
  docs: "Converts only where the caller's Accept header takes the result.",
  example: "if-accepted",
}

export const xmlToJsonRows: readonly Row[] = [
  {
    keyword: "style",
    forms: [{ args: [slot("style", "choice", { choices: ["direct", "friendly"] })] }],
    byDefault: "direct",
    docs: "`direct`: attributes are `@name`; `friendly`: attributes are members like any other.",
    example: "style friendly",
  },
  always,
  ifAccepted,
  {
    keyword: "arrays",
    forms: [{ args: [] }],
    docs: "Child elements are arrays, also where there is one of a name.",
    example: "arrays",
  },
]

export const jsonToXmlRows: readonly Row[] = [
  always,
  ifAccepted,
  {
    keyword: "dates",
    forms: [{ args: [] }],
    docs: "Dates and times among the texts are written without zeros at the end of the fraction.",
    example: "dates",
  },
  {
    keyword: "separator",
    forms: [{ args: [slot("character", "constant", { max: 1 })] }],
    byDefault: '"_"',
    docs: "The character that stands for the `:` of a namespace in the names of members.",
    example: 'separator "."',
  },
  {
    keyword: "namespaces",
    forms: [{ args: [slot("name", "constant", { max: 64 })] }],
    docs: "Members that begin with this and the separator declare namespaces.",
    example: 'namespaces "xmlns"',
  },
  {
    keyword: "attributes",
    forms: [{ args: [slot("name", "constant", { max: 64 })] }],
    docs: "The member whose own members are attributes.",
    example: 'attributes "attrs"',
  },
]

export const maskUrlsRows: readonly Row[] = [
  {
    keyword: "headers",
    forms: [{ args: [] }],
    byDefault: "the body alone",
    docs: "URLs in Location, Content-Location and Link are changed too.",
    example: "headers",
  },
]
