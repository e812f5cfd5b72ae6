import type { Span } from "../core/source.ts"
import type { Schemas } from "./schema.ts"

/** An OpenAPI document, in the same form for versions 2.0, 3.0 and 3.1. Schemas are keys of `schemas`. */
export interface ApiDocument {
  readonly version: "2.0" | "3.0" | "3.1"
  readonly title: string
  readonly description: string | undefined
  readonly release: string
  readonly span: Span
  readonly servers: readonly Server[]
  readonly operations: readonly Operation[]
  /** Operations that were skipped, as requested (`GET /x`). */
  readonly skipped: ReadonlySet<string>
  /** Parts of `paths` that seem to be operations but could not be read (reported). */
  readonly lost: readonly LostOperation[]
  readonly securitySchemes: ReadonlyMap<string, SecurityScheme>
  readonly schemas: Schemas
}

/** The place of a mistake that hides an operation; all operations of the path if `method` is undefined. */
export interface LostOperation {
  readonly method: string | undefined
  /** The path of its route, as it most likely was meant. */
  readonly path: string
  readonly span: Span
}

/** An address of the API, as the document declares it. */
export interface Server {
  readonly url: string
  readonly description: string | undefined
  readonly span: Span
}

/** Method and path with their description. */
export interface Operation {
  readonly id: string | undefined
  readonly summary: string | undefined
  readonly description: string | undefined
  readonly deprecated: boolean
  readonly tags: readonly string[]
  readonly method: string
  /** The path as written, without its query; parameters may have names that routes do not allow. */
  readonly template: string
  /** The path of the route. Undefined when no route can have it (reported). */
  readonly path: string | undefined
  /** Names of path parameters: from the document to the route. */
  readonly names: ReadonlyMap<string, string>
  /** The place of the method. */
  readonly span: Span
  readonly pathSpan: Span
  readonly parameters: readonly OperationParameter[]
  readonly body: OperationBody | undefined
  readonly responses: readonly OperationResponse[]
  /** The place of a mistake that hides its responses (reported). */
  readonly lostResponses: Span | undefined
  /** Alternative security requirements, of which one suffices. Undefined: the document declares none. */
  readonly security: readonly Requirement[] | undefined
}

/** How a parameter with several values is serialised (OpenAPI 3.1 §4.8.12.2). */
export type Style =
  | "simple"
  | "form"
  | "spaceDelimited"
  | "pipeDelimited"
  | "deepObject"
  | "label"
  | "matrix"
  | "json"

/** A parameter. `style` is `json` when its value is JSON (`content`). */
export interface OperationParameter {
  readonly in: "path" | "query" | "header" | "cookie"
  readonly name: string
  readonly description: string | undefined
  readonly required: boolean
  readonly deprecated: boolean
  /** Whether a query parameter may have no value, whatever its schema requires. */
  readonly allowEmpty: boolean
  readonly style: Style
  readonly explode: boolean
  readonly schema: string | undefined
  readonly examples: readonly Example[]
  readonly span: Span
}

/** An example value. `name`: undefined for the single, unnamed `example`. */
export interface Example {
  readonly name: string | undefined
  readonly summary: string | undefined
  readonly description: string | undefined
  readonly value: unknown
}

/** The body of a request, with its media types. */
export interface OperationBody {
  readonly description: string | undefined
  readonly required: boolean
  readonly contents: readonly Content[]
  readonly span: Span
}

/** How a form field is serialised (OpenAPI 3.1 §4.8.15). `media`: media types and ranges allowed for its part; empty: any. */
export interface FormField {
  readonly name: string
  readonly style: "form" | "spaceDelimited" | "pipeDelimited" | "deepObject"
  readonly explode: boolean
  readonly media: readonly string[]
}

/** A body of one media type. `fields` are form fields that differ from the usual serialisation. `examples` are in document order. */
export interface Content {
  readonly media: string
  readonly schema: string | undefined
  readonly fields: readonly FormField[]
  readonly examples: readonly Example[]
  readonly span: Span
}

/** A response of an operation. `status`: `200`, `2xx` or `default`. */
export interface OperationResponse {
  readonly status: string
  readonly description: string
  readonly headers: readonly ResponseHeader[]
  readonly contents: readonly Content[]
  readonly span: Span
}

/** A response header. `style` is `json` when its value is JSON (`content`). */
export interface ResponseHeader {
  readonly name: string
  readonly description: string | undefined
  readonly required: boolean
  readonly style: "simple" | "json"
  readonly explode: boolean
  readonly schema: string | undefined
  readonly span: Span
}

/** A security requirement: the caller must meet all of its schemes. Without schemes, everyone may call. */
export interface Requirement {
  readonly schemes: readonly {
    readonly name: string
    readonly scopes: readonly string[]
    readonly span: Span
  }[]
  readonly span: Span
}

/** A security scheme. `definition` is a Security Scheme Object of 3.1. */
export interface SecurityScheme {
  readonly name: string
  readonly kind: "apiKey" | "basic" | "bearer" | "oauth2" | "openIdConnect" | "mutualTLS" | "http"
  readonly definition: Readonly<Record<string, unknown>>
  readonly span: Span
}

/** The first server URL that can be a backend. Undefined when there is none. */
export function suggestedBackend(servers: readonly Server[]): string | undefined {
  const urls = servers.flatMap(({ url }) => backendUrl(url) ?? [])
  return urls.find((url) => url.startsWith("https:")) ?? urls[0]
}

/** The URL of a server as a backend, without the parts that a base path can't have. */
function backendUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^{}\s]+$/i.test(text) || !URL.canParse(text)) return undefined
  const { protocol, host, pathname, username, search, hash } = new URL(text)
  if (username !== "" || search !== "" || hash !== "") return undefined
  return `${protocol}//${host}${pathname.replace(/\/{2,}/g, "/").replace(/\/$/, "")}`
}
