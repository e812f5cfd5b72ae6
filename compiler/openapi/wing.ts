import { exportDocument, printDocument } from "./export-document.ts"
import { readApiDocument } from "./read-document.ts"
import { readSchemaDocument } from "./schema-document.ts"

/**
 * What reads and writes documents. It is loaded by `import()`, and only for a project that names one: with the YAML library it is
 * a tenth of what a small project would load.
 */
export const openapi = { exportDocument, printDocument, readApiDocument, readSchemaDocument }

/** The wing as `compile` takes it. */
export type OpenapiCompiler = typeof openapi
