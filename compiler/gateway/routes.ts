import { routeKeyOf } from "../../runtime/plan/resources.ts"
import type { SegmentTemplate } from "../../runtime/plan/segment-template.ts"
import type { Report } from "../core/diagnostic.ts"
import type { Span } from "../core/source.ts"
import { type BoundBlock, type BoundStatement, headSpan, statementOf, statementsOf } from "./bind/bound.ts"
import { isStatic, printPath, type RoutePath, shapeOfPath, staticSegment } from "./bind/path.ts"
import { reportAmbiguous } from "./check/ambiguous-routes.ts"
import {
  type Described,
  type DescribedOperation,
  type Documents,
  mergeOperations,
  type OperationSource,
} from "./described.ts"
import type { Declaration, Program } from "./program.ts"
import { operations } from "./schema/operations.ts"

/** A block whose statements apply to everything inside it. `label` is its name in counters: `api orders v1 GET /{id}`. */
export interface RouteScope {
  readonly label: string
  readonly block: BoundBlock | undefined
}

/** An operation of an API or of one of its versions, with all scopes that contain it. */
export interface RouteSource {
  readonly key: string
  readonly api: Declaration
  readonly version: BoundStatement | undefined
  readonly versionName: string | null
  readonly operation: BoundStatement
  readonly operationName: string
  /** `*` for ANY. */
  readonly method: string
  readonly path: readonly SegmentTemplate[]
  /** Sorted; undefined: all hosts. */
  readonly hosts: readonly string[] | undefined
  readonly prefix: readonly SegmentTemplate[]
  readonly scopes: {
    readonly api: RouteScope
    readonly version: RouteScope | undefined
    readonly operation: RouteScope
  }
  /** The keyword and path of the operation. */
  readonly span: Span
  /** What the API's OpenAPI document says about it. */
  readonly described: DescribedOperation | undefined
  /** Whether the API has a document; "unread" if it could not be read. */
  readonly inDescribed: boolean | "unread"
  /** Whether it serves the document of its API: then it has no description and no backend. */
  readonly documentation: boolean
  /** False if the API's path is invalid: the route is checked, but not compared with others. */
  readonly placed: boolean
}

const methods: ReadonlySet<string> = new Set(operations.map((row) => row.keyword))
/** Bounds of the matcher's tables and of the plan's schema. A path is longer only by accident. */
const routesMax = 100_000
const pathMax = 2048

/** All routes of all APIs. An operation of a version replaces the API's operation with the same method and path. */
export function routesOf(program: Program, documents: Documents, report: Report): RouteSource[] {
  const routes = program.all("api").flatMap((api) => routesOfApi(api, documents, report))
  if (routes.length > routesMax) {
    report.add(
      "SP3016",
      routes[routesMax]?.span,
      `there are ${routes.length} routes; the maximum is ${routesMax}`,
      {
        help: "Replace several routes by one with a parameter or a `{name*}` at its end.",
      },
    )
    return []
  }
  for (const { path, span } of routes) {
    const { length } = printPath(path)
    if (length > pathMax)
      report.add(
        "SP3001",
        span,
        `the path has ${length} characters with the paths of its version and API; the maximum is ${pathMax}`,
      )
  }
  reportAmbiguous(routes, report)
  return routes
}

function reportTooMany(count: number, span: Span | undefined, report: Report): void {
  report.add("SP3016", span, `there are ${count} routes; the maximum is ${routesMax}`, {
    help: "Replace several routes by one with a parameter or a `{name*}` at its end.",
  })
}

/**
 * The routes of an API: those of each version, or without versions its own. Their number is checked before they are made, because it is a
 * product.
 */
function routesOfApi(api: Declaration, documents: Documents, report: Report): RouteSource[] {
  const { block } = api.bound
  if (block === undefined) return []
  const prefix = apiPath(block, report)
  const hosts = hostsOf(block, report)
  const common = operationsIn(block)
  const versions = versionsOf(block, report)
  // Ten times: operations of documents are not counted yet, and the exact number is checked below.
  if (versions.length * common.length > 10 * routesMax) {
    reportTooMany(versions.length * common.length, api.span, report)
    return []
  }
  // A mistake in an operation is reported once, not once for each version.
  const reported = new Set<BoundStatement>()
  const describedIn = (version: BoundStatement | undefined): Described | undefined =>
    (version?.block === undefined ? undefined : documents.get(version.block)) ?? documents.get(block)
  const damaged = block?.damaged === true
  const routesOfVersion = (
    version: BoundStatement | undefined,
    texts: readonly BoundStatement[],
  ): RouteSource[] => {
    // The version's own `docs` replaces the one of the API.
    const docs = docsIn(version?.block) ?? docsIn(block)
    return [
      ...mergeOperations(
        texts,
        describedIn(version),
        damaged || version?.block?.damaged === true,
        reported,
        report,
      ),
      ...(docs === undefined ? [] : [{ bound: docs, described: undefined, inDescribed: true }]),
    ].map((each) => makeRoute(api, version, each, { path: prefix, hosts }))
  }
  const routes =
    versions.length === 0
      ? routesOfVersion(undefined, common)
      : versions.flatMap((version) => {
          const own = operationsIn(version.block)
          const taken = new Set(own.map(shapeOf))
          // By shape: `/{id}` of the version replaces `/{orderId}` of the API, because they match the same requests.
          const inherited = common.filter((operation) => !taken.has(shapeOf(operation)))
          return routesOfVersion(version, [...own, ...inherited])
        })
  if (versions.length > 0) reportReplaced(common, versions, report)
  const described = versions.length === 0 ? [block] : [block, ...versions.map((version) => version.block)]
  // An API with a document may have no operation in the text.
  if (!described.some((each) => each !== undefined && documents.has(each))) reportEmpty(api, versions, report)
  else if (routes.length === 0) reportUndescribed(api, documents.get(block), report)
  return routes
}

function operationsIn(block: BoundBlock | undefined): BoundStatement[] {
  return (block?.statements ?? []).filter(
    // An operation without a path is broken and already reported.
    (each) => methods.has(each.row.keyword) && each.args.get("path") !== undefined,
  )
}

function docsIn(block: BoundBlock | undefined): BoundStatement | undefined {
  const docs = statementOf(block, "docs")
  return docs?.args.get("path") === undefined ? undefined : docs
}

/** The path of an API is a prefix of its routes. A parameter in it would belong to every operation. */
function apiPath(block: BoundBlock, report: Report): RoutePath | undefined {
  const filled = statementOf(block, "path")?.args.get("path")
  const path = filled?.value as RoutePath | undefined
  // A parameter here would have to be in every `require`, and the path could not be stripped for the backend.
  if (filled === undefined || path === undefined || path.segments.every(isStatic)) return path
  report.add("SP3001", filled.argument.span, "the path of an API cannot have parameters", {
    help: "Write the parameter in the paths of the operations.",
  })
  return undefined
}

/** The hosts of an API, sorted; undefined: all hosts. */
function hostsOf(block: BoundBlock, report: Report): string[] | undefined {
  const hosts = new Map<string, Span>()
  for (const { argument, value } of statementOf(block, "host")?.args.all("host") ?? []) {
    const earlier = hosts.get(value as string)
    if (earlier === undefined) hosts.set(value as string, argument.span)
    else
      report.add("SP2016", argument.span, `the host \`${value}\` is given twice`, {
        related: [{ span: earlier, message: "the first" }],
      })
  }
  return hosts.size === 0 ? undefined : [...hosts.keys()].sort()
}

/** Versions with unique names; the first of two counts. */
function versionsOf(block: BoundBlock, report: Report): BoundStatement[] {
  const versions = block.statements.filter(
    (each) => each.row.keyword === "version" && each.args.word("name") !== undefined,
  )
  const first = new Map<string, Span>()
  for (const { args } of versions) {
    const word = args.word("name")
    if (word === undefined) continue
    const earlier = first.get(word.text)
    if (earlier === undefined) first.set(word.text, word.span)
    else
      report.add("SP2011", word.span, `\`${word.text}\` is already the name of a version`, {
        related: [{ span: earlier, message: "declared here" }],
      })
  }
  return versions.filter(
    // The first of two versions with one name, found by its place.
    (each) => first.get(each.args.word("name")?.text ?? "") === each.args.word("name")?.span,
  )
}

/** One route. Its key has method, path and hosts, and identifies it in plans and differences. */
function makeRoute(
  api: Declaration,
  version: BoundStatement | undefined,
  { bound: operation, described, inDescribed }: OperationSource,
  { path: apiAt, hosts }: { path: RoutePath | undefined; hosts: readonly string[] | undefined },
): RouteSource {
  const versionName = version?.args.word("name")?.text ?? null
  const own = (operation.args.value<RoutePath>("path") as RoutePath).segments
  const documentation = operation.row.keyword === "docs"
  const keyword = documentation ? "GET" : operation.row.keyword
  const operationName = `${keyword} ${printPath(own)}`
  const prefix: SegmentTemplate[] = [
    ...(versionName === null ? [] : [staticSegment(versionName)]),
    ...(apiAt?.segments ?? []),
  ]
  const method = keyword === "ANY" ? "*" : keyword
  const path = [...prefix, ...own]
  const label = `api ${api.name}`
  const versionLabel = versionName === null ? label : `${label} ${versionName}`
  return {
    key: routeKeyOf({ method, path: printPath(path), hosts }),
    api,
    version,
    versionName,
    operation,
    operationName,
    method,
    path,
    hosts,
    prefix,
    scopes: {
      api: { label, block: api.bound.block },
      version: version === undefined ? undefined : { label: versionLabel, block: version.block },
      operation: { label: `${versionLabel} ${operationName}`, block: operation.block },
    },
    span: headSpan(operation.statement),
    described,
    inDescribed,
    documentation,
    placed: apiAt !== undefined,
  }
}

/** Method and path without the names of parameters: what routing can distinguish. */
function shapeOf(operation: BoundStatement): string {
  return `${operation.row.keyword} ${shapeOfPath(operation.args.value<RoutePath>("path")?.segments ?? [])}`
}

/** An operation that every version replaces never runs. */
function reportReplaced(
  common: readonly BoundStatement[],
  versions: readonly BoundStatement[],
  report: Report,
): void {
  const taken = versions.map(
    (version) => new Map(operationsIn(version.block).map((each) => [shapeOf(each), each])),
  )
  for (const operation of common) {
    const replacing = taken.map((operations) => operations.get(shapeOf(operation)))
    if (replacing.some((each) => each === undefined)) continue
    report.add(
      "SP3003",
      headSpan(operation.statement),
      "every version replaces this operation with its own",
      {
        related: replacing.flatMap((each) =>
          each === undefined ? [] : [{ span: headSpan(each.statement), message: "this one" }],
        ),
      },
    )
  }
}

/** Reports a document that was read but has no operations. An unreadable document has its own finding. */
function reportUndescribed(api: Declaration, described: Described | undefined, report: Report): void {
  const document = described?.document
  if (document !== undefined && document.operations.length === 0)
    report.add("SP3006", api.span, `the API \`${api.name}\` has no operation, and neither has its document`)
}

/** An API without operations, or a version without any. Mistakes in a damaged block may hide them, so nothing is reported there. */
function reportEmpty(api: Declaration, versions: readonly BoundStatement[], report: Report): void {
  const { block } = api.bound
  if (block === undefined || block.damaged || api.bound.broken) return
  const mentioned = (each: BoundBlock | undefined): boolean =>
    each?.statements.some((one) => methods.has(one.row.keyword)) ?? false
  if (mentioned(block)) return
  if (versions.length === 0 && statementsOf(block, "version").length === 0) {
    report.add("SP3006", api.span, `the API \`${api.name}\` has no operation`)
    return
  }
  for (const version of versions) {
    const word = version.args.word("name")
    if (word !== undefined && !mentioned(version.block) && version.block?.damaged !== true) {
      report.add("SP3006", word.span, `the version \`${word.text}\` of \`${api.name}\` has no operation`)
    }
  }
}
