import { oneOf, optional, type StatementRow, slot, word } from "./row.ts"
import { action, errors } from "./violations.ts"

/** A statement that sets the action for one kind of violation. */
function fault(keyword: string, byDefault: string, docs: string): StatementRow {
  return { keyword, forms: [{ args: [action] }], byDefault, docs, example: `${keyword} detect` }
}

const size: StatementRow = {
  keyword: "size",
  forms: [
    {
      args: [slot("size", "size", { min: 1, max: 1_073_741_824 }), optional(action)],
    },
  ],
  byDefault: "1MB, with the action of `content` for a larger body",
  docs: "Largest body that is checked, and what happens to a larger one.",
  example: "size 100KB prevent",
}

export const validateRequestRows: readonly StatementRow[] = [
  fault(
    "parameters",
    "as the statement says",
    "Parameters in path, query, header and cookies that are missing or do not match their schemas.",
  ),
  fault("content", "as the statement says", "Bodies that are missing or do not match their schemas."),
  fault("unknown-content", "as `content`", "Bodies of media types that the document does not describe."),
  fault("unknown-query", "ignore", "Query parameters that the document does not describe."),
  fault(
    "unknown-headers",
    "ignore",
    "Headers that the document does not describe, except those that every client sends.",
  ),
  size,
  errors,
]

export const validateResponseRows: readonly StatementRow[] = [
  fault("content", "as the statement says", "Bodies that do not match their schemas."),
  fault(
    "unknown-content",
    "as `content`",
    "Bodies of media types that the document does not describe for the status.",
  ),
  fault("status", "ignore", "Statuses that the document does not describe."),
  fault("headers", "as the statement says", "Headers that are missing or do not match their schemas."),
  fault(
    "unknown-headers",
    "ignore",
    "Headers that the document does not describe for the status, except those that every response may have.",
  ),
  size,
  errors,
]

/** In APIs, versions and operations. */
export const validateRow: StatementRow = {
  keyword: "validate",
  several: 2,
  forms: [
    { args: [word("request"), optional(action)], block: "validate request" },
    { args: [word("response"), optional(action)], block: "validate response" },
  ],
  byDefault: "no validation",
  docs: "Validates requests or responses by the API's OpenAPI document. `prevent` (the default) sends 400 (502 for a response) and lists all errors, at most a hundred. `detect` only logs it. The nearest block decides.",
  example: "validate request { unknown-query prevent }",
}

/** In APIs, versions and operations. */
export const mockRow: StatementRow = {
  keyword: "mock",
  forms: [
    {
      args: [
        optional(slot("status", "status", { min: 200, max: 599 })),
        optional(slot("media", "constant", { label: '"MEDIA/TYPE"', max: 256 })),
      ],
    },
  ],
  byDefault: "the first success status of the document, as JSON if it has a JSON example",
  docs: "Responds with the example of the API's OpenAPI document, or with a value that matches its schema, instead of calling a backend.",
  example: 'mock 200 "application/json"',
}

/** In operations. */
export const extraRow: StatementRow = {
  keyword: "extra",
  forms: [{ args: [] }],
  docs: "The operation exists in addition to those of the API's OpenAPI document.",
  example: "extra",
}

/** In APIs and versions. */
export const openapiRow: StatementRow = {
  keyword: "openapi",
  forms: [{ args: [slot("file", "constant", { label: '"FILE"', max: 1024 })], block: "openapi" }],
  docs: "An OpenAPI document (2.0, 3.0, 3.1, 3.2; JSON or YAML), relative to this file. Its operations become routes; operations of the text with the same method and path add to them.",
  example: 'openapi "models/catalog.openapi.yaml"',
  instead:
    "Give the second document an `api` of its own, which may have the same `path`; or let one document name the other's parts by `$ref`.",
}

/** In APIs and versions. */
export const docsRow: StatementRow = {
  keyword: "docs",
  forms: [{ args: [slot("path", "path", { label: '"/FILE.json"' })], block: "docs" }],
  docs: "Serves an OpenAPI 3.1 document of the API (of each of its versions) on GET of this path: the output of `sallyport export openapi`, as JSON or YAML depending on the ending of the path. Callers of the API may read it, unless its block has another `auth`.",
  example: 'docs "/openapi.json" { auth none }',
}

/** In the block after `openapi`. */
export const documentSizeRow: StatementRow = {
  keyword: "size",
  forms: [{ args: [slot("size", "size", { min: 1, max: 1_073_741_824 })] }],
  byDefault: "32MB",
  docs: "Maximum size of the document, and of each file that it refers to.",
  example: "size 64MB",
}

/** In the block after `openapi`. */
export const skipRow: StatementRow = {
  keyword: "skip",
  several: 1000,
  forms: [{ args: [slot("operation", "constant", { label: '"METHOD /PATH"', max: 2100 })] }],
  docs: "An operation of the document that does not become a route, written as in the document; its mistakes are not reported. Another route with a matching path still serves its requests.",
  example: 'skip "GET /internal/{id}"',
}

/** In the block after `openapi`. */
export const lenientRow: StatementRow = {
  keyword: "lenient",
  forms: [{ args: [] }],
  byDefault: "a mistake is an error where requests would pass that the document refuses",
  docs: "Reports mistakes in schemas, parameters and references of the document as warnings. The gateway does not check these parts; the backend must.",
  example: "lenient",
}

/** Maps a security scheme of the document to authentication: the scheme's name, then `auth` in its usual form. */
export function securityRow(auth: StatementRow): StatementRow {
  return {
    keyword: "security",
    several: 100,
    forms: auth.forms.map(({ args, ...form }) => ({
      ...form,
      args: [
        oneOf([word("none")], [slot("scheme", "claim", { label: "SCHEME", max: 256 })]),
        word("auth"),
        ...args,
      ],
    })),
    docs: "Maps a security scheme of the document to an `auth`. Operations that require the scheme get this `auth`, and its tokens must have the required scopes. `none` applies to operations without a requirement.",
    example: "security bearerAuth auth jwt acme",
  }
}
