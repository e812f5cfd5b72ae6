import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { type DiagnosticsFormat, renderDiagnostics, summaryOf } from "../../compiler/render/diagnostics.ts"
import { explainCode } from "../../compiler/render/explain.ts"

/** A report with one finding: the first `[` to the first `]` of the text, which are taken out. */
function reportOn(marked: string, detail = "detail", path = "a.conf"): Report {
  const start = marked.indexOf("[")
  const end = marked.indexOf("]") - 1
  const file = new SourceFile(path, marked.replace("[", "").replace("]", ""))
  const report = new Report()
  report.add("SP1001", file.span(start, end), detail)
  return report
}

function render(report: Report, format: DiagnosticsFormat, colour = false): string {
  return renderDiagnostics(report.sorted(), format, { colour })
}

/** The frame of a finding: what is printed between its place and its help. */
function frame(marked: string): string[] {
  return render(reportOn(marked), "text").split("\n").slice(2, -2)
}

/** `[what, text with the span in brackets, frame]` */
const frames: [string, string, string[]][] = [
  ["a word", "a [bcd] e\nf", ["    a bcd e", "      ^^^"]],
  ["nothing", "a []b", ["    a b", "      ^"]],
  ["the end of the file", "a\n[]", ["", "    ^"]],
  ["the end of a line", "a []\nb", ["    a", "      ^"]],
  ["a tab before it", "\ta\t[b]", ["        a   b", "            ^"]],
  ["a tab in it", "[a\tb]", ["    a   b", "    ^^^^^"]],
  ["wide characters", "価格 [価] x", ["    価格 価 x", "         ^^"]],
  ["emoji and combining marks", "😀e\u0301 [x]", ["    😀e\u0301 x", "        ^"]],
  ["two lines", "a [b\n  c] d", ["    a b", "      ^", "      c d", "      ^"]],
  ["many lines", "a {[b\nc\nd\n\te]}", ["    a {b", "       ^", "    …", "        e}", "        ^"]],
  ["a line end", "a[\n]b", ["    a", "     ^"]],
  ["control characters", "\u001b[31m] \u0000", ["    ␛31m ␀", "     ^^^"]],
]

describe("a frame", () => {
  test.each(frames)("of %s", (_what, marked, expected) => {
    expect(frame(marked)).toEqual(expected)
  })

  test("of a long line is cut around what is marked", () => {
    const [source, marks] = frame(`${"a".repeat(200)}[bbb]${"c".repeat(200)}`) as [string, string]
    expect(source.length).toBeLessThanOrEqual(106)
    expect(source).toMatch(/^ {4}…a+bbbc+…$/)
    expect(source.slice(marks.indexOf("^"), marks.length)).toBe("bbb")
  })

  test("of a long mark is cut, too", () => {
    const [source, marks] = frame(`x [${"b".repeat(500)}] y`) as [string, string]
    expect(source).toMatch(/^ {4}x b+…$/)
    expect(marks.length).toBeLessThanOrEqual(source.length)
  })
})

describe("a frame of a minified file", () => {
  const size = 3_000_000
  const line = `${"ab😀\t".repeat(size / 5)}END`
  const file = new SourceFile("a.json", line)
  const shownAt = (start: number, end: number): string[] => {
    const report = new Report()
    report.add("SP1001", file.span(start, end), "detail")
    return render(report, "text").split("\n").slice(2, -2)
  }

  // A frame that looks at the whole line takes a second for each of them: the test would run out of time.
  test("is cut out of the line, whatever its length", () => {
    const report = new Report()
    for (let at = 0; at < 200; at++) report.add("SP1001", file.span(at * 14_000, at * 14_000 + 2), "detail")
    expect(render(report, "text").match(/\^\^/g)).toHaveLength(200)
    expect(render(report, "markdown").match(/\^\^/g)).toHaveLength(200)
  })

  test("has no half character, and an ellipsis on each side that goes on", () => {
    const [source = "", marks = ""] = shownAt(1_500_000, 1_500_002)
    expect(source).toMatch(/^ {4}….*….*|^ {4}….*…$/u)
    expect(source).not.toMatch(/\p{Surrogate}/u)
    expect(source.slice(marks.indexOf("^")).startsWith("ab")).toBe(true)
    expect(shownAt(0, 2)[0]).toMatch(/^ {4}ab😀.*…$/u)
    expect(shownAt(line.length - 3, line.length)[0]).toMatch(/^ {4}….*END$/u)
    expect(shownAt(0, line.length)[0]).toMatch(/^ {4}ab😀.*…$/u)
  })
})

describe("text", () => {
  test("shows related places, and help", () => {
    const file = new SourceFile("a.conf", "one\ntwo\n")
    const report = new Report()
    report.add("SP0011", file.span(4, 7), "detail", {
      related: [{ span: file.span(0, 3), message: "here first" }],
    })
    expect(render(report, "text")).toBe(
      "error SP0011 File included twice\n  a.conf:2:1  detail\n    two\n    ^^^\n  a.conf:1:1  here first\n    one\n    ---\n  help: Keep one of the `include` statements.\n",
    )
  })

  test("is coloured only when asked", () => {
    expect(render(reportOn("[a]"), "text", false)).not.toContain("\u001b")
    expect(render(reportOn("[a]"), "text", true)).toContain("\u001b[31merror")
  })

  test("makes visible what could command a terminal", () => {
    const text = render(reportOn("[a]", "bad \u001b]0;x\u0007 \u202e", "x\u001b[2J.conf"), "text")
    expect(text).toContain("bad ␛]0;x␇ \ufffd")
    expect(text).not.toContain("\u001b")
  })

  test("shows 200 findings, errors first", () => {
    const file = new SourceFile("a.conf", "x".repeat(400))
    const report = new Report()
    for (let at = 0; at < 250; at++) report.add("SP0012", file.span(at, at + 1), "warning")
    for (let at = 250; at < 300; at++) report.add("SP1001", file.span(at, at + 1), "error")
    const text = render(report, "text")
    expect(text.match(/^error/gm)).toHaveLength(50)
    expect(text.match(/^warning/gm)).toHaveLength(150)
    expect(text).toMatch(/\n\nand 100 more\n$/)
    expect(summaryOf(report.sorted())).toBe("50 errors, 250 warnings")
  })

  test("of nothing is empty", () => {
    expect(render(new Report(), "text")).toBe("")
    expect(summaryOf([])).toBe("no findings")
  })
})

test("json holds places as offsets, lines and columns", () => {
  const document = JSON.parse(render(reportOn("ab\nc[d\ne]f"), "json"))
  expect(document).toMatchObject({ format: 1, errors: 1, warnings: 0, infos: 0 })
  expect(document.findings[0]).toMatchObject({
    severity: "error",
    code: "SP1001",
    detail: "detail",
    place: {
      file: "a.conf",
      start: { line: 2, column: 2, offset: 4 },
      end: { line: 3, column: 2, offset: 7 },
    },
    related: [],
  })
  expect(JSON.parse(render(new Report(), "json")).findings).toEqual([])
})

test("github escapes what would end a property or a command", () => {
  expect(render(reportOn("[ab]", "100 % wrong", "a,b:c.conf"), "github")).toBe(
    "::error file=a%2Cb%3Ac.conf,line=1,endLine=1,col=1,endColumn=3,title=SP1001 Unclosed brace::100 %25 wrong. Add the missing `}`.\n",
  )
  expect(render(reportOn("[a\nb]"), "github")).toContain("line=1,endLine=2,title=")
  const injected = render(reportOn("[ab]", "x\n::error::y"), "github")
  expect(injected.trimEnd().split("\n")).toHaveLength(1)
})

test("sarif is a 2.1.0 log whose results name their rules", () => {
  const log = JSON.parse(render(reportOn("ab\nc[d]e", "detail", "teams/a b.conf"), "sarif"))
  const [run] = log.runs
  expect(log.version).toBe("2.1.0")
  expect(run.tool.driver.rules.map((rule: { id: string }) => rule.id)).toEqual(["SP1001"])
  expect(run.results[0]).toMatchObject({
    ruleId: "SP1001",
    ruleIndex: 0,
    level: "error",
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: "teams/a%20b.conf" },
          region: { startLine: 2, startColumn: 2, endLine: 2, endColumn: 3, charOffset: 4, charLength: 1 },
        },
      },
    ],
  })
})

test("markdown keeps user text from being markup", () => {
  const text = render(reportOn("[```]", "no `<b>` but <img> here"), "markdown")
  expect(text).toContain("no `<b>` but \\<img\\> here")
  expect(text).toContain("````text\n```\n^^^\n````")
  expect(text).toContain("**1 error**")
})

test("explain knows a code in any case, and no other", () => {
  expect(explainCode("sp1001")).toMatch(/^SP1001 Unclosed brace \(error\)\n\nEvery `\{`/)
  expect(explainCode("SP9999")).toBeUndefined()
  expect(explainCode("constructor")).toBeUndefined()
})

describe("reports for other systems", () => {
  const findings = [...reportOn("a [b]\n").sorted(), ...reportOn("a\n[b]\n").sorted()]

  test("GitLab's: equal findings have their own fingerprints, which do not depend on lines", () => {
    const read = (some: typeof findings) =>
      JSON.parse(renderDiagnostics(some, "gitlab", { colour: false })) as {
        fingerprint: string
        location: object
      }[]
    const [first, second] = read(findings)
    expect(first?.location).toEqual({ path: "a.conf", lines: { begin: 1, end: 1 } })
    expect(second?.location).toEqual({ path: "a.conf", lines: { begin: 2, end: 2 } })
    expect(first?.fingerprint).not.toBe(second?.fingerprint)
    expect(read(findings.slice(1))[0]?.fingerprint).toBe(first?.fingerprint)
    expect(read([])).toEqual([])
  })

  test("JUnit's: an error is a failure, a warning passes, and nothing is one case that passes", () => {
    const warning = {
      ...(findings[1] as (typeof findings)[0]),
      severity: "warning",
      detail: '<b> "c" \u001b',
    } as const
    const report = renderDiagnostics([...findings.slice(0, 1), warning], "junit", { colour: false })
    expect(report).toContain('tests="2" failures="1"')
    expect(report).toContain('<failure type="SP1001" message="detail">')
    expect(report).toContain("a.conf:2:1  &lt;b&gt; &quot;c&quot; \u241b")
    expect(renderDiagnostics([], "junit", { colour: false })).toContain(
      '<testcase classname="sallyport" name="validate"/>',
    )
  })
})
