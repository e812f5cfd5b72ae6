import type { DiagnosticCode } from "../core/catalogue.ts"
import { type Extra, Report } from "../core/diagnostic.ts"
import { didYouMean } from "../core/nearest.ts"
import { shown } from "../core/shown.ts"
import type { SourceFile, Span } from "../core/source.ts"
import type { ApiDocument, Server } from "./api-document.ts"
import { DocumentFields } from "./fields.ts"
import type { DocumentMap } from "./node.ts"
import { readOperations } from "./operations.ts"
import { DocumentReferences, type LoadFile } from "./references.ts"
import { Schemas } from "./schema.ts"
import { readSecuritySchemes } from "./security.ts"

const infoKeys = ["title", "summary", "description", "termsOfService", "contact", "license", "version"]

/** Keys of a document of 2.0; others are reported. */
const oldKeys = [
  "swagger",
  "info",
  "host",
  "basePath",
  "schemes",
  "consumes",
  "produces",
  "paths",
  "definitions",
  "parameters",
  "responses",
  "securityDefinitions",
  "security",
  "tags",
  "externalDocs",
]
/** Keys of a document since 3.0; others are reported. */
const newKeys = [
  "openapi",
  "info",
  "$self",
  "jsonSchemaDialect",
  "servers",
  "paths",
  "webhooks",
  "components",
  "security",
  "tags",
  "externalDocs",
]

const componentKeys = [
  ...["schemas", "responses", "parameters", "examples", "requestBodies", "headers", "securitySchemes"],
  ...["links", "callbacks", "pathItems", "mediaTypes"],
]

/** How to read a document of another party: whether mistakes in its parts are only warnings, and operations to skip (`GET /x`). */
export interface ReadAs {
  readonly lenient?: boolean
  readonly skip?: ReadonlySet<string>
}

/**
 * Reads an OpenAPI document (2.0, 3.0, 3.1, 3.2; JSON or YAML), including the project files that its `$ref`s lead to. All mistakes are
 * reported with their places (SP8xxx). Returns undefined when the file is not an OpenAPI document. After errors, the result contains the other
 * parts, but it must not be served.
 */
export function readApiDocument(
  file: SourceFile,
  target: Report,
  load: LoadFile,
  { lenient = false, skip = new Set() }: ReadAs = {},
): ApiDocument | undefined {
  const report = lenient ? new LenientReport(target) : target
  const references = new DocumentReferences(load, report)
  const tree = references.tree(file)
  if (tree === undefined) return undefined
  const fields = new DocumentFields(report, references)
  const root = fields.map(tree, "an OpenAPI document")
  const version = root === undefined ? undefined : versionOf(root, fields)
  if (root === undefined || version === undefined) return undefined
  if (version === "3.1") references.followIdentifiers()
  fields.known(root, "an OpenAPI document", version === "2.0" ? oldKeys : newKeys)
  reportUnserved(root, fields)
  const schemas = new Schemas(fields, version)
  const securitySchemes = readSecuritySchemes(root, version, fields)
  const components = version === "2.0" ? undefined : root.entries.get("components")?.value
  const parts = components === undefined ? undefined : fields.map(components, "`components`")
  if (parts !== undefined) fields.known(parts, "`components`", componentKeys)
  const info = fields.map(root.entries.get("info")?.value, "`info`")
  if (info === undefined && !root.entries.has("info")) fields.aside(root, "the document has no `info`")
  if (info !== undefined) fields.known(info, "`info`", infoKeys)
  return {
    version,
    title: (info === undefined ? undefined : fields.text(info, "title")) ?? file.path,
    description: info === undefined ? undefined : fields.text(info, "description"),
    release: (info === undefined ? undefined : fields.text(info, "version")) ?? "",
    span: root.span,
    servers: version === "2.0" ? oldServers(root, fields) : readServers(root, fields),
    ...readOperations(root, securitySchemes, { fields, schemas, version, skip }),
    securitySchemes,
    schemas,
  }
}

/** The version. Documents of 3.2 are read as 3.1. */
function versionOf(root: DocumentMap, fields: DocumentFields): ApiDocument["version"] | undefined {
  const entry = root.entries.get("openapi") ?? root.entries.get("swagger")
  if (entry === undefined) {
    const near = didYouMean("openapi", root.entries.keys())
    fields.report.add("SP8001", root.span, `the file has neither \`openapi\` nor \`swagger\`${near}`)
    return undefined
  }
  const { value } = entry
  const text = value.kind === "scalar" ? String(value.value) : ""
  if (root.entries.has("openapi")) {
    if (/^3\.0(?:\.|$)/.test(text)) return "3.0"
    // 3.2 is read as 3.1. Its additions are reported at their places and do not affect routes.
    if (/^3\.[12](?:\.|$)/.test(text)) return "3.1"
  } else if (/^2(?:\.0)?$/.test(text)) return "2.0"
  fields.report.add("SP8001", value.span, `version \`${shown(text)}\` is not supported`)
  return undefined
}

/** Warns about features that a gateway can't offer to its callers. */
function reportUnserved(root: DocumentMap, { report }: DocumentFields): void {
  const webhooks = root.entries.get("webhooks")
  if (webhooks !== undefined)
    report.add(
      "SP8015",
      webhooks.key,
      "webhooks are requests of the API to its callers, so they do not become routes",
    )
}

/** Servers with the defaults of their variables. */
function readServers(root: DocumentMap, fields: DocumentFields): Server[] {
  return fields.list(root, "servers").flatMap((node) => {
    const map = fields.map(node, "a server")
    const url = map === undefined ? undefined : fields.text(map, "url")
    if (map === undefined || url === undefined) return []
    const variables = new Map(fields.entries(map, "variables"))
    const filled = url.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
      const variable = fields.map(variables.get(name)?.value, "a variable")
      return (variable === undefined ? undefined : fields.text(variable, "default")) ?? whole
    })
    return [{ url: filled, description: fields.text(map, "description"), span: map.span }]
  })
}

/** The server of 2.0, from host, base path and schemes. https comes first. */
function oldServers(root: DocumentMap, fields: DocumentFields): Server[] {
  const host = fields.text(root, "host")
  const base = fields.text(root, "basePath")
  const entry = root.entries.get("host") ?? root.entries.get("basePath")
  if (entry === undefined) return []
  const path = base === undefined || base === "/" ? "" : base
  const schemes = fields
    .list(root, "schemes")
    .flatMap((node) => (node.kind === "scalar" ? [String(node.value)] : []))
  const scheme = schemes.includes("https") || schemes.length === 0 ? "https" : schemes[0]
  return [
    {
      url: host === undefined ? path : `${scheme}://${host}${path}`,
      description: undefined,
      span: entry.key,
    },
  ]
}

/** Mistakes with a place, after which the rest of the document is still usable. */
const parts: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  "SP8003",
  "SP8004",
  "SP8005",
  "SP8008",
  "SP8009",
])

/** Turns mistakes in parts of a document into warnings that the part is left out, for `lenient`. */
class LenientReport extends Report {
  readonly #to: Report

  constructor(to: Report) {
    super()
    this.#to = to
  }

  override add(code: DiagnosticCode, span: Span | undefined, detail: string, extra: Extra = {}): void {
    this.#to.add(parts.has(code) ? "SP8021" : code, span, detail, extra)
  }
}
