import { parseXml, type XmlElement } from "@rgrove/parse-xml"
import { expect, test } from "vitest"
import { hole, xmlPlaces } from "../../compiler/gateway/lower/xml-places.ts"
import { escapeXmlAttribute, escapeXmlText } from "../../runtime/expression/xml-characters.ts"

const templates = [
  `<a>${hole}</a>`,
  `<a b="${hole}"/>`,
  `<a b='${hole}' c="x${hole}y"><d>1${hole}<e/>2</d></a>`,
  `<?xml version="1.0"?><!-- x --><a x="&lt;${hole}&amp;">&#65;${hole}&gt;<![CDATA[<]]></a>`,
]
const hostile = [
  "<",
  ">",
  "&",
  '"',
  "'",
  "]]>",
  "<!--",
  "-->",
  "&lt;",
  "&#60;",
  "</a>",
  "/>",
  "\n",
  "\t",
  "\r",
  " ",
  "x=",
  "😀",
  "é",
  "<?",
  "<![CDATA[",
  "%",
  "\u0085",
]

/** A generator of numbers below 1 that is the same in every run. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** What a reader finds: names, attributes and texts of all elements. */
function read(element: XmlElement): unknown {
  const children = element.children.flatMap((child) =>
    child.type === "element" ? [read(child as XmlElement)] : [],
  )
  return { name: element.name, attributes: { ...element.attributes }, text: element.text, children }
}

test("whatever a value is, a reader finds it where it was put, and nothing else", () => {
  const next = numbers(7)
  for (let round = 0; round < 2000; round++) {
    const template = templates[round % templates.length] as string
    const offsets = [...template].flatMap((character, at) => (character === hole ? [at] : []))
    const { places, problem } = xmlPlaces(template, offsets)
    expect(problem).toBeUndefined()
    const values = offsets.map(() =>
      Array.from(
        { length: 1 + Math.floor(next() * 5) },
        () => hostile[Math.floor(next() * hostile.length)],
      ).join(""),
    )
    const fill = (of: (value: string, at: number) => string): string => {
      let index = 0
      return [...template]
        .map((character, at) => (character === hole ? of(values[index++] as string, at) : character))
        .join("")
    }
    const written = fill((value, at) => {
      const escaped = places.get(at) === "text" ? escapeXmlText(value) : escapeXmlAttribute(value)
      return escaped ?? "never"
    })
    // Marks stand for the values in what is expected, and are replaced in what the reader found.
    let mark = 0
    const marked = parseXml(fill(() => `\ue001${mark++}\ue002`))
    const wanted = JSON.parse(JSON.stringify(read(marked.root as XmlElement)), (_, part: unknown) =>
      typeof part === "string"
        ? part.replace(/\ue001(\d+)\ue002/g, (_whole, number: string) => values[Number(number)] as string)
        : part,
    )
    expect(read(parseXml(written).root as XmlElement)).toEqual(wanted)
  }
})
