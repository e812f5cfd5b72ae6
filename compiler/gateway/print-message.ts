import type { BodyContent, HeaderLines } from "../../runtime/plan/step-values.ts"
import type { Text, TextPart } from "../../runtime/plan/text.ts"
import { type Printed, type Printing, statement, textsOf } from "./print.ts"
import { isJsonMedia, mediaTypes } from "./schema/content.ts"

type Escaping = "json" | "xml" | "none"

/** Prints a statement that ends with a body: `body set json "…"`, `body as-is "…"`. `head`: the part before the body. */
export function bodyStatement(
  head: string,
  media: string | null,
  content: BodyContent,
  printing: Printing,
): Printed {
  const as = media === null ? [] : [JSON.stringify(media)]
  if ("value" in content) return statement([head, ...as, `(${content.value.text})`].join(" "))
  if ("liquid" in content) {
    if (content.xsiNil !== undefined) printing.lacks("`xsi-nil`")
    return { ...statement([head, ...mediaWords(media), "liquid"].join(" ")), text: content.liquid }
  }
  const { text } = content
  const escapings = escapingsOf(text)
  const isXml = escapings.has("xml")
  const expected: Escaping = isXml ? "xml" : media !== null && isJsonMedia(media) ? "json" : "none"
  if ([...escapings].some((each) => each !== expected) || (isXml && media === null))
    printing.lacks("a body whose values are not escaped as its media type says")
  if (media === null) return { ...statement(`${head} as-is`), text }
  const words =
    isXml && media === mediaTypes.xml ? ["xml"] : [...mediaWords(media), ...(isXml ? ["xml"] : [])]
  const whole = wholeExpression(text)
  const mayBeExpression = media === mediaTypes.json || media === mediaTypes.text
  if (whole !== undefined && mayBeExpression) return statement([head, ...words, `(${whole})`].join(" "))
  return { ...statement([head, ...words].join(" ")), text }
}

/** The media type, as its keyword if one represents it with any content. */
function mediaWords(media: string | null): string[] {
  if (media === null) return []
  if (media === mediaTypes.json) return ["json"]
  return [media === mediaTypes.text ? "text" : JSON.stringify(media)]
}

function partsOf(text: Text): readonly TextPart[] {
  return typeof text === "string" ? [text] : text.text
}

function wholeExpression(text: Text): string | undefined {
  const [only, ...more] = partsOf(text)
  return typeof only === "object" && "expression" in only && more.length === 0
    ? only.expression.text
    : undefined
}

/** How the expressions of a text are escaped. */
function escapingsOf(text: Text): ReadonlySet<Escaping> {
  return new Set(
    partsOf(text).flatMap((part): Escaping[] => {
      if (typeof part === "string" || !("expression" in part)) return []
      if (part.as === undefined) return ["none"]
      return [part.as.startsWith("xml-") ? "xml" : "json"]
    }),
  )
}

/** Prints the header lines of a generated message: `header "X-A" "1"`. `valuesMax`: maximum number of values on a line. */
export function headerLines(lines: HeaderLines, valuesMax: number, printing: Printing): string[] {
  if (new Set(lines.map(({ name }) => name)).size < lines.length)
    printing.lacks("a header that is named twice")
  return lines.map(({ name, action, values }) => {
    if (action !== "set") printing.lacks("headers that are added or removed in a message that is begun")
    if (values.length > valuesMax) printing.lacks("a header with several lines")
    const how = action === "set" ? "" : `${action} `
    return `header ${how}"${printing.header(name)}"${textsOf(values)}`
  })
}
