import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { fixedFiles } from "../../compiler/core/fixes.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { compile } from "../compile.ts"
import { folderWith, run } from "./run.ts"

const project = (lines: readonly string[]): string =>
  `gateway g {
  listen 127.0.0.1:8000
  trust none
}
backend b { url "http://127.0.0.1:9001" }
api a {
  path "/a"
  auth none
  backend b
${lines.map((line) => `  ${line}`).join("\n")}
}
`

/** One mistake of each code that has fixes: the lines of an API, and what they become. */
const fixes: readonly (readonly [code: string, lines: readonly string[], fixed: readonly string[]])[] = [
  [
    "SP1006",
    ['GET "/" {', "  respond 200 {", "    body json <<JSON", "      {}", "    JSN", "  }", "}"],
    ['GET "/" {', "  respond 200 {", "    body json <<JSON", "      {}", "    JSON", "  }", "}"],
  ],
  ["SP1010", ["GET '/'"], ['GET "/"']],
  ["SP1011", ["GET “/”"], ['GET "/"']],
  [
    "SP1012",
    ['cors { origins "https://a.example"; methods GET, PUT }', 'GET "/"'],
    ['cors { origins "https://a.example"; methods GET PUT }', 'GET "/"'],
  ],
  [
    "SP1013",
    ['GET "/" { respond 200 { body json({"a": 1}) } }'],
    ['GET "/" { respond 200 { body json ({"a": 1}) } }'],
  ],
  [
    "SP1015",
    ['outbound { header set "X-Id" ${request.id} }', 'GET "/"'],
    ['outbound { header set "X-Id" "${request.id}" }', 'GET "/"'],
  ],
  ["SP1031", ['GET\u200b "/"'], ['GET "/"']],
  ["SP1032", ['timeout 5s\r  GET "/"'], ["timeout 5s", 'GET "/"']],
  ["SP1034", ["GET /{id}"], ['GET "/{id}"']],
  ["SP1035", ['GET\u00a0"/"'], ['GET "/"']],
  ["SP1036", ['GET "/" // everything', 'PUT "/" /* later */'], ['GET "/" # everything', 'PUT "/" # later']],
  ["SP2001", ["tiemout 5s", 'GET "/"'], ["timeout 5s", 'GET "/"']],
  ["SP2036", ["timeout = 5s", 'GET "/"'], ["timeout  5s", 'GET "/"']],
  [
    "SP2039",
    ['cors { origins "https://a.example/" }', 'GET "/"'],
    ['cors { origins "https://a.example" }', 'GET "/"'],
  ],
]

const findingsIn = (text: string) =>
  compile(new MemoryFiles([["gateway.conf", text]]), "gateway.conf").diagnostics

test.each(fixes)("the fix of %s leaves no finding of its code", (code, lines, fixed) => {
  const found = findingsIn(project(lines))
  expect(found.map((each) => each.code)).toContain(code)
  const [file] = fixedFiles(found)
  expect(file?.after).toBe(project(fixed))
  expect(findingsIn(file?.after ?? "")).toEqual([])
})

test("edits that overlap wait for the next round", () => {
  const [file] = fixedFiles(findingsIn(project(['GET "/" // a', "PUT '/'", "tiemout 5s"])))
  expect(file?.count).toBe(3)
  expect(findingsIn(file?.after ?? "")).toEqual([])
})

test("--fix writes, --dry-run only shows a diff that patch accepts", async () => {
  const cwd = folderWith({})
  const path = join(cwd, "gateway.conf")
  const broken = project(['GET "/" // everything', "", "timeout 5s", "", "PUT '/'", "nonsense"])
  writeFileSync(path, `\ufeff${broken}`)
  const shown = await run({ cwd }, "validate", "--fix", "--dry-run")
  expect(shown.out).toContain("-  PUT '/'\n+  PUT \"/\"\n")
  expect(shown.err).toContain("SP2001")
  expect(readFileSync(path, "utf8")).toBe(`\ufeff${broken}`)

  const written = await run({ cwd }, "validate", "--fix")
  expect(written.err).toBe("gateway.conf: 2 findings fixed\n")
  expect(written.out).toContain("SP2001 Unknown keyword")
  expect(written.code).toBe(1)
  const after = readFileSync(path, "utf8")
  expect(after.startsWith("\ufeff")).toBe(true)

  writeFileSync(path, broken)
  execFileSync("git", ["apply", "-"], { cwd, input: shown.out })
  expect(readFileSync(path, "utf8")).toBe(after.slice(1))
})

test("programs get the edits, too", () => {
  const found = findingsIn(project(["GET '/'"]))
  const edits = JSON.parse(renderDiagnostics(found, "json", { colour: false })).findings[0].fix
  expect(edits).toEqual([{ place: expect.objectContaining({ file: "gateway.conf" }), text: '"/"' }])
  const [result] = JSON.parse(renderDiagnostics(found, "sarif", { colour: false })).runs[0].results
  expect(result.fixes[0].artifactChanges[0].replacements).toEqual([
    {
      deletedRegion: expect.objectContaining({ startLine: 10, startColumn: 7 }),
      insertedContent: { text: '"/"' },
    },
  ])
})
