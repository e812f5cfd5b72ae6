import { describe, expect, test } from "vitest"
import { openapi } from "../../compiler/core/catalogue/openapi.ts"
import { Report } from "../../compiler/core/diagnostic.ts"
import type { MemoryFiles } from "../../compiler/core/files.ts"
import { Project } from "../../compiler/core/load.ts"
import { PlanSchemas } from "../../compiler/openapi/plan-schemas.ts"
import { readApiDocument } from "../../compiler/openapi/read-document.ts"
import { renderDiagnostics } from "../../compiler/render/diagnostics.ts"
import { explainCode } from "../../compiler/render/explain.ts"
import { runCases } from "../cases.ts"
import { outlineOf } from "./outline.ts"

function read(files: MemoryFiles) {
  const report = new Report()
  const project = new Project(files, report)
  const [path = "api.yaml"] = files.glob("api.*").paths
  const file = project.read(path, undefined)
  const document =
    file === undefined ? undefined : readApiDocument(file, report, (name, at) => project.readNamed(name, at))
  const schemas = new PlanSchemas(report)
  if (document !== undefined)
    for (const operation of document.operations) {
      for (const { schema } of [...operation.parameters, ...(operation.body?.contents ?? [])])
        if (schema !== undefined) schemas.use(document.schemas, schema, "request")
      for (const { contents } of operation.responses)
        for (const { schema } of contents)
          if (schema !== undefined) schemas.use(document.schemas, schema, "response")
    }
  return { report, document, schemas: schemas.table() }
}

runCases("openapi", {
  diagnostics: (files) => renderDiagnostics(read(files).report.sorted(), "text", { colour: false }),
  outline: (files) => outlineOf(read(files).document),
  schemas: (files) =>
    Object.entries(read(files).schemas)
      .map(([name, schema]) => `${name.slice(7, 15)} ${JSON.stringify(schema)}`)
      .join("\n")
      .replace(/sha256:([0-9a-f]{8})[0-9a-f]{56}/g, "$1"),
})

describe("codes of documents", () => {
  const codes = Object.keys(openapi)

  test("each say why and what to do", () => {
    for (const code of codes) expect(explainCode(code)).toMatch(/^SP\d{4} .+\n\n[\s\S]+\n\nWhat to do: /)
  })
})
