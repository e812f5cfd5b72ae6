import type { Report } from "../core/diagnostic.ts"
import { budgets, type Project } from "../core/load.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import type { ApiDocument, LostOperation, Operation } from "../openapi/api-document.ts"
import type { OpenapiCompiler } from "../openapi/wing.ts"
import type { Block, Statement, TextArgument, Word } from "./ast.ts"
import {
  Args,
  anyInside,
  type BoundBlock,
  type BoundStatement,
  headSpan,
  statementOf,
  statementsOf,
} from "./bind/bound.ts"
import { printPath, type RoutePath, segmentsOf, shapeOfPath } from "./bind/path.ts"
import { KeptReads } from "./kept-reads.ts"
import type { Program } from "./program.ts"
import { operations as operationRows } from "./schema/operations.ts"
import type { Slot, StatementRow } from "./schema/row.ts"

/** An `openapi` statement with the document it names. */
export interface Described {
  readonly statement: BoundStatement
  /** Undefined if the document could not be read (reported). */
  readonly document: ApiDocument | undefined
}

/** What a document says about a route. */
export interface DescribedOperation {
  readonly described: Described
  readonly document: ApiDocument
  readonly operation: Operation
  /** Maps the names of path parameters in the document to those of the route. */
  readonly names: ReadonlyMap<string, string>
}

/** A bound operation of an API, with the description from its document. */
export interface OperationSource {
  readonly bound: BoundStatement
  readonly described: DescribedOperation | undefined
  /** Whether the API has a document; "unread" if it could not be read. */
  readonly inDescribed: boolean | "unread"
}

/** Documents by the block (API or version) that contains the `openapi` statement. */
export type Documents = ReadonlyMap<BoundBlock, Described>

/** Reads the documents of all `openapi` statements, each file once. `kept`: what an earlier compilation read. */
export function readDocuments(
  program: Program,
  project: Project,
  openapi: OpenapiCompiler | undefined,
  report: Report,
  kept: KeptReads = new KeptReads(),
): Documents {
  // Two APIs often share a document, e.g. an internal and a public one.
  const known = new Map<string, ApiDocument | undefined>()
  const documents = new Map<BoundBlock, Described>()
  const blocks = program.all("api").flatMap(({ bound: { block } }) => {
    const versions = block?.statements.filter(({ row }) => row.keyword === "version") ?? []
    return [block, ...versions.map((version) => version.block)]
  })
  for (const block of blocks) {
    const statement = statementOf(block, "openapi")
    const filled = statement?.args.get("file")
    if (block === undefined || statement === undefined || filled === undefined) continue
    const bytesMax =
      statementOf(statement.block, "size")?.args.value<number>("size") ?? budgets.documentBytesMax
    const file = project.readNamed(filled.value as string, filled.argument.span, bytesMax)
    const skips = statementsOf(statement.block, "skip")
    const skip = new Set(skips.map((each) => each.args.value<string>("operation") ?? ""))
    const lenient = statementOf(statement.block, "lenient") !== undefined
    // The options change what is read, so they are part of the key.
    const key = JSON.stringify([file?.path, lenient, [...skip].sort()])
    const read = neededOpenapi(openapi).readApiDocument
    if (file !== undefined && !known.has(key))
      known.set(
        key,
        kept.once(file, `${key} ${bytesMax}`, { report, files: project }, (own, files) =>
          read(file, own, (path, at) => files.readNamed(path, at, bytesMax), { lenient, skip }),
        ),
      )
    for (const each of skips) checkSkip(each, known.get(key), report)
    documents.set(block, { statement, document: known.get(key) })
  }
  checkSchemes(documents, report)
  return documents
}

/** Whether the project needs the OpenAPI wing: it names a document or a file of schemas, serves a document, or has a portal. */
export function needsOpenapi(root: BoundBlock): boolean {
  return anyInside(root, ({ row }) => ["openapi", "docs", "schema", "portal"].includes(row.keyword))
}

/** @throws Error when the wing was not loaded. That is a mistake of the caller of `compile`, or of `needsOpenapi`. */
export function neededOpenapi(openapi: OpenapiCompiler | undefined): OpenapiCompiler {
  // Not a finding: no text of a user leads here.
  if (openapi === undefined)
    throw new Error("the project has OpenAPI documents: load compiler/openapi/wing first")
  return openapi
}

/** A `skip` for an operation that does not exist skips nothing, which is easy to miss when a document renames one. */
function checkSkip(
  { args, statement }: BoundStatement,
  document: ApiDocument | undefined,
  report: Report,
): void {
  const name = args.value<string>("operation")
  // The document was not read, which is reported.
  if (document === undefined || name === undefined || document.skipped.has(name)) return
  const all = document.operations.map((each) => `${each.method} ${each.template}`)
  report.add(
    "SP8011",
    headSpan(statement),
    `\`${document.span.file.path}\` has no \`${shown(name)}\` to skip${didYouMean(name, all)}`,
    { help: "Write the method and the path as the document does, or remove `skip`." },
  )
}

/** Reports `security` statements for schemes that the document does not declare, or that no operation demands, and duplicates. */
function checkSchemes(documents: Documents, report: Report): void {
  for (const { statement, document } of documents.values()) {
    if (document === undefined) continue
    const demanded = new Set(
      document.operations.flatMap(({ security }) => [
        ...(security ?? []).flatMap(({ schemes }) => schemes.map(({ name }) => name)),
        // An empty list of alternatives, and an empty alternative, both mean "no security" (OpenAPI 3.1, section 4.8.30).
        ...(security === undefined ||
        security.some(({ schemes }) => schemes.length === 0) ||
        security.length === 0
          ? [undefined]
          : []),
      ]),
    )
    for (const each of statementsOf(statement.block, "security")) {
      const scheme = each.args.value<string>("scheme")
      const span = each.args.get("scheme")?.argument.span ?? headSpan(each.statement)
      if (scheme !== undefined && !document.securitySchemes.has(scheme))
        report.add(
          "SP8009",
          span,
          `the document declares no security scheme \`${scheme}\`${didYouMean(scheme, document.securitySchemes.keys())}`,
        )
      else if (!demanded.has(scheme))
        report.add(
          "SP8016",
          span,
          scheme === undefined
            ? "every operation requires a security scheme, so `security none` never applies"
            : `no operation requires \`${scheme}\``,
        )
    }
  }
}

/**
 * The operations of a version, from gateway.conf and from the document. If both have an operation, the one in gateway.conf is used, with
 * the document's description. An operation that is only in gateway.conf must have `extra`.
 */
export function mergeOperations(
  texts: readonly BoundStatement[],
  described: Described | undefined,
  /** Whether a part of the API was not understood, which may have named the document. */
  damaged: boolean,
  reported: Set<BoundStatement>,
  report: Report,
): OperationSource[] {
  const document = described?.document
  // Without the document, every operation of gateway.conf is its own, and none is reported as extra.
  if (described === undefined || document === undefined)
    return texts.map((bound) => ({
      bound,
      described: undefined,
      inDescribed: (described !== undefined || damaged) && "unread",
    }))
  const byShape = new Map(texts.map((bound) => [shapeOfBound(bound), bound]))
  const used = new Set<BoundStatement>()
  const all = document.operations.flatMap((operation): OperationSource[] => {
    const { path } = operation
    // A path that the gateway cannot serve is reported with the document.
    if (path === undefined) return []
    const bound =
      byShape.get(`${operation.method} ${shapeOfPath(segmentsOf(path))}`) ??
      boundOnce(described, operation, path)
    if (bound === undefined) return []
    used.add(bound)
    return [
      {
        bound,
        described: { described, document, operation, names: namesIn(bound, operation) },
        inDescribed: true,
      },
    ]
  })
  const extra = texts.filter((bound) => !used.has(bound))
  // An operation that is given twice is reported as that.
  const lostAs = (bound: BoundStatement): LostOperation | undefined => {
    const shape = shapeOfBound(bound)
    return document.lost.find(
      ({ method, path }) => shape === `${method ?? bound.row.keyword} ${shapeOfPath(segmentsOf(path))}`,
    )
  }
  const isRepeated = (bound: BoundStatement): boolean => byShape.get(shapeOfBound(bound)) !== bound
  for (const bound of extra)
    if (!isRepeated(bound)) reportExtra(bound, document, lostAs(bound)?.span, reported, report)
  // `extra` on an operation that the document has: the document was extended, or the path is not the intended one.
  for (const bound of texts) if (used.has(bound)) reportNeedless(bound, reported, report)
  return [
    ...all,
    ...extra.map((bound): OperationSource => {
      const inDescribed = isRepeated(bound) || lostAs(bound) !== undefined ? "unread" : true
      return { bound, described: undefined, inDescribed }
    }),
  ]
}

/** `cause`: the mistake in the document that hides the operation. Without `extra`, a route that the document lacks is more often a wrong path than an intention. */
function reportExtra(
  bound: BoundStatement,
  document: ApiDocument,
  cause: Span | undefined,
  reported: Set<BoundStatement>,
  report: Report,
): void {
  if (statementOf(bound.block, "extra") !== undefined || reported.has(bound)) return
  reported.add(bound)
  const path = printPath(bound.args.value<RoutePath>("path")?.segments ?? [])
  const name = `${bound.row.keyword} ${path}`
  const known = document.operations.map((each) => `${each.method} ${each.path ?? each.template}`)
  report.add(
    "SP8011",
    headSpan(bound.statement),
    `\`${document.span.file.path}\` has no \`${name}\`${didYouMean(name, known)}`,
    { cause },
  )
}

function reportNeedless(bound: BoundStatement, reported: Set<BoundStatement>, report: Report): void {
  const extra = statementOf(bound.block, "extra")
  if (extra === undefined || reported.has(bound)) return
  reported.add(bound)
  report.add("SP8011", extra.statement.keyword.span, "the document has this operation", {
    help: "Remove `extra`.",
  })
}

function shapeOfBound(bound: BoundStatement): string {
  return `${bound.row.keyword} ${shapeOfPath(bound.args.value<RoutePath>("path")?.segments ?? [])}`
}

/** Maps the document's parameter names to the route's, because gateway.conf may name them differently. */
function namesIn(bound: BoundStatement, operation: Operation): ReadonlyMap<string, string> {
  const segments = bound.args.value<RoutePath>("path")?.segments ?? []
  const parameters = segments.flatMap(({ names }) => names)
  return new Map([...operation.names.keys()].map((name, index) => [name, parameters[index] ?? name]))
}

const rows = new Map(operationRows.map((row) => [row.keyword, row]))

/** By `openapi` statement: an operation of a document that is read once is the same statement in later compilations. */
const boundOperations = new WeakMap<BoundStatement, WeakMap<Operation, BoundStatement>>()

function boundOnce({ statement }: Described, operation: Operation, path: string): BoundStatement | undefined {
  const known = boundOperations.get(statement) ?? new WeakMap<Operation, BoundStatement>()
  const bound = known.get(operation) ?? boundOf(operation, path)
  if (bound !== undefined) boundOperations.set(statement, known.set(operation, bound))
  return bound
}

/** The operation of a document as a bound statement, with its place in the document. */
function boundOf(operation: Operation, path: string): BoundStatement | undefined {
  const row = rows.get(operation.method) as StatementRow
  const { span } = operation
  const keyword: Word = { kind: "word", text: operation.method, span }
  const argument: TextArgument = {
    kind: "text",
    form: "quoted",
    parts: [{ kind: "literal", value: path, span }],
    span,
  }
  const end = { file: span.file, start: span.end, end: span.end }
  const block: Block = { statements: [], open: end, close: end }
  const statement: Statement = { keyword, args: [argument], block, otherwise: undefined, broken: false, span }
  const form = row.forms[0]
  const slot = form?.args[0] as Slot | undefined
  if (form === undefined || slot === undefined) return undefined
  // Its value is the path itself; the binder has nothing more to say about it.
  const args = new Args([{ slot, argument, value: { segments: segmentsOf(path) } }])
  const inside = {
    name: "operation",
    statements: [],
    damaged: false,
    unknown: [],
    guesses: [],
  } as const
  return { row, form, statement, args, block: inside, otherwise: undefined, broken: false }
}
