import type { Span } from "../../core/source.ts"
import type { PlanSchemas } from "../../openapi/plan-schemas.ts"
import type { Direction } from "../../openapi/schema.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import type { BoundStatement } from "../bind/bound.ts"
import type { SchemaFiles } from "../schema-files.ts"

/** How a statement uses the schema of a file. */
export interface SchemaUse {
  /** The place of the statement that names the schema. */
  readonly said: Span
  /** The place of the schema in the file, `#/components/schemas/Order`; undefined: the whole file is the schema. */
  readonly ref: string | undefined
  readonly message: Direction
  readonly overrides: SchemaOverrides
}

/** Schemas of files that statements name, as schemas of the plan. */
export class BodySchemas {
  readonly #files: SchemaFiles
  readonly #schemas: PlanSchemas

  constructor(files: SchemaFiles, schemas: PlanSchemas) {
    this.#files = files
    this.#schemas = schemas
  }

  /** The ids declared by `xml { schema … }`. */
  get ids(): Iterable<string> {
    return this.#files.byId.keys()
  }

  /** The schema of a statement `schema "FILE"`; undefined if it cannot be used (reported). */
  of(statement: BoundStatement, { said, ref, message, overrides }: SchemaUse): string | undefined {
    const document = this.#files.documents.get(statement)
    const key = document?.key(ref, said)
    return document === undefined || key === undefined
      ? undefined
      : this.#schemas.use(document.schemas, key, message, overrides)
  }

  /** The schema that policy documents refer to by an id; null if no schema has this id. */
  named(id: string, use: SchemaUse): string | undefined | null {
    const statement = this.#files.byId.get(id)
    return statement === undefined ? null : this.of(statement, use)
  }
}
