import { expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { StoreFiles } from "../../compiler/model-test/store-file.ts"

function findingsOf(text: string): { code: string; detail: string }[] {
  const report = new Report()
  const project = new Project(new MemoryFiles([["a.fga.yaml", text]]), report)
  const file = project.read("a.fga.yaml", undefined)
  if (file !== undefined) expect(new StoreFiles(project, report).read(file)).toEqual([])
  return report.sorted()
}

const model =
  "model: |\n  model\n    schema 1.1\n  type user\n  type doc\n    relations\n      define owner: [user]\n"
const times = (count: number, text: string): string => Array.from({ length: count }, () => text).join(", ")

test("lists of references to lists of references are not read to their end", () => {
  const text = `${model}tests:
  - name: first
    check:
      - &check { users: &users [${times(100, "user:ann")}], object: doc:1, assertions: { owner: false } }
  - &test { name: many, check: [${times(1000, "*check")}] }
  - ${times(1, "*test")}
${Array.from({ length: 1000 }, () => "  - *test\n").join("")}`
  expect(findingsOf(text).map(({ code }) => code)).toContain("SP6013")
})

test("so are references in a context", () => {
  const bomb = `a: &a [1,1,1,1,1,1,1,1,1,1], b: &b [${times(10, "*a")}], c: &c [${times(10, "*b")}], d: [${times(10, "*c")}]`
  const text = `${model}tests:
  - check:
      - { user: user:ann, object: doc:1, context: { ${bomb} }, assertions: { owner: false } }
`
  expect(findingsOf(text).map(({ code }) => code)).toEqual(["SP6013"])
})

test("nesting without end is a finding", () => {
  expect(findingsOf(`tests: ${"[".repeat(100_000)}`).map(({ code }) => code)).toContain("SP6001")
})

test("users times objects times relations have a bound", () => {
  const names = (type: string): string => Array.from({ length: 400 }, (_, at) => `"${type}:${at}"`).join(", ")
  const text = `${model}tests:
  - check:
      - { users: [${names("user")}], objects: [${names("doc")}], assertions: { owner: false } }
`
  expect(findingsOf(text)).toMatchObject([
    { code: "SP6013", detail: expect.stringContaining("160000 questions") },
  ])
})
