import type { Report } from "../core/diagnostic.ts"
import type { Project } from "../core/load.ts"
import type { SourceFile } from "../core/source.ts"
import type { SchemaDocument } from "../openapi/schema-document.ts"
import type { OpenapiCompiler } from "../openapi/wing.ts"
import {
  allInside,
  anyInside,
  type BoundBlock,
  type BoundStatement,
  statementOf,
  statementsOf,
} from "./bind/bound.ts"
import { neededOpenapi } from "./described.ts"
import type { Program } from "./program.ts"

/** Files with JSON Schemas, by the statements that name them. */
export interface SchemaFiles {
  readonly documents: ReadonlyMap<BoundStatement, SchemaDocument>
  /** Statements of `xml` by the id that policy documents use. */
  readonly byId: ReadonlyMap<string, BoundStatement>
}

/** Reads the files named by `schema` in `xml` and in `validate content`, each once. Unreadable files are reported where they are named. */
export function readSchemaFiles(
  program: Program,
  project: Project,
  openapi: OpenapiCompiler | undefined,
  report: Report,
): SchemaFiles {
  const byFile = new Map<SourceFile, SchemaDocument | undefined>()
  const documents = new Map<BoundStatement, SchemaDocument>()
  const named = statementsOf(statementOf(program.root, "xml")?.block, "schema")
  for (const statement of [...named, ...inContent(program.root)]) {
    const filled = statement.args.get("path")
    const file =
      filled === undefined ? undefined : project.readNamed(filled.value as string, filled.argument.span)
    if (file === undefined) continue
    if (!byFile.has(file))
      byFile.set(
        file,
        neededOpenapi(openapi).readSchemaDocument(file, report, (path, at) => project.readNamed(path, at)),
      )
    const document = byFile.get(file)
    if (document !== undefined) documents.set(statement, document)
  }
  const byId = new Map(
    named.flatMap((statement) => {
      const id = statement.args.value<string>("id")
      return id === undefined ? [] : [[id, statement] as const]
    }),
  )
  return { documents, byId }
}

/** `schema` in the `json` of every `validate content`, in any block. */
function inContent(block: BoundBlock | undefined): BoundStatement[] {
  const judging = allInside(block, (each) => each.block?.name === "validate content json")
  return judging.flatMap((each) => statementsOf(each.block, "schema"))
}

/** Whether any statement of a section validates bodies. If so, the OpenAPI description of each operation is needed. */
export function judgesContent(block: BoundBlock | undefined): boolean {
  return (
    block?.name === "validate content" || anyInside(block, (each) => each.block?.name === "validate content")
  )
}
