import { area } from "./entry.ts"

/** SP8xxx: OpenAPI documents, and the statements of gateway.conf about them. */
export const openapi = area({
  SP8001: {
    severity: "error",
    title: "Not an OpenAPI document",
    help: 'Name a document of OpenAPI 2.0 (`swagger: "2.0"`), 3.0, 3.1 or 3.2.',
    why: "The version decides how the document is read. Versions that are not supported may give fields another meaning.",
  },
  SP8002: {
    severity: "error",
    title: "OpenAPI document cannot be parsed",
    help: "Close every bracket and quote. In YAML, indent with spaces, and quote strings that contain `: ` or ` #`.",
    why: "Documents are JSON (RFC 8259) or YAML 1.2. A duplicate key is an error, because tools disagree which value counts.",
  },
  SP8003: {
    severity: "error",
    title: "Invalid OpenAPI",
    help: "Write it as the OpenAPI specification requires.",
    why: "Parts that cannot be read are never skipped: a mistyped limit would let every request through.",
  },
  SP8004: {
    severity: "error",
    title: "Unresolved reference",
    help: "Correct the `$ref`: `#/…` refers to the same file, `other.yaml#/…` to a file relative to this one.",
    why: "A reference is a path to a file of the project and a JSON pointer (RFC 6901) into it.",
  },
  SP8005: {
    severity: "error",
    title: "Reference outside of the project",
    help: "Put the file into the project, and use a relative path.",
    why: "A plan must be the same for everyone who has the folder. The compiler fetches nothing from the network.",
  },
  SP8006: {
    severity: "error",
    title: "Document too large",
    help: "Split the API into several documents.",
    why: "A document may have at most 4 million values, 100 levels, a million references and 100,000 operations. Each use of a YAML alias counts.",
  },
  SP8008: {
    severity: "error",
    title: "Duplicate description",
    help: "Remove one of the two.",
    why: "`operationId` identifies an operation; place and name identify a parameter.",
  },
  SP8009: {
    severity: "error",
    title: "Undeclared name",
    help: "Declare it, or correct the name.",
    why: "Every path parameter must be both in the path template and in `parameters`. A security requirement, in the document or in gateway.conf, must name a security scheme of the document.",
  },
  SP8010: {
    severity: "error",
    title: "Required security scheme has no `auth`",
    help: 'Map the scheme: `openapi "FILE" { security SCHEME auth jwt ISSUER }`, or write `auth` in the operation.',
    why: "The document requires authentication for the operation. The gateway never serves such an operation without `auth`; only `auth` in the operation itself can change that.",
  },
  SP8011: {
    severity: "error",
    title: "Operation is not in the OpenAPI document",
    help: "Correct the method or the path, or write `extra` in the operation to add it.",
    why: "With `openapi`, the document lists the operations and gateway.conf adds statements to them. An operation that matches none is usually mistyped, and the intended one would miss its statements.",
  },
  SP8012: {
    severity: "error",
    title: "No OpenAPI description",
    help: 'Add `openapi "FILE"` to the API, describe the operation in the document, or remove the statement.',
    why: "`validate` and `mock` use the OpenAPI document of the API.",
  },
  SP8013: {
    severity: "error",
    title: "Schema cannot be used for validation",
    help: "Rewrite the schema, or do not validate with it.",
    why: "Validation must take time linear in the size of the request, so a schema must not refer to itself for the same value. Parameters and forms need schemas that say how their text is read.",
  },
  SP8014: {
    severity: "warning",
    title: "Unknown field in an OpenAPI document",
    help: "Remove it or correct its name. Names of extensions start with `x-`.",
    why: "The specification has no such field here, so it has no effect.",
  },
  SP8015: {
    severity: "warning",
    title: "Part of the document is ignored",
    help: "No change is needed if this is intended.",
    why: "Some parts of a document describe things that a gateway does not do. They are listed, so that nobody relies on them.",
  },
  SP8016: {
    severity: "warning",
    title: "Unused security scheme",
    help: "Remove the `security` statement, or correct its name.",
    why: "No operation of the document requires the scheme, so its `auth` never takes effect.",
  },
  SP8017: {
    severity: "error",
    title: "Document cannot be served",
    help: 'Write a path like `docs "/openapi.json"`.',
    why: "The gateway serves the document as JSON or YAML, depending on the ending of this path. The document is a part of the plan, so its size is limited.",
  },
  SP8018: {
    severity: "warning",
    title: "XML is checked only for well-formedness",
    help: "No change is needed if this is intended. Write `content ignore` to not read bodies at all.",
    why: "Schemas of OpenAPI are applied to JSON, forms and parameters. Elements and attributes of XML are not checked against them.",
  },
  SP8019: {
    severity: "warning",
    title: "Check left to the backend",
    help: "Write the pattern in the syntax of ECMA-262 with at most 8,192 characters, use an `enum` with values, or let the backend check it.",
    why: "The gateway cannot run a pattern in another syntax, with more than 8,192 characters or with very large counts, and an empty `enum` allows no value. All other parts of the schema are still checked. Where the pattern decides which of several schemas applies (`not`, `oneOf`, `if`), a value that may be valid is let through.",
  },
  SP8020: {
    severity: "warning",
    title: "Operations that share a route",
    help: "No change is needed if this is intended. Describe them as one operation to have it checked more closely.",
    why: "Method and path identify a route. Names of path parameters, the query (`?`) and the fragment (`#`) do not. The backend must check what only some of these operations require.",
  },
  SP8021: {
    severity: "warning",
    title: "Part of the document is left out",
    help: "Correct the document, or tell its author; all other parts are served.",
    why: "One mistake does not stop the whole document. An operation that cannot be a route (TRACE, two parameters without text between them) is not served, the other ones are. A mistake is an error if leaving the part out would let through requests that the document forbids; with `lenient` after `openapi` it is this warning too. A security scheme that does not exist is still required, so nobody is let in.",
  },
})
