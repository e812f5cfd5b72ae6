import type { Span } from "../core/source.ts"
import type { Schemas } from "./schema.ts"

/** An OpenAPI document, 2.0, 3.0 or 3.1 alike. Schemas are keys of `schemas`. */
export interface ApiDocument {
  readonly version: "2.0" | "3.0" | "3.1"
  readonly title: string
  readonly description: string | undefined
  readonly release: string
  readonly span: Span
  readonly servers: readonly Server[]
  readonly operations: readonly Operation[]
  /** Those that were not read, as they were asked for. */
  readonly skipped: ReadonlySet<string>
  readonly securitySchemes: ReadonlyMap<string, SecurityScheme>
  readonly schemas: Schemas
}

/** Where the API is served according to its document. */
export interface Server {
  readonly url: string
  readonly description: string | undefined
  readonly span: Span
}

/** Method and path with all that is said about them. */
export interface Operation {
  readonly id: string | undefined
  readonly summary: string | undefined
  readonly description: string | undefined
  readonly deprecated: boolean
  readonly tags: readonly string[]
  readonly method: string
  /** As written, without the query some have; parameters may have names that no route allows. */
  readonly template: string
  /** As routes have it; undefined where no route can be this path (reported). */
  readonly path: string | undefined
  /** Names of path parameters in the document, to those of the route. */
  readonly names: ReadonlyMap<string, string>
  /** The method in the document. */
  readonly span: Span
  readonly pathSpan: Span
  readonly parameters: readonly OperationParameter[]
  readonly body: OperationBody | undefined
  readonly responses: readonly OperationResponse[]
  /** Ways to be let in, any of them; undefined: the document says nothing. */
  readonly security: readonly Requirement[] | undefined
}

/** How a parameter with several values is written (OpenAPI 3.1 §4.8.12.2). */
export type Style =
  | "simple"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "deepObject"
  | "label"
  | "matrix"
  | "json"

/** A parameter. `style` is `json` where its value is JSON (`content`). */
export interface OperationParameter {
  readonly in: "path" | "query" | "header" | "cookie"
  readonly name: string
  readonly description: string | undefined
  readonly required: boolean
  readonly deprecated: boolean
  /** Whether a query may have it without a value, whatever its schema says. */
  readonly allowEmpty: boolean
  readonly style: Style
  readonly explode: boolean
  readonly schema: string | undefined
  readonly examples: readonly Example[]
  readonly span: Span
}

/** A value as it may be. `name`: where there are several, or one that has a name. */
export interface Example {
  readonly name: string | undefined
  readonly summary: string | undefined
  readonly description: string | undefined
  readonly value: unknown
}

/** The body of a request, in each of its media types. */
export interface OperationBody {
  readonly description: string | undefined
  readonly required: boolean
  readonly contents: readonly Content[]
  readonly span: Span
}

/** How a field of a form is written (OpenAPI 3.1 §4.8.15). `media`: types and ranges its part may have; none: any. */
export interface FormField {
  readonly name: string
  readonly style: "form" | "spaceDelimited" | "pipeDelimited" | "deepObject"
  readonly explode: boolean
  readonly media: readonly string[]
}

/** A body of one media type. `fields` are those of a form that are not written as forms are. `examples` in the order they are written. */
export interface Content {
  readonly media: string
  readonly schema: string | undefined
  readonly fields: readonly FormField[]
  readonly examples: readonly Example[]
  readonly span: Span
}

/** What an operation answers. `status`: `200`, `2xx` or `default`. */
export interface OperationResponse {
  readonly status: string
  readonly description: string
  readonly headers: readonly ResponseHeader[]
  readonly contents: readonly Content[]
  readonly span: Span
}

/** A header of an answer. `style` is `json` where its value is JSON (`content`). */
export interface ResponseHeader {
  readonly name: string
  readonly description: string | undefined
  readonly required: boolean
  readonly style: "simple" | "json"
  readonly explode: boolean
  readonly schema: string | undefined
  readonly span: Span
}

/** One way to be let in: all of its schemes together; none: everybody. */
export interface Requirement {
  readonly schemes: readonly {
    readonly name: string
    readonly scopes: readonly string[]
    readonly span: Span
  }[]
  readonly span: Span
}

/** How callers say who they are. `definition` is the Security Scheme Object of 3.1. */
export interface SecurityScheme {
  readonly name: string
  readonly kind: "apiKey" | "basic" | "bearer" | "oauth2" | "openIdConnect" | "mutualTLS" | "http"
  readonly definition: Readonly<Record<string, unknown>>
  readonly span: Span
}

/** Where a document says it is served, as the URL of a backend; undefined where it says none that can be one. */
export function suggestedBackend(servers: readonly Server[]): string | undefined {
  const urls = servers.flatMap(({ url }) => backendUrl(url) ?? [])
  return urls.find((url) => url.startsWith("https:")) ?? urls[0]
}

/** A server as a backend: without what a base path can't have. */
function backendUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^{}\s]+$/i.test(text) || !URL.canParse(text)) return undefined
  const { protocol, host, pathname, username, search, hash } = new URL(text)
  if (username !== "" || search !== "" || hash !== "") return undefined
  return `${protocol}//${host}${pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "")}`
}
