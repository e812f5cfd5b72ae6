import { shown } from "../core/shown.ts"
import type { Span } from "../core/source.ts"
import type {
  ApiDocument,
  LostOperation,
  Operation,
  OperationParameter,
  SecurityScheme,
} from "./api-document.ts"
import { isStatus, type ReaderContext, readResponses } from "./contents.ts"
import { isNull } from "./fields.ts"
import type { DocumentMap, DocumentNode } from "./node.ts"
import { mediasOf, readInputs } from "./parameters.ts"
import { routePath, shapeOf } from "./path-template.ts"
import { demandTheSame, joined } from "./same-route.ts"
import { readSecurity } from "./security.ts"
import { reportParts, type TemplateParts, templateParts, withQuery } from "./template-query.ts"

const methods = ["get", "put", "post", "delete", "options", "head", "patch"]
/** Keys of a path item that are known; others are reported. */
const pathKeys = [
  ...methods,
  "trace",
  "query",
  "additionalOperations",
  "summary",
  "description",
  "servers",
  "parameters",
]
/** Keys of an operation that are known; others are reported. */
const operationKeys = [
  "tags",
  "summary",
  "description",
  "externalDocs",
  "operationId",
  "parameters",
  "requestBody",
  "responses",
  "callbacks",
  "deprecated",
  "security",
  "servers",
  "consumes",
  "produces",
  "schemes",
]
const operationsMax = 100_000

type Schemes = ReadonlyMap<string, SecurityScheme>

/** Reads all operations of a document, in document order. */
export function readOperations(
  root: DocumentMap,
  schemes: Schemes,
  reading: ReaderContext,
): Pick<ApiDocument, "operations" | "skipped" | "lost"> {
  const reader = new Reader(root, schemes, reading)
  if (!root.entries.has("paths") && reading.version !== "3.1")
    reading.fields.aside(root, "the document has no `paths`")
  for (const [template, { key, value }] of reading.fields.patterned(root, "paths")) {
    const item = reading.fields.part(value, "a path")
    if (item !== undefined) reader.path(template, key, withSiblings(value, item, reading))
  }
  return { operations: reader.operations(), skipped: reader.skipped, lost: reader.lost }
}

/** Keys next to the `$ref` of a path belong to the path as well. A key in both places has no defined meaning (OpenAPI 3.1 §4.8.9). */
function withSiblings(value: DocumentNode, item: DocumentMap, { fields }: ReaderContext): DocumentMap {
  if (value.kind !== "map" || value === item) return item
  const entries = new Map(item.entries)
  for (const [name, entry] of value.entries) {
    const first = item.entries.get(name)
    if (name === "$ref") continue
    if (first !== undefined && !name.startsWith("x-"))
      fields.report.add("SP8008", entry.key, `the target of the \`$ref\` also has \`${shown(name)}\``, {
        related: [{ span: first.key, message: "the same key in the target" }],
      })
    entries.set(name, entry)
  }
  return { ...item, entries }
}

/** Reads paths one by one; operations with one method and path shape are joined at the end. */
class Reader {
  readonly skipped = new Set<string>()
  readonly lost: LostOperation[] = []
  readonly #root: DocumentMap
  readonly #schemes: Schemes
  readonly #reading: ReaderContext
  readonly #ids = new Map<string, Span>()
  readonly #byShape = new Map<string, Written[]>()
  #count = 0
  readonly #security: Operation["security"]

  constructor(root: DocumentMap, schemes: Schemes, reading: ReaderContext) {
    this.#root = root
    this.#schemes = schemes
    this.#reading = reading
    this.#security = readSecurity(root, schemes, reading.fields)
  }

  /** One path with its operations. What cannot be a route is reported and left out. */
  path(template: string, at: Span, whole: DocumentMap): void {
    const { fields } = this.#reading
    const item = this.#withoutSkipped(template, whole)
    if (item === undefined) return
    const misspelt = fields.known(item, "a path", pathKeys)
    this.#reportServers(item, "a path")
    const parts = templateParts(template)
    const { path = template, query = [] } = parts ?? {}
    const route = routePath(path)
    if (parts !== undefined) reportParts(parts, at, this.#reading)
    this.#lose(path, at, misspelt)
    if ("problem" in route) fields.aside({ span: at }, `${route.problem}: the path is left out`)
    for (const name of ["trace", "query", "additionalOperations"]) {
      const entry = item.entries.get(name)
      const what = name === "additionalOperations" ? "an operation of another method" : name.toUpperCase()
      if (entry !== undefined) fields.aside({ span: entry.key }, `${what} cannot be a route`)
    }
    for (const method of methods) {
      const entry = item.entries.get(method)
      if (entry === undefined) continue
      if (isNull(entry.value)) {
        fields.aside(entry.value, "the operation has no value: it is left out")
        continue
      }
      const map = fields.map(entry.value, "an operation")
      if (map === undefined) continue
      const place = {
        template,
        path,
        query,
        pathSpan: at,
        span: entry.key,
        method: method.toUpperCase(),
        route,
        misspelt: misspelt.get("parameters"),
      }
      this.#add(place, this.#operation(place, item, map))
      if (++this.#count !== operationsMax + 1) continue
      fields.report.add("SP8006", entry.key, `the document has more than ${operationsMax} operations`)
    }
  }

  /** Keeps the routes that a misspelt method or a path without its `/` hides. */
  #lose(path: string, at: Span, misspelt: ReadonlyMap<string, Span>): void {
    const meant = routePath(path.startsWith("/") ? path : `/${path}`)
    if ("problem" in meant) return
    if (!path.startsWith("/")) this.lost.push({ method: undefined, path: meant.path, span: at })
    for (const [name, span] of misspelt)
      if (methods.includes(name)) this.lost.push({ method: name.toUpperCase(), path: meant.path, span })
  }

  /** Undefined when no operation is left. */
  #withoutSkipped(template: string, item: DocumentMap): DocumentMap | undefined {
    const isSkipped = (name: string): boolean => this.#reading.skip.has(`${name.toUpperCase()} ${template}`)
    const names = [...item.entries.keys()].filter(isSkipped)
    for (const name of names) this.skipped.add(`${name.toUpperCase()} ${template}`)
    if (names.length === 0) return item
    const entries = new Map([...item.entries].filter(([name]) => !isSkipped(name)))
    return methods.some((method) => entries.has(method)) ? { ...item, entries } : undefined
  }

  /** Warns about `servers`, because gateway.conf declares the backend. */
  #reportServers(map: DocumentMap, what: string): void {
    const servers = map.entries.get("servers")
    const detail = `\`servers\` of ${what} is ignored: requests go to the backend of gateway.conf`
    if (servers !== undefined) this.#reading.fields.report.add("SP8015", servers.key, detail)
  }

  /** Operations with the same method and path shape become one route. An operation that no route can have stays separate. */
  #add({ method, route, template }: Place, operation: Operation): void {
    const shape = "problem" in route ? `${this.#count}` : `${method} ${shapeOf(route.path)}`
    const group = this.#byShape.get(shape) ?? []
    group.push({ template, operation })
    this.#byShape.set(shape, group)
  }

  /** One operation for each route, in document order. Call it after reading all paths. */
  operations(): Operation[] {
    return [...this.#byShape.values()].map((group) => {
      const [first, second] = group
      if (first === undefined || second === undefined) return first?.operation as Operation
      this.#reportJoined(group)
      return joined(
        group.map(({ operation }) => operation),
        this.#reading.schemas,
      )
    })
  }

  /** Several operations that are one route are served together, and the finding says what callers must meet. */
  #reportJoined(group: readonly Written[]): void {
    const [first, second] = group as [Written, Written]
    const { method, span } = second.operation
    const names = group.length === 2 ? `\`${shown(first.template)}\`` : `${group.length - 1} others`
    const same = demandTheSame(group.map(({ operation }) => operation))
    const demand = same ? "" : "; callers must meet the security requirements of all of them"
    this.#reading.fields.report.add(
      "SP8020",
      span,
      `${method} \`${shown(second.template)}\` and ${names} are the same route: a request that matches any of them is let through${demand}`,
      { related: [{ span: first.operation.span, message: "the first" }] },
    )
  }

  /** One operation. Parameters of the path item come first, and those of the operation replace them. */
  #operation(place: Place, item: DocumentMap, map: DocumentMap): Operation {
    const { fields } = this.#reading
    const { span, method, path, query, pathSpan, route } = place
    const misspelt = fields.known(map, "an operation", operationKeys)
    const wrong = fields.patterned(map, "responses").find(([code]) => !isStatus(code))
    this.#reportServers(map, "an operation")
    const callbacks = map.entries.get("callbacks")
    if (callbacks !== undefined)
      fields.report.add(
        "SP8015",
        callbacks.key,
        "callbacks are requests of the API to its callers, so they do not become routes",
      )
    const lists = [fields.list(item, "parameters"), fields.list(map, "parameters")]
    const medias = [map, this.#root]
    const inputs = readInputs(lists, map, mediasOf("consumes", medias, this.#reading), this.#reading)
    const names = "names" in route ? route.names : new Map<string, string>()
    const given = withQuery(inputs.parameters, query, pathSpan, this.#reading)
    const used =
      "names" in route
        ? this.#placed(given, inputs.unread, names, {
            ...place,
            misspelt: misspelt.get("parameters") ?? place.misspelt,
          })
        : given
    return {
      id: this.#id(map),
      summary: fields.text(map, "summary"),
      description: fields.text(map, "description"),
      deprecated: fields.flag(map, "deprecated"),
      tags: fields.list(map, "tags").flatMap((node) => (node.kind === "scalar" ? [String(node.value)] : [])),
      method,
      template: path,
      path: "path" in route ? route.path : undefined,
      names,
      span,
      pathSpan,
      parameters: used,
      body: inputs.body,
      responses: readResponses(
        map,
        { span, misspelt: misspelt.get("responses") },
        mediasOf("produces", medias, this.#reading),
        this.#reading,
      ),
      lostResponses: misspelt.get("responses") ?? wrong?.[1].key,
      security: readSecurity(map, this.#schemes, fields) ?? this.#security,
    }
  }

  /** Checks the path parameters against the path template, in both directions. Keeps the parameters that have a place. */
  #placed(
    parameters: readonly OperationParameter[],
    unread: ReadonlySet<string>,
    names: Operation["names"],
    place: Place,
  ): OperationParameter[] {
    const { fields } = this.#reading
    const declared = new Set(unread)
    for (const each of parameters) if (each.in === "path") declared.add(each.name)
    const undescribed = [...names.keys()].filter((name) => !declared.has(name))
    const kept = parameters.filter((parameter) => {
      if (parameter.in !== "path" || names.has(parameter.name)) return true
      // A parameter under another name is one mistake, not an unknown one and an undescribed one.
      const meant = undescribed.shift()
      const near = meant === undefined ? "" : `; did you mean \`${shown(meant)}\`?`
      const detail = `\`${shown(place.template)}\` has no parameter \`${shown(parameter.name)}\`${near}`
      fields.aside(parameter, detail, {
        related: [{ span: place.pathSpan, message: "the path" }],
      })
      return false
    })
    for (const name of undescribed)
      fields.aside(
        { span: place.pathSpan },
        `${place.method} does not describe the parameter \`${shown(name)}\`, so any value is let through`,
        { related: [{ span: place.span, message: "the operation" }], cause: place.misspelt },
      )
    return kept
  }

  /** Ids must be unique in the document; the second one is reported and kept. */
  #id(map: DocumentMap): string | undefined {
    const { fields } = this.#reading
    const id = fields.text(map, "operationId")
    const at = map.entries.get("operationId")?.value.span
    if (id === undefined || at === undefined) return id
    const first = this.#ids.get(id)
    if (first === undefined) this.#ids.set(id, at)
    else
      fields.aside({ span: at }, `another operation has the id \`${shown(id)}\``, {
        related: [{ span: first, message: "the first" }],
      })
    return id
  }
}

interface Written {
  /** The template of its path. */
  readonly template: string
  readonly operation: Operation
}

/** The place of an operation. */
interface Place {
  /** The path as written. */
  readonly template: string
  readonly path: string
  readonly query: TemplateParts["query"]
  readonly pathSpan: Span
  readonly span: Span
  readonly method: string
  readonly route: ReturnType<typeof routePath>
  /** The place of a misspelt `parameters`. */
  readonly misspelt: Span | undefined
}
