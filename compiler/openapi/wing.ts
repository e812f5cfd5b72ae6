import { exportDocument, printDocument } from "./export-document.ts"
import { readApiDocument } from "./read-document.ts"
import { readSchemaDocument } from "./schema-document.ts"

/**
 * Everything that reads and writes OpenAPI documents. It is loaded with `import()` only for a project that names one: with the YAML library it
 * is a tenth of what a small project loads.
 */
export const openapi = { exportDocument, printDocument, readApiDocument, readSchemaDocument }

/** The wing as the parameter type of `compile`. */
export type OpenapiCompiler = typeof openapi
