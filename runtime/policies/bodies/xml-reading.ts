import { parseXml, type XmlElement, XmlError } from "@rgrove/parse-xml"

/** Larger documents are refused: parsing XML blocks the thread for about 200 ms per megabyte. */
export const xmlBytesMax = 1_048_576
/** Deeper documents are refused, because the functions that walk a document are recursive. */
export const xmlDepthMax = 200

/** What is wrong with a document, with the position. */
export class XmlProblem extends Error {
  override readonly name = "XmlProblem"
}

/** A parsed document; the offsets of its nodes point into `source`. */
export interface ReadXml {
  readonly root: XmlElement
  readonly source: string
}

/**
 * Parses a document (XML 1.0). A document type is skipped, and entities other than XML's five are refused: nothing is fetched, nothing expands.
 * @throws XmlProblem
 */
export function readXml(text: string): ReadXml {
  if (Buffer.byteLength(text) > xmlBytesMax) throw new XmlProblem(`has more than ${xmlBytesMax} bytes`)
  if (depthOf(text) > xmlDepthMax) throw new XmlProblem(`is more than ${xmlDepthMax} elements deep`)
  // The parser does the same before it counts offsets.
  const source = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n")
  try {
    const { root } = parseXml(source, { includeOffsets: true })
    if (root === null) throw new XmlProblem("has no element")
    return { root, source }
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    const [first = ""] = error.message.split("\n", 1)
    throw new XmlProblem(first)
  }
}

/** Everything that is not an element: comments, character data, instructions. */
const skipped: Readonly<Record<string, string>> = { "<!--": "-->", "<![C": "]]>", "<?": "?>" }

/** The nesting depth, found without parsing: deep nesting would overflow the parser's stack. */
function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at + 1)) {
    const end = skipped[text.slice(at, at + 4)] ?? skipped[text.slice(at, at + 2)]
    if (end !== undefined) {
      const found = text.indexOf(end, at + 2)
      if (found === -1) break
      at = found
      continue
    }
    if (text[at + 1] === "!") continue
    if (text[at + 1] === "/") depth -= 1
    else {
      const close = endOfTag(text, at)
      if (text[close - 1] !== "/") depth += 1
      at = close
    }
    if (depth > deepest) deepest = depth
  }
  return deepest
}

/** The `>` that ends a tag; those in attribute values do not count. */
function endOfTag(text: string, from: number): number {
  let quote = ""
  for (let at = from; at < text.length; at += 1) {
    const character = text[at] as string
    if (quote !== "") {
      if (character === quote) quote = ""
    } else if (character === '"' || character === "'") quote = character
    else if (character === ">") return at
  }
  return text.length
}
