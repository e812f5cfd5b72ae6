import { describe, expect, test } from "vitest"
import { policies as table } from "../../../compiler/azure/elements/table.ts"
import { lowerDocument } from "../../../compiler/azure/lower-document.ts"
import { readPolicyDocument } from "../../../compiler/azure/reader/read-document.ts"
import { type DocumentSteps, sections } from "../../../compiler/azure/site.ts"
import { policies } from "../../../compiler/core/catalogue/policies.ts"
import { Report } from "../../../compiler/core/diagnostic.ts"
import type { MemoryFiles } from "../../../compiler/core/files.ts"
import { SourceFile } from "../../../compiler/core/source.ts"
import { renderDiagnostics } from "../../../compiler/render/diagnostics.ts"
import { explainCode } from "../../../compiler/render/explain.ts"
import { codesIn, runCases } from "../../cases.ts"
import { outline, TestHost } from "./host.ts"

const encoder = new TextDecoder()

function run(files: MemoryFiles): { steps: string; findings: string } {
  const texts = new Map(
    files.glob("*.xml").paths.flatMap((path) => {
      const read = files.read(path, 1_000_000)
      return read.kind === "bytes" ? [[path, encoder.decode(read.bytes)] as const] : []
    }),
  )
  const report = new Report()
  const host = new TestHost(report, texts)
  const file = new SourceFile("policy.xml", texts.get("policy.xml") ?? "")
  const place = {
    file,
    scope: "api orders",
    level: "api" as const,
    api: "orders",
    operation: "GET /orders/{id}",
    pathParameters: ["id"],
    backend: "orders",
    keyed: true,
  }
  let outer: DocumentSteps = { inbound: [], backend: [], outbound: [], "on-error": [] }
  for (const name of ["outer.xml", "policy.xml"]) {
    const text = texts.get(name)
    if (text === undefined) continue
    const document = readPolicyDocument(new SourceFile(name, text), report)
    outer = lowerDocument(document, place, host, outer)
  }
  const steps = sections
    .filter((section) => outer[section].length > 0)
    .map((section) => `${section}\n${outline(outer[section], host, "  ")}`)
  return { steps: steps.join(""), findings: renderDiagnostics(report.sorted(), "text", { colour: false }) }
}

runCases("policy-xml", {
  diagnostics: (files) => run(files).findings,
  steps: (files) => run(files).steps,
})

describe("policy documents", () => {
  test("every code has a case, and says why and what to do", () => {
    const shown = codesIn("policy-xml", "gateway")
    // Findings of the reader have their cases in reader.test.ts; those of the gateway's statements in the cases of gateway.conf.
    const elsewhere = ["SP7001", "SP7002", "SP7003", "SP7004", "SP7016", "SP7017"]
    expect(Object.keys(policies).filter((code) => !shown.has(code) && !elsewhere.includes(code))).toEqual([])
    for (const code of Object.keys(policies))
      expect(explainCode(code)).toMatch(/^SP\d{4} .+\n\n[\s\S]+\n\nWhat to do: /)
  })

  test("rows and the sections they may stand in", () => {
    expect(Object.keys(table).length).toBe(60)
    for (const [name, row] of Object.entries(table)) expect(row.sections.length, name).toBeGreaterThan(0)
  })
})
