import type { PolicyDocument } from "../azure/ast.ts"
import type { AzureCompiler } from "../azure/wing.ts"
import type { Report } from "../core/diagnostic.ts"
import type { Project } from "../core/load.ts"
import type { SourceFile } from "../core/source.ts"
import {
  allInside,
  anyInside,
  type BoundBlock,
  type BoundStatement,
  statementOf,
  statementsOf,
} from "./bind/bound.ts"
import { errorsOf } from "./lower/listeners.ts"
import type { Program } from "./program.ts"

/** The XML policy documents of a project by their `policy xml` statement, and fragments by id. */
export interface PolicyFiles {
  readonly documents: ReadonlyMap<BoundStatement, PolicyDocument>
  readonly fragments: ReadonlyMap<string, PolicyDocument>
  /** Whether the steps of a document depend on the operation, and not only on the scope. */
  readsOperation(statement: BoundStatement): boolean
}

/** Policies that use the OpenAPI description of the operation, or its name. */
const ofOperation =
  /<(?:validate-(?:content|parameters|headers|status-code)|mock-response|rewrite-uri|operation)\b/

/** Reads the documents and fragments that statements name, each file once. Unreadable files are reported where they are named. */
export function readPolicyFiles(
  program: Program,
  project: Project,
  azure: AzureCompiler | undefined,
  report: Report,
): PolicyFiles {
  const byFile = new Map<SourceFile, PolicyDocument>()
  const read = (statement: BoundStatement): PolicyDocument | undefined => {
    const filled = statement.args.get("path")
    const file =
      filled === undefined ? undefined : project.readNamed(filled.value as string, filled.argument.span)
    if (file === undefined) return undefined
    const document = byFile.get(file) ?? neededWing(azure).readPolicyDocument(file, report)
    byFile.set(file, document)
    return document
  }
  const documents = new Map<BoundStatement, PolicyDocument>()
  for (const statement of allInside(program.root, isPolicyXml)) {
    const document = read(statement)
    if (document !== undefined) documents.set(statement, document)
  }
  const fragments = new Map<string, PolicyDocument>()
  for (const statement of statementsOf(statementOf(program.root, "xml")?.block, "fragment")) {
    const id = statement.args.value<string>("id")
    const document = read(statement)
    if (id !== undefined && document !== undefined) fragments.set(id, document)
  }
  const anyFragment = [...fragments.values()].some(({ file }) => ofOperation.test(file.text))
  const readsOperation = (statement: BoundStatement): boolean => {
    const text = documents.get(statement)?.file.text ?? ""
    return ofOperation.test(text) || (anyFragment && text.includes("include-fragment"))
  }
  return { documents, fragments, readsOperation }
}

/**
 * Whether the project needs the Azure wing: it names policy documents or fragments, leaves authentication to documents, or has Liquid
 * templates.
 */
export function needsAzure(root: BoundBlock): boolean {
  return anyInside(
    root,
    (each) =>
      isPolicyXml(each) ||
      each.row.keyword === "fragment" ||
      each.args.get("template") !== undefined ||
      isAuthPolicy(each),
  )
}

/** APIs with clients of Azure API Management: all with `errors apim` or a policy document of the gateway, otherwise those with a document of their own. */
export function apimApis(program: Program): ReadonlySet<string> {
  const { gateway } = program
  const all = errorsOf(gateway) === "apim" || anyInside(gateway?.block, isPolicyXml)
  const apis = program.all("api").filter(({ bound }) => all || anyInside(bound.block, isPolicyXml))
  return new Set(apis.map(({ name }) => name))
}

/** @throws Error when the wing was not loaded. That is a mistake of the caller of `compile`, or of `needsAzure`. */
export function neededWing(azure: AzureCompiler | undefined): AzureCompiler {
  if (azure === undefined)
    throw new Error("the project has policy documents or templates: load compiler/azure first")
  return azure
}

function isAuthPolicy({ row, statement }: BoundStatement): boolean {
  const [word] = statement.args
  return row.keyword === "auth" && word?.kind === "word" && word.text === "policy"
}

/** `policy xml "FILE"`, not the declaration `policy NAME { … }`. */
export function isPolicyXml({ row, args, broken }: BoundStatement): boolean {
  return row.keyword === "policy" && !broken && args.get("path") !== undefined
}
