import { readFileSync } from "node:fs"
import fc from "fast-check"
import { expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { runSuite } from "../../compiler/model-test/run.ts"
import { StoreFiles } from "../../compiler/model-test/store-file.ts"
import { projectRoot } from "../structure/tree.ts"
import { scaled } from "../support/random-run.ts"

const runs = scaled(100, 0.4)
const read = (path: string): string => readFileSync(`${projectRoot}models/${path}`, "utf8")
const model = read("acme.fga")
const inline = `model: |\n${model.replace(/^/gm, "  ")}\n${read("tests/acme.fga.yaml").replace(/^model_file.*$/m, "tuple_files: [a.csv, b.jsonl]")}`
const csv = "user_type,user_id,relation,object_type,object_id\nuser,zoe,owner,order,7\n"
const lines = '{"user": "user:yan", "relation": "owner", "object": "order:7"}\n'

/** Pieces that YAML, CSV and this format give a meaning to. */
const pieces = [
  "\n",
  "  ",
  "- ",
  ": ",
  '"',
  "'",
  "{",
  "}",
  "[",
  "]",
  ",",
  "&a ",
  "*a",
  "<<: ",
  "|",
  "#",
  "user:*",
  "\t",
  "\u0000",
  "---\n",
  "null",
  "!!x ",
  "é",
]

const edit = fc.record({
  file: fc.constantFrom("a.fga.yaml", "a.csv", "b.jsonl"),
  at: fc.nat(6_000),
  remove: fc.nat(12),
  insert: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6 })),
})

test("whatever is in the files, it is findings or answers, and places are in the files", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
      const texts = new Map([
        ["a.fga.yaml", inline],
        ["a.csv", csv],
        ["b.jsonl", lines],
      ])
      for (const { file, at, remove, insert } of edits) {
        const text = texts.get(file) ?? ""
        const start = at % (text.length + 1)
        texts.set(file, text.slice(0, start) + insert + text.slice(start + remove))
      }
      const report = new Report()
      const project = new Project(new MemoryFiles(texts), report)
      const file = project.read("a.fga.yaml", undefined)
      const suites = file === undefined ? [] : new StoreFiles(project, report).read(file)
      for (const { span } of report.sorted()) {
        if (span === undefined) continue
        expect(span.start).toBeLessThanOrEqual(span.end)
        expect(span.end).toBeLessThanOrEqual(span.file.text.length)
      }
      for (const suite of suites) await runSuite(suite)
    }),
    { numRuns: runs },
  )
})
