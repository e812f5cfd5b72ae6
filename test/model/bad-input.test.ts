import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { Report } from "../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../compiler/core/source.ts"
import { compileModel } from "../../compiler/model/compile-model.ts"
import { readModel } from "../../runtime/model/read.ts"
import { validateModel } from "../../runtime/model/validate.ts"
import { authorizationModel } from "../../runtime/plan/authorization-model.ts"
import { reduced } from "../support/random-run.ts"

function compile(text: string) {
  const report = new Report()
  const compiled = compileModel(new SourceFile("model.fga", text), report)
  return { compiled, findings: report.sorted() }
}

const header = "model\n  schema 1.1\ntype user\n"

/** Texts of about a quarter of a megabyte, each made to tempt a part of the compiler into quadratic time or deep recursion. */
const heavy: Record<string, string> = {
  "unclosed parentheses on one line": `${header}type d\n  relations\n    define a: ${"(".repeat(200_000)}\n`,
  "an unclosed parenthesis on each line": `${header}type d\n  relations\n${"    define a: (\n".repeat(15_000)}`,
  "an open bracket and no further statement": `${header}type d\n  relations\n    define a: [${"user,\n".repeat(40_000)}`,
  "unclosed conditions": `${header}${"condition c(x: int) {\n".repeat(12_000)}`,
  "unclosed triple quotes": `${header}${"condition c(x: int) { '''\ncondition d(x: int) { \"\"\"\n".repeat(4_500)}`,
  "braces only": `${header}condition c(x: int) ${"{".repeat(200_000)}`,
  "comments only in a body": `${header}condition c(x: int) {\n${"// a\n".repeat(40_000)}}\n`,
  "strange characters": `${header}${"é a ".repeat(60_000)}`,
  "one long word": `${header}type ${"a".repeat(500_000)}\n`,
  "a long word that is not a name": `${header}type a${"-a".repeat(200_000)}--/\n`,
  blanks: `${header}${" \t".repeat(200_000)}\n`,
  "blank lines": `${header}${"\n  \n".repeat(100_000)}type x\n`,
  "blanks before a comment": `${header}condition c(x: int) {${" ".repeat(200_000)}#${" #".repeat(100_000)}\n}\n`,
  "types without number": `${header}${Array.from({ length: 10_000 }, (_, at) => `type t${at}\n`).join("")}`,
  "unknown relations": `${header}type d\n  relations\n${Array.from({ length: reduced(3_000, 10_000) }, (_, at) => `    define r${at}: x${at}\n`).join("")}`,
  "a chain of relations": `${header}type d\n  relations\n    define r0: [user]\n${Array.from({ length: 10_000 }, (_, at) => `    define r${at + 1}: r${at}\n`).join("")}`,
  "a ring of relations": `${header}type d\n  relations\n    define r10000: r0\n${Array.from({ length: 10_000 }, (_, at) => `    define r${at}: r${at + 1}\n`).join("")}`,
  "a wide union": `${header}type d\n  relations\n    define a: [user]${" or a".repeat(20_000)}\n`,
  "unused conditions": `${header}${Array.from({ length: 10_000 }, (_, at) => `condition c${at}(x: int) { x > 1 }\n`).join("")}`,
  "mixed operators": `${header}type d\n  relations\n    define a: [user]${" or a and a".repeat(20_000)}\n`,
}

describe("bad text", () => {
  test.each(Object.entries(heavy))("%s", (_, text) => {
    expect(text.length).toBeLessThan(1024 * 1024)
    const { compiled, findings } = compile(text)
    expect(compiled === undefined).toBe(findings.some(({ severity }) => severity === "error"))
    if (!/^blank|^a chain/.test(_)) expect(findings.length).toBeGreaterThan(0)
  })

  test("over the budget", () => {
    const { findings } = compile(`${header}# ${"a".repeat(1024 * 1024)}\n`)
    expect(findings.map(({ code }) => code)).toEqual(["SP4004"])
  })
})

const base = `model
  schema 1.1
# people
type user
type team
  relations
    define member: [user, user:*, team#member with late]
type document
  relations
    define parent: [document]
    define owner: [user] or (owner from parent but not blocked)
    define blocked: [user]
    define viewer: (owner and member from team) or blocked # seen
    define team: [team]
condition late(hour: int, names: list<string>) {
  hour > 22 && "{ # }" in names
}
`

/** What edits put in: signs and words of the language, and what is no part of it. */
const pieces = [
  ...'( ) [ ] { } " # : * , or and from with relations model \u0000 \uFEFF \\ é'.split(" "),
  ...["'''", "\n", "\r", " # ", "but not", "define ", "type ", "condition ", "schema 1.1"],
]

describe("a mutated model", () => {
  test("ends in findings, or is valid by itself", () => {
    const edit = fc.record({
      at: fc.nat(base.length),
      remove: fc.nat(12),
      insert: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6 })),
    })
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        const text = edits.reduce(
          (all, { at, remove, insert }) => all.slice(0, at) + insert + all.slice(at + remove),
          base,
        )
        const { compiled, findings } = compile(text)
        for (const { span, detail } of findings) {
          expect(span).toBeDefined()
          expect(span?.start).toBeGreaterThanOrEqual(0)
          expect(span?.start).toBeLessThanOrEqual(span?.end ?? -1)
          expect(span?.end).toBeLessThanOrEqual(text.length)
          expect(detail).not.toBe("")
        }
        if (compiled === undefined) expect(findings.some(({ severity }) => severity === "error")).toBe(true)
        else {
          expect(authorizationModel.safeParse(compiled.model).success).toBe(true)
          expect(readModel(JSON.parse(JSON.stringify(compiled.model)))).toEqual({ model: compiled.model })
          expect(validateModel(compiled.model)).toEqual([])
        }
      }),
      { numRuns: 800 },
    )
  })
})

describe("a model without one of its lines", () => {
  test("shows the mistakes in all others", () => {
    const lines = base.split("\n")
    const marked = base.replace("define blocked: [user]", "define blocked: [usr]").split("\n")
    const wrong = marked.findIndex((line) => line.includes("usr"))
    for (const at of lines.keys()) {
      // Without `type document` the relation would belong to another type, without its line there is nothing wrong.
      if (at === wrong) continue
      const { findings } = compile(marked.filter((_, index) => index !== at).join("\n"))
      expect(
        findings.some(({ code }) => code === "SP4021"),
        `without line ${at + 1}`,
      ).toBe(true)
    }
  })
})
