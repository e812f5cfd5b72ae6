import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type JsonToXmlOptions, xmlOfJson } from "../../runtime/policies/bodies/json-xml.ts"
import { jsonOfXml } from "../../runtime/policies/bodies/xml-json.ts"
import { XmlProblem } from "../../runtime/policies/bodies/xml-reading.ts"

const direct = { style: "direct", alwaysArray: false } as const
const plain: JsonToXmlOptions = {
  parseDates: false,
  namespaceSeparator: "_",
  namespacePrefix: undefined,
  attributeBlock: undefined,
}

describe("XML to JSON", () => {
  const source = `<?xml version="1.0"?>
<order id="7" xmlns:x="urn:x"><!-- no -->
  <item>1</item><item a="b">2</item>
  <x:note><![CDATA[<hi>]]></x:note><empty/><blank></blank>
</order>`

  test("attributes with @, repeated children as arrays", () => {
    expect(jsonOfXml(source, direct)).toEqual({
      order: {
        "@id": "7",
        "@xmlns:x": "urn:x",
        item: ["1", { "@a": "b", "#text": "2" }],
        "x:note": "<hi>",
        empty: null,
        blank: "",
      },
    })
  })

  test("attributes as members, children always arrays", () => {
    expect(jsonOfXml("<a n='1'><b>2</b></a>", { style: "javascript-friendly", alwaysArray: true })).toEqual({
      a: { n: "1", b: ["2"] },
    })
  })

  test("names of JavaScript's own are names like any other", () => {
    const value = jsonOfXml("<a><__proto__>1</__proto__><constructor>2</constructor></a>", direct)
    expect(JSON.stringify(value)).toBe('{"a":{"__proto__":"1","constructor":"2"}}')
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined()
  })

  test.each([
    ["not closed", "<a>"],
    ["two roots", "<a/><b/>"],
    ["an entity of its own", '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'],
    ["nothing", ""],
    ["a billion levels", "<a>".repeat(100_000)],
    ["hidden levels", `<!-- > --><a b="/>">${"<a>".repeat(250)}`],
    ["too much", `<a>${"x".repeat(1_100_000)}</a>`],
  ])("%s is refused", (_, text) => {
    expect(() => jsonOfXml(text, direct)).toThrow(XmlProblem)
  })
})

describe("JSON to XML", () => {
  test("a single member is the root", () => {
    const value = {
      order: { "@id": 7, item: ["a", { "#text": "<b>", "@n": 'x"\n' }], none: null, yes: true },
    }
    expect(xmlOfJson(value, plain).toString()).toBe(
      '<order id="7"><item>a</item><item n="x&#34;&#10;">&#60;b&#62;</item><none /><yes>true</yes></order>',
    )
  })

  test.each([
    [{ a: 1, b: 2 }, "<Document><a>1</a><b>2</b></Document>"],
    [[1, 2], "<Document><item>1</item><item>2</item></Document>"],
    ["text", "<Document>text</Document>"],
    [{ a: [1, 2] }, "<Document><a>1</a><a>2</a></Document>"],
    [{ a: { "1 b": "x", "": "y" } }, "<a><_x0031__x0020_b>x</_x0031__x0020_b><_>y</_></a>"],
    [{ a: "\u0000\ud800" }, "<a>\ufffd\ufffd</a>"],
  ])("%j", (value, xml) => {
    expect(xmlOfJson(value, plain).toString()).toBe(xml)
  })

  test("namespaces, a block of attributes, dates", () => {
    const options = { ...plain, namespacePrefix: "xmlns", attributeBlock: "$", parseDates: true }
    const value = { a: { xmlns_x: "urn:x", $: { n: 1 }, x_b: "2026-01-01T00:00:00.500Z", y_c: "z" } }
    expect(xmlOfJson(value, options).toString()).toBe(
      '<a xmlns:x="urn:x" n="1"><x:b>2026-01-01T00:00:00.5Z</x:b><y_c>z</y_c></a>',
    )
  })

  test("what is too deep is refused", () => {
    let value: unknown = 1
    for (let at = 0; at < 300; at += 1) value = { a: value }
    expect(() => xmlOfJson(value, plain)).toThrow(XmlProblem)
  })

  test("whatever the JSON, the XML can be read", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        jsonOfXml(xmlOfJson(value, plain).toString(), direct)
      }),
      { numRuns: 300 },
    )
  })
})
