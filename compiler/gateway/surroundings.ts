import type { SourceFile, Span } from "../core/source.ts"
import type { DeclaredNames } from "../model/declared-names.ts"
import type { ApiDocument } from "../openapi/api-document.ts"
import type { BoundBlock, BoundStatement } from "./bind/bound.ts"
import type { Documents } from "./described.ts"
import type { OperationSurroundings } from "./kept-units.ts"
import type { StoreModels } from "./lower/store-model.ts"
import type { Program } from "./program.ts"
import { isOperation } from "./schema/operations.ts"

/** What is read from other files for operations. */
interface ReadForOperations {
  readonly models: StoreModels
  readonly declaredNames: ReadonlyMap<string, DeclaredNames>
  readonly documents: Documents
}

const nothingRead: ReadForOperations = { models: new Map(), declaredNames: new Map(), documents: new Map() }

const known = new WeakMap<ApiDocument, readonly SourceFile[]>()

/** The files of a document that has operations and schemas in several. */
function filesOf(document: ApiDocument): readonly SourceFile[] {
  let files = known.get(document)
  if (files === undefined) {
    const { span, operations, schemas } = document
    const spans = [span, ...[...operations, ...schemas.entries.values()].map((each) => each.span)]
    files = [...new Set(spans.map(({ file }) => file))]
    known.set(document, files)
  }
  return files
}

/** Everything outside of the operations of a project, on which what is made of an operation can depend. */
export function surroundingsOf(
  { root }: Program,
  { models, declaredNames, documents }: ReadForOperations = nothingRead,
): OperationSurroundings {
  const parts: unknown[] = [...models].flat()
  parts.push(...[...declaredNames].flat())
  const spans: Span[] = []
  for (const { document } of documents.values()) {
    parts.push(document)
    if (document !== undefined) spans.push(...filesOf(document).map((file) => file.span(0, file.text.length)))
  }
  parts.push(root.damaged, ...root.unknown, ...root.guesses)
  addBlock(root, { parts, spans })
  return { parts, spans }
}

interface Found {
  readonly parts: unknown[]
  readonly spans: Span[]
}

function addBlock({ statements }: BoundBlock, found: Found): void {
  for (const bound of statements) {
    const { keyword } = bound.row
    if (keyword === "api" || keyword === "version") addOuter(bound, found)
    else if (!isOperation(bound)) {
      found.parts.push(bound)
      found.spans.push(bound.statement.span)
    }
  }
}

/**
 * An API or a version changes with its operations: what counts is its head, and the other statements of its block. Lines that were not
 * understood count only for findings that are made outside of units (`excusedParts` of lower/route.ts) and for `inDescribed` of a route.
 */
function addOuter({ statement, form, broken, block }: BoundStatement, found: Found): void {
  const head = [statement.keyword, ...statement.args]
  found.parts.push(...head, form, broken, block === undefined)
  found.spans.push(...head.map(({ span }) => span))
  if (block !== undefined) addBlock(block, found)
}
