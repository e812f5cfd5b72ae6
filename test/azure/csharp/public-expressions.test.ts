import { expect, test } from "vitest"
import type { Element, Raw } from "../../../compiler/azure/ast.ts"
import { compileCsharp } from "../../../compiler/azure/csharp/compile-csharp.ts"
import { readPolicyDocument } from "../../../compiler/azure/reader/read-document.ts"
import { sourceTextOf } from "../../../compiler/azure/source-text.ts"
import { Report } from "../../../compiler/core/diagnostic.ts"
import { SourceFile } from "../../../compiler/core/source.ts"
import { compileProgram } from "../../../runtime/azure/csharp/compile.ts"
import { csharpProgram } from "../../../runtime/plan/csharp.ts"
import { conformanceFiles, conformanceText, describeConformance } from "../../model/conformance.ts"

const sections = ["inbound", "backend", "outbound", "on-error"] as const
type Section = (typeof sections)[number]

/** Every expression of an element and what is in it, with the section it stands in. */
function* expressionsOf(
  element: Element,
  around: Section,
): Iterable<{ readonly raw: Raw; readonly section: Section }> {
  const section = sections.find((name) => name === element.name) ?? around
  for (const { raw } of element.attributes) if (raw.inner !== undefined) yield { raw, section }
  for (const child of element.children)
    if (child.kind === "element") yield* expressionsOf(child, section)
    else if (child.kind === "text" && child.raw.inner !== undefined) yield { raw: child.raw, section }
}

/** Compiles the expressions of one document; gives how many there are, and what is wrong with which. */
function compileAll(path: string): { count: number; refused: string[] } {
  const { root, file, plain } = readPolicyDocument(new SourceFile(path, conformanceText(path)), new Report())
  const refused: string[] = []
  let count = 0
  if (root === undefined) return { count, refused }
  for (const { raw, section } of expressionsOf(root, "inbound")) {
    count++
    const code = sourceTextOf(raw, file, plain)
    const kind = raw.kind === "expression" ? "expression" : "block"
    const source = { text: code.text, at: (offset: number) => code.span(offset, offset).start }
    const compiled = compileCsharp(source, kind, { section, namedValue: () => ({ constant: "60" }) })
    if ("findings" in compiled)
      for (const { start, message } of compiled.findings) {
        const { line, column } = file.position(start)
        refused.push(`${path.slice("apim/".length)}:${line}:${column} ${message}`)
      }
    // What compiles is a plan's, and the runtime knows all it names.
    else expect(compileProgram(csharpProgram.parse(compiled.program))).toBeTypeOf("function")
  }
  return { count, refused }
}

// What is wrong in the documents: quotes that were exchanged, a text that is added as seconds.
const wrong = [
  'Pre-authorize requests based on HTTP method with validate-jwt.policy.xml:10:66 expected `)`, found `""`',
  'Pre-authorize requests based on HTTP method with validate-jwt.policy.xml:22:43 expected `}`, found `""`',
  "Return a blob URL signed with a user delegation SAS token.xml:61:50 `AddSeconds` does not take (string)",
  "Return a blob URL signed with a user delegation SAS token.xml:89:52 `AddSeconds` does not take (string)",
]

describeConformance("the expressions of the public policy documents", () => {
  test("272 of 276 compile; the others are wrong", () => {
    const files = conformanceFiles("apim").filter((path) => path.endsWith(".xml"))
    const found = files.map(compileAll)
    expect(found.flatMap(({ refused }) => refused)).toEqual(wrong)
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(276)
  })
})
