import { stringify } from "yaml"
import type {
  ApiDocument,
  Content,
  Example,
  FormField,
  Operation,
  OperationBody,
  OperationParameter,
  Requirement,
  SecurityScheme,
} from "./api-document.ts"
import { ExportSchemas } from "./export-schemas.ts"
import { type GatewayFacts, limitHeadersOf, ownAnswers, problemsOf } from "./own-answers.ts"

/** An operation to export: with its description, or only with method and path. */
export type ExportOperation = GatewayFacts &
  (
    | { readonly operation: Operation; readonly document: ApiDocument }
    | { readonly method: string; readonly path: string; readonly document: undefined }
  )

/** Input of an export. */
export interface ExportParts {
  readonly title: string
  readonly release: string
  readonly description: string | undefined
  readonly servers: readonly { readonly url: string; readonly description?: string }[]
  readonly operations: readonly ExportOperation[]
  /** Security schemes of the gateway, in addition to those of the documents. */
  readonly securitySchemes: Readonly<Record<string, object>>
}

type Json = Record<string, unknown>

/** An OpenAPI 3.1 document as a JSON value. Parts that come from documents are unchanged: reading the result gives the same parts. */
export function exportDocument(parts: ExportParts): object {
  const schemas = new ExportSchemas()
  const schemes = new Map<string, SecurityScheme["definition"]>()
  const paths = new Map<string, Json>()
  let errors: GatewayFacts["errors"] | undefined
  for (const each of parts.operations) {
    const path = each.document === undefined ? each.path : each.operation.template
    const method = each.document === undefined ? each.method : each.operation.method
    const item = paths.get(path) ?? {}
    paths.set(path, item)
    item[method.toLowerCase()] =
      each.document === undefined
        ? bareOperation(each, each.path)
        : describedOperation(each.operation, each.document, each, schemas)
    if (each.problems.length > 0) errors = each.errors
    for (const scheme of each.document?.securitySchemes.values() ?? [])
      schemes.set(scheme.name, scheme.definition)
  }
  for (const [name, scheme] of Object.entries(parts.securitySchemes)) schemes.set(name, scheme as Json)
  const components = {
    ...some("schemas", schemas.components()),
    ...(errors === undefined ? {} : { responses: { Problem: ownAnswers[errors] } }),
    ...some("securitySchemes", Object.fromEntries(schemes)),
  }
  return {
    openapi: "3.1.0",
    info: {
      title: parts.title,
      ...optional("description", parts.description),
      version: parts.release,
    },
    ...(parts.servers.length === 0 ? {} : { servers: parts.servers }),
    paths: Object.fromEntries(paths),
    ...some("components", components),
  }
}

/** An exported document as text, ending with a line break. */
export function printDocument(document: object, format: "json" | "yaml"): string {
  return format === "json"
    ? `${JSON.stringify(document, null, 2)}\n`
    : stringify(document, { aliasDuplicateObjects: false })
}

/** An operation that a document describes: its own description, with what the gateway requires in addition. */
function describedOperation(
  operation: Operation,
  document: ApiDocument,
  facts: GatewayFacts,
  schemas: ExportSchemas,
): Json {
  const write = new Writing(document, schemas)
  const { body, parameters } = operation
  const known = operation.responses.map(({ status }) => status)
  return {
    ...(operation.tags.length === 0 ? {} : { tags: operation.tags }),
    ...optional("summary", operation.summary),
    ...optional("description", operation.description),
    ...optional("operationId", operation.id),
    ...(operation.deprecated || facts.deprecated ? { deprecated: true } : {}),
    ...(parameters.length === 0
      ? {}
      : { parameters: parameters.map((each) => parameterOf(each, write.schema(each.schema))) }),
    ...(body === undefined ? {} : { requestBody: write.body(body) }),
    responses: {
      ...write.responses(operation, limitHeadersOf(facts)),
      ...problemsOf(facts, known),
    },
    ...securityOf(operation.security, facts),
    ...limitsOf(facts),
  }
}

/** Writes the parts of an operation that contain schemas. */
class Writing {
  readonly #document: ApiDocument
  readonly #schemas: ExportSchemas

  constructor(document: ApiDocument, schemas: ExportSchemas) {
    this.#document = document
    this.#schemas = schemas
  }

  schema(key: string | undefined): Json {
    return key === undefined ? {} : { schema: this.#schemas.of(this.#document.schemas, key) }
  }

  body({ description, required, contents }: OperationBody): Json {
    return {
      ...optional("description", description),
      ...(required ? { required: true } : {}),
      content: this.#contents(contents),
    }
  }

  /** `added`: additional headers of every response. */
  responses({ responses }: Operation, added: Json): Json {
    const written = responses.map(({ status, description, headers, contents }) => {
      const lines = headers.map((header) => [
        header.name,
        {
          ...optional("description", header.description),
          ...(header.required ? { required: true } : {}),
          ...(header.explode ? { explode: true } : {}),
          ...(header.style === "json"
            ? { content: { "application/json": this.schema(header.schema) } }
            : this.schema(header.schema)),
        },
      ])
      const content = some("content", this.#contents(contents))
      return [
        status.replace("xx", "XX"),
        { description, ...some("headers", { ...added, ...Object.fromEntries(lines) }), ...content },
      ]
    })
    return Object.fromEntries(written)
  }

  /** The media types of a body. */
  #contents(all: readonly Content[]): Json {
    return Object.fromEntries(
      all.map(({ media, schema, fields, examples }) => [
        media,
        {
          ...this.schema(schema),
          ...examplesOf(examples),
          ...some("encoding", encodingOf(fields)),
        },
      ]),
    )
  }
}

/** A parameter. Fields with their default value are left out. */
function parameterOf(parameter: OperationParameter, schema: Json): Json {
  const { style, explode, name, description, required, deprecated } = parameter
  const head = {
    name,
    in: parameter.in,
    ...optional("description", description),
    ...(required ? { required: true } : {}),
    ...(deprecated ? { deprecated: true } : {}),
    ...(parameter.allowEmpty ? { allowEmptyValue: true } : {}),
  }
  const examples = examplesOf(parameter.examples)
  if (style === "json") return { ...head, content: { "application/json": { ...schema, ...examples } } }
  const usual = parameter.in === "query" || parameter.in === "cookie" ? "form" : "simple"
  return {
    ...head,
    ...(style === usual ? {} : { style }),
    ...(explode === (style === "form") ? {} : { explode }),
    // A parameter needs a schema or content; `{}` accepts any value.
    schema: schema["schema"] ?? {},
    ...examples,
  }
}

/** An unnamed example becomes `example`. */
function examplesOf(examples: readonly Example[]): Json {
  const [first] = examples
  if (first === undefined) return {}
  if (first.name === undefined) return { example: first.value }
  const named = examples.map(({ name, summary, description, value }) => [
    name,
    { ...optional("summary", summary), ...optional("description", description), value },
  ])
  return { examples: Object.fromEntries(named) }
}

/** How the fields of a form are written, where it differs from the default. */
function encodingOf(fields: readonly FormField[]): Json {
  const entries = fields.map(({ name, style, explode, media }) => {
    const written = style !== "form" || !explode || media.length === 0
    return [
      name,
      {
        ...(media.length === 0 ? {} : { contentType: media.join(", ") }),
        ...(written ? { style, explode } : {}),
      },
    ]
  })
  return Object.fromEntries(entries)
}

/** An operation without a description: its path parameters are strings. */
function bareOperation(facts: GatewayFacts, path: string): Json {
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
  const parameters = names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }))
  return {
    ...(facts.deprecated ? { deprecated: true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      default: { description: "The response of the backend.", ...some("headers", limitHeadersOf(facts)) },
      ...problemsOf(facts, []),
    },
    ...securityOf(undefined, facts),
    ...limitsOf(facts),
  }
}

function securityOf(own: readonly Requirement[] | undefined, { security }: GatewayFacts): Json {
  if (security !== undefined) return { security }
  if (own === undefined) return {}
  const ways = own.map(({ schemes }) => Object.fromEntries(schemes.map(({ name, scopes }) => [name, scopes])))
  return { security: ways }
}

function limitsOf({ limits }: GatewayFacts): Json {
  return limits.length === 0 ? {} : { "x-rate-limits": limits }
}

function optional(name: string, value: string | undefined): Json {
  return value === undefined ? {} : { [name]: value }
}

function some(name: string, value: object): Json {
  return Object.keys(value).length === 0 ? {} : { [name]: value }
}
