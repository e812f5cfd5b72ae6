/** The position of an expression in XML: how its value is escaped, or why no escaping is safe there. */
export type XmlPlace = "text" | "attribute" | { readonly refused: string }

/** A mistake in the XML, at an offset of the text. */
interface XmlProblem {
  readonly at: number
  readonly message: string
}

/** Placeholder for an expression in the checked text. It is not a letter, so no XML name contains it. */
export const hole = "\ue000"

const name = "[\\p{L}_:][\\p{L}\\p{M}\\p{N}_:.\\-\u00b7]*"
const patterns = {
  start: new RegExp(`<(${name})`, "uy"),
  attribute: new RegExp(`\\s+(${name})\\s*=\\s*("[^"<]*"|'[^'<]*')`, "uy"),
  close: /\s*(\/?)>/y,
  end: new RegExp(`</(${name})\\s*>`, "uy"),
  doctype: /<!DOCTYPE\s[^[\]<>]*(?:\[[^\]]*\]\s*)?>/y,
} as const
const wrongReference = /&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});)/

/** Markup that ends with a fixed text, and the reason why an expression in it is refused. */
const closed: readonly { readonly open: string; readonly close: string; readonly what: string }[] = [
  { open: "<!--", close: "-->", what: "a comment" },
  { open: "<![CDATA[", close: "]]>", what: "a CDATA section" },
  { open: "<?", close: "?>", what: "a processing instruction" },
]

/**
 * Checks XML whose expressions are placeholders at the offsets `holes`: whether it is well-formed with one root, and the position of each
 * placeholder. Namespaces are not resolved. `problem` is the first mistake; it may be at a placeholder.
 */
export function xmlPlaces(
  text: string,
  holes: readonly number[],
): { readonly places: ReadonlyMap<number, XmlPlace>; readonly problem: XmlProblem | undefined } {
  const scan = new XmlScan(text, holes)
  return { problem: scan.run(), places: scan.places }
}

/**
 * A linear scan for well-formedness (XML 1.0). Holes are the offsets at which expressions insert text; each gets the kind of place it is
 * in.
 */
class XmlScan {
  readonly places = new Map<number, XmlPlace>()
  readonly #text: string
  readonly #holes: readonly number[]
  readonly #open: { readonly name: string; readonly at: number }[] = []
  #hasRoot = false
  #at = 0

  constructor(text: string, holes: readonly number[]) {
    this.#text = text
    this.#holes = holes
  }

  run(): XmlProblem | undefined {
    while (this.#at < this.#text.length) {
      const problem = this.#text[this.#at] === "<" ? this.#markup() : this.#characters()
      if (problem !== undefined) return problem
    }
    const last = this.#open.at(-1)
    if (last !== undefined) return { at: last.at, message: `\`<${last.name}>\` is not closed` }
    return this.#hasRoot ? undefined : { at: 0, message: "there is no element" }
  }

  /** Records the position of all placeholders before `end`. */
  #stand(end: number, place: XmlPlace): void {
    for (const each of this.#holes) if (each >= this.#at && each < end) this.places.set(each, place)
  }

  /** Character data up to the next tag. */
  #characters(): XmlProblem | undefined {
    const next = this.#text.indexOf("<", this.#at)
    const end = next === -1 ? this.#text.length : next
    const text = this.#text.slice(this.#at, end)
    const isOutside = this.#open.length === 0
    this.#stand(end, isOutside ? { refused: "outside of the root element" } : "text")
    const wrong = isOutside
      ? /[^ \t\r\n\ue000]/.exec(text)
      : (wrongReference.exec(text) ?? /\]\]>/.exec(text))
    const at = this.#at + (wrong?.index ?? 0)
    this.#at = end
    if (wrong === null) return undefined
    if (isOutside) return { at, message: "there is text outside of the root element" }
    return wrong[0] === "&"
      ? { at, message: "`&` does not start a reference; write `&amp;`" }
      : { at, message: "`]]>` must be written `]]&gt;`" }
  }

  /** Comments, CDATA, instructions, the document type and tags. */
  #markup(): XmlProblem | undefined {
    for (const { open, close, what } of closed) {
      if (!this.#text.startsWith(open, this.#at)) continue
      const found = this.#text.indexOf(close, this.#at + open.length)
      const wrong = open === "<?" ? this.#declaration(found) : undefined
      if (wrong !== undefined) return { at: this.#at, message: wrong }
      if (found === -1) return { at: this.#at, message: `${what} is not closed with \`${close}\`` }
      return this.#skip(found + close.length, what)
    }
    if (this.#text.startsWith("<!DOCTYPE", this.#at)) {
      const found = this.#match("doctype")
      if (found === undefined) return { at: this.#at, message: "the document type is not well-formed" }
      return this.#skip(this.#at + found[0].length, "the document type")
    }
    return this.#text[this.#at + 1] === "/" ? this.#endTag() : this.#startTag()
  }

  /** The problem of an XML declaration that ends at `end`, if there is one: a body is sent in UTF-8. */
  #declaration(end: number): string | undefined {
    const text = this.#text.slice(this.#at, end)
    if (!/^<\?xml\s/i.test(text)) return undefined
    if (this.#text.slice(0, this.#at).trim() !== "") return "the XML declaration is not at the beginning"
    const encoding = /\sencoding\s*=\s*["']([^"']*)/.exec(text)?.[1]
    return encoding === undefined || /^utf-8$/i.test(encoding)
      ? undefined
      : "the encoding of a body must be UTF-8"
  }

  #skip(end: number, what: string): undefined {
    this.#stand(end, { refused: `inside of ${what}` })
    this.#at = end
  }

  /** An end tag must close the element that was opened last. */
  #endTag(): XmlProblem | undefined {
    const found = this.#match("end")
    if (found === undefined) return this.#brokenTag()
    const last = this.#open.pop()
    const at = this.#at
    this.#at += found[0].length
    if (last?.name === found[1]) return undefined
    return last === undefined
      ? { at, message: `\`</${found[1]}>\` closes no element` }
      : { at, message: `\`</${found[1]}>\` closes no element: \`<${last.name}>\` is open` }
  }

  /** A start tag with its attributes. */
  #startTag(): XmlProblem | undefined {
    const begin = this.#at
    const tag = this.#match("start")?.[1]
    if (tag === undefined) return this.#brokenTag()
    if (this.#open.length === 0 && this.#hasRoot)
      return { at: begin, message: "there is a second root element" }
    this.#hasRoot = true
    this.#at += tag.length + 1
    const seen = new Set<string>()
    for (;;) {
      const found = this.#match("attribute")
      if (found === undefined) break
      const problem = this.#attribute(found, seen)
      if (problem !== undefined) return problem
    }
    const close = this.#match("close")
    if (close === undefined) return this.#brokenTag()
    this.#at += close[0].length
    if (close[1] === "") this.#open.push({ name: tag, at: begin })
    return undefined
  }

  /** An attribute. Its name must be unique in the element; a namespace cannot be computed, because names would change their meaning. */
  #attribute([whole, key = "", value = ""]: RegExpExecArray, seen: Set<string>): XmlProblem | undefined {
    const start = this.#at + whole.length - value.length
    const isNamespace = /^xmlns(?::|$)/.test(key)
    this.#stand(
      this.#at + whole.length,
      isNamespace ? { refused: "in the name of a namespace" } : "attribute",
    )
    const wrong = wrongReference.exec(value)
    if (wrong !== null)
      return { at: start + wrong.index, message: "`&` does not start a reference; write `&amp;`" }
    if (seen.has(key)) return { at: this.#at, message: `the attribute \`${key}\` is given twice` }
    seen.add(key)
    this.#at += whole.length
    return undefined
  }

  /** If the rest of a tag contains a placeholder, it is reported as the cause. */
  #brokenTag(): XmlProblem {
    const close = this.#text.indexOf(">", this.#at)
    this.#stand(close === -1 ? this.#text.length : close, {
      refused: "in a tag, outside of the quotes of an attribute",
    })
    return {
      at: this.#at,
      message: "the tag is not well-formed; attributes have quotes, and `<` is written `&lt;`",
    }
  }

  #match(pattern: keyof typeof patterns): RegExpExecArray | undefined {
    const found = patterns[pattern]
    found.lastIndex = this.#at
    return found.exec(this.#text) ?? undefined
  }
}
