import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Element, PolicyDocument } from "../../../compiler/azure/ast.ts"
import { readPolicyDocument } from "../../../compiler/azure/reader/read-document.ts"
import { sourceTextOf } from "../../../compiler/azure/source-text.ts"
import { Report } from "../../../compiler/core/diagnostic.ts"
import { SourceFile, textOf } from "../../../compiler/core/source.ts"
import { conformanceFiles, conformanceText, describeConformance } from "../../model/conformance.ts"

function read(text: string): { document: PolicyDocument; findings: string[] } {
  const report = new Report()
  const document = readPolicyDocument(new SourceFile("a.xml", text), report)
  const findings = report.sorted().map(({ code, span, detail }) => {
    const place = span?.file.position(span.start)
    return `${code} ${place?.line}:${place?.column} ${detail}`
  })
  return { document, findings }
}

function everyElement(element: Element | undefined): Element[] {
  if (element === undefined) return []
  return [
    element,
    ...element.children.flatMap((child) => (child.kind === "element" ? everyElement(child) : [])),
  ]
}

/** The code of the first expression of a document, entities replaced. */
function codeOf(text: string): string | undefined {
  const { document, findings } = read(text)
  expect(findings).toEqual([])
  for (const element of everyElement(document.root))
    for (const raw of [
      ...element.attributes.map((each) => each.raw),
      ...element.children.flatMap((child) => (child.kind === "text" ? [child.raw] : [])),
    ])
      if (raw.inner !== undefined) return sourceTextOf(raw, document.file, document.plain).text
  return undefined
}

const inbound = (text: string): string => `<policies><inbound>${text}</inbound></policies>`

describe("expressions of documents run to their close", () => {
  test.each([
    ['<a v="@(x == "a)\\"b" ? 1 : 2)" />', 'x == "a)\\"b" ? 1 : 2'],
    [`<a v="@(c == '"' || d == ')')" />`, `c == '"' || d == ')'`],
    ['<a v="@(@"c:\\" + x["k"])" />', '@"c:\\" + x["k"]'],
    ['<a v="@(@"say ""hi"" (" + y)" />', '@"say ""hi"" (" + y'],
    ['<a v="@($"a{d["x"]}b{{c}}")" />', '$"a{d["x"]}b{{c}}"'],
    ['<a v="@($"{f($"{g(")")}")}")" />', '$"{f($"{g(")")}")}"'],
    ['<a v="@{ /* ) " } */ return 1; // "\n }" />', ' /* ) " } */ return 1; // "\n '],
    ['<a>@(Body.As<JObject>()["x"])</a>', 'Body.As<JObject>()["x"]'],
    ["<a> \n @{ return a < b && c > d; } \n </a>", " return a < b && c > d; "],
    ["<a><![CDATA[@(a && b)]]></a>", "a && b"],
    ['<a v="@(h(&quot;X)&quot;, &quot;&quot;))" />', 'h("X)", "")'],
    ['<a v="@(h(\\"X)\\", Y()))" />', 'h(\\"X)\\", Y())'],
    ['<a v="@(h(&amp;quot;X&amp;quot;) &amp;amp;&amp;amp; b)" />', 'h("X") && b'],
    ["<a v='@(h(\"X\") &lt; 3)' />", 'h("X") < 3'],
    ['<a v="@(a < 3 ? "&amp;" : "&quot;")" />', 'a < 3 ? "&amp;" : "&quot;"'],
    ['<a>@("a&amp;b")</a>', '"a&b"'],
  ])("%s", (text, code) => {
    expect(codeOf(inbound(text))).toBe(code)
  })

  test("places in the code are places in the file", () => {
    const { document } = read(inbound('<a v="@(h(&quot;X&quot;) + y)" />'))
    const raw = everyElement(document.root).at(-1)?.attributes[0]?.raw
    if (raw === undefined) throw new Error("no attribute")
    const code = sourceTextOf(raw, document.file, document.plain)
    const at = code.text.indexOf("y")
    expect(textOf(code.span(at, at + 1))).toBe("y")
    expect(textOf(code.span(2, 5))).toBe("&quot;X&quot;")
  })
})

describe("what is not a document is told with place and way out", () => {
  test.each([
    ["", ["SP7002 1:1 there is neither `<policies>` nor `<fragment>`"]],
    ["<policy/>", ["SP7002 1:2 a document cannot start with `<policy>`"]],
    ["<a /><b><c /></b>", []],
    ["<a /><policies/>", ["SP7002 1:2 a document cannot start with `<a>`"]],
    [
      '<policies><a key="k-@(f("x", ""))@(y)" b="1"/></policies>',
      ["SP7004 1:21 `key` contains other text beside the expression"],
    ],
    [
      inbound("<audience>api://<client-id></audience><b/>"),
      ["SP7001 1:36 the placeholder `<client-id>` was not replaced"],
    ],
    ["# notes\n#\n\n<policies/>", ["SP7001 1:1 there is text outside of the document"]],
    ["<policies/><fragment/>", ["SP7002 1:13 `<fragment>` comes after the end of the document"]],
    [
      "<policies>\n<inbound></policies>",
      ["SP7001 2:1 `<inbound>` has no end tag: `</policies>` comes first"],
    ],
    [
      "<policies></inbound></policies>",
      ["SP7001 1:11 `</inbound>` has no start tag; `<policies>` is open here"],
    ],
    [inbound("<a v=1 />"), ["SP7001 1:25 the value of `v` has no quotes"]],
    [inbound('<a v="1" v="2" />'), ["SP7001 1:29 `v` is given twice"]],
    [inbound('<a v="@(1" />'), ["SP7004 1:26 the expression in `v` is not closed"]],
    [inbound('<a v="@(1) + 2" />'), ["SP7004 1:31 `v` contains other text beside the expression"]],
    [inbound("<!-- never"), expect.arrayContaining(["SP7001 1:20 the comment has no `-->`"])],
    [
      '<!DOCTYPE p [<!ENTITY x SYSTEM "file:///etc/passwd">]><policies/>',
      expect.arrayContaining([expect.stringMatching(/^SP7001 1:1 a document cannot declare types/)]),
    ],
    ["<a>".repeat(70), expect.arrayContaining([expect.stringMatching(/^SP7003 .* 64 levels/)])],
  ])("%s", (text, expected) => {
    expect(read(text).findings).toEqual(expected)
  })

  test("several mistakes are told in one run", () => {
    const text = '<policies>\n<inbound>\n<a x=1 />\n<b y="@(" />\n</inbounds>\n</inbound>\n</policies>'
    expect(read(text).findings.map((each) => each.slice(0, 10))).toEqual([
      "SP7001 3:6",
      "SP7004 4:7",
      "SP7001 5:1",
    ])
  })
})

describeConformance("public policy documents", () => {
  const files = conformanceFiles("apim").filter((path) => path.endsWith(".xml"))

  test("are all read", () => {
    expect(files).toHaveLength(30)
    expect(files.filter((path) => read(conformanceText(path)).findings.length > 0)).toEqual([])
  })

  test("mutated they come to an end, and findings have places", () => {
    const texts = files.map((path) => conformanceText(path))
    const strange = fc.constantFrom(
      '"',
      "<",
      ">",
      "@(",
      "@{",
      "&",
      "'",
      "-->",
      "<!--",
      "]]>",
      "<![CDATA[",
      "{{",
      "/*",
      '$"{',
      "",
    )
    const mutation = fc.tuple(fc.nat(), fc.nat(30), strange)
    fc.assert(
      fc.property(
        fc.nat(texts.length - 1),
        fc.array(mutation, { minLength: 1, maxLength: 5 }),
        (which, mutations) => {
          let text = texts[which] as string
          for (const [at, length, put] of mutations) {
            const place = at % text.length
            text = text.slice(0, place) + put + text.slice(place + length)
          }
          const report = new Report()
          readPolicyDocument(new SourceFile("a.xml", text), report)
          for (const { span } of report.sorted()) {
            expect(span?.start).toBeLessThanOrEqual(span?.end ?? -1)
            expect(span?.end).toBeLessThanOrEqual(text.length)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})
